"""Who calls: tokens, links to tables, and the permissions of secret files."""

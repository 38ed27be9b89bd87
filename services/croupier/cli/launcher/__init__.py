"""Services as child processes of one machine: the data folder, addresses, and the supervisor."""

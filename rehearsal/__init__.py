"""The production overlay as processes of this machine, under load, while its engines are replaced and killed."""

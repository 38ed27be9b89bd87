"""Tables from the first seat to the first deal: changes, presence, opening."""

"""The services as seen from outside while they are under load: what they use, whether they grow, what they counted."""

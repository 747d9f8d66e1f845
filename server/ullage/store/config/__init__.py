"""Configuration files read as trees with places."""

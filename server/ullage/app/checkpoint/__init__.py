"""Checkpoints written, found and given back; what happens in a session captured for them."""

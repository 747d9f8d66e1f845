"""Secrets in text: found, masked, and left out of what is given to someone else."""

"""Memory files of a workspace."""

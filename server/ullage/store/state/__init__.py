"""Small files of a session's state besides its checkpoints."""

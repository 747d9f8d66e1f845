"""What changes something: the commands, their questions, progress and outcomes."""

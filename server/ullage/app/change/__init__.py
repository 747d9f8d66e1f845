"""Changes of a session: planned, previewed, made, undone; by hand or by themselves."""

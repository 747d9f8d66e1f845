"""The use cases: load, plan, checkpoint, commit; no protocol."""

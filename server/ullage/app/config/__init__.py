"""The configuration of a workspace: put together, and told."""

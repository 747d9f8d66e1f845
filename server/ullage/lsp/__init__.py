"""The language server: the only layer that knows the protocol."""

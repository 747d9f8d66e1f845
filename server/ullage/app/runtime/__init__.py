"""Sessions whose messages a runtime holds in memory."""

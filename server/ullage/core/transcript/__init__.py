"""A session's record: lines, entries, messages, and the context that follows from them."""

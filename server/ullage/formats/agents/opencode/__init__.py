"""Sessions of opencode: rows of a database, given as one JSON object a line."""

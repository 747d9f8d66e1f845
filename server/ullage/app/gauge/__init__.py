"""How full sessions are, in words and as JSON: status, inspection, history, lists."""

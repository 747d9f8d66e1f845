"""Sessions of the Gemini CLI: a log of messages and changes in JSONL, before that one document."""

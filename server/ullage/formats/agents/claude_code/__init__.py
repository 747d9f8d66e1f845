"""Sessions of Claude Code: JSONL, a chain by `parentUuid` with compact boundaries."""

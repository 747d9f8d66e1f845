"""Sessions of Codex: rollouts in JSONL, one line after the other, with `compacted` lines."""

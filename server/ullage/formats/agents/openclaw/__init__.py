"""Sessions of pi and OpenClaw: JSONL, a tree by `parentId`."""

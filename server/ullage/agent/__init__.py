"""The edge for coding agents: JSON-RPC over standard input and output, hooks, MCP."""

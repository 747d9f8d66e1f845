"""One package for each agent: how its sessions are found, read and changed."""

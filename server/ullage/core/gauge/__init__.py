"""How full the context window is, who says so, and what comes next."""

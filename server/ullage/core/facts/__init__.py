"""What messages tell of the work: calls, commands that failed, rules, decisions, pins."""

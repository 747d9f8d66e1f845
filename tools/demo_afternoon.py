def afternoon(): return []

"""What the editor shows in a document: findings, hovers, lenses, hints, links, actions."""

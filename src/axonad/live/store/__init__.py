"""What survives a restart: states of vehicles, events, courses of scores, positions in sources."""

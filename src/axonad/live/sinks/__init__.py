"""Who is told of events. Each sink is one file."""

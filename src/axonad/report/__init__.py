"""Tables, statistics and figures made from benchmark rows, scores and events."""

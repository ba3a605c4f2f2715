"""Tables of the paper's experiments, its numbers beside ours."""

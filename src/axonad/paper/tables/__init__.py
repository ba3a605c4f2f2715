"""Tables of the paper's experiments, the paper's numbers beside ours."""

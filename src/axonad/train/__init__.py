"""Training: the loop, the masks, the best checkpoint, the seed."""

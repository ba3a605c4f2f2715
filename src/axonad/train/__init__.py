"""Training: the loop, the masks, early stopping."""

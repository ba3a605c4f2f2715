"""The paper's diagnostics of AxonAD: what query mismatch means, and whether it helps."""

"""The paper's mechanistic diagnostics: whether query mismatch means anything, and helps."""

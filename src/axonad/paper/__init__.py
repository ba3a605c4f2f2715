"""What reproduces the paper: its variants, diagnostics, published numbers, tables and figures."""

"""Seeded fuzzers: damaged and forged inputs.

Each runs a few items with the other tests; ``AXONAD_FUZZ=N`` runs N of them.
"""

"""Faster implementations of ``model/`` and ``train/``, each tested against the plain one."""

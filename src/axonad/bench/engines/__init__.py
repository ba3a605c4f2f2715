"""Engines: where jobs run. Each yields rows as jobs finish; ``bench/runner.py`` chooses one."""

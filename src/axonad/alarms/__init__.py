"""Between scores and people: events by a policy, a budget of false alarms, bad data and drift.

``finder`` turns scores into events: ``machine`` has its rules, ``policy`` the numbers, and
``segments`` is its fast twin for many thresholds. ``budget`` and ``calibration`` choose the
threshold at which normal data raises no more events than a person accepts, on the scores that
``held_out`` makes. ``bad_data`` finds values that are no measurements, ``drift`` tells when data no
longer looks like training. ``docs/alarms.md`` describes all of it.
"""

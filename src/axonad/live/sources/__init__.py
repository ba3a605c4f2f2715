"""Where samples come from: HTTP, MQTT, NATS JetStream and standard input.

A source makes samples of messages (``messages.py``, pure functions), hands them to the engine in
order, one delivery at a time (``handover.py``), and acknowledges a message only when its samples
are stored. What a message may look like is written in ``messages.py`` and nowhere else.
"""

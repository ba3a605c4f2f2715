"""A fleet watched day and night: sources of samples, scoring, a store, notifications and a page.

The path of a sample is a straight line. A *source* makes :class:`~axonad.live.sample.Sample` of
messages and puts them into the inbox as a *delivery*. The *watch* brings them onto the raster,
scores the rows and runs the alarms. The *store* commits samples, states, events and positions
together; only then is the delivery acknowledged to its source. Everything a person sees is read
from the *engine*, which may be one process or many.
"""

"""One HTML file with the events of recordings: what an engineer mails to a colleague.

``content.py`` says what is on the page, ``gather.py`` fills it from a detector's results, and
``document.py`` writes it. The file opens from disk, requests nothing, and its text, tables and
static pictures need no JavaScript.
"""

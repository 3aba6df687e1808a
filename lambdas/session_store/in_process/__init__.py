"""Work outside the database, done once: what ``Store.tool_call`` and ``Store.claim`` make.

Loaded at its first use: no function does such work itself.
"""

"""In-memory adapters for tests and trial runs.

They ship with the library; no deployed function imports them (an import contract holds it).
"""

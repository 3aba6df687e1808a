"""Imported before anything else by the API's function: what it loads is not searched for garbage.

Imports make some hundred thousand objects that live as long as the process. A collector that counts
them goes through all of them again and again while they are made, and later at its full collections.
"""

import gc

gc.disable()


def finish() -> None:
    """What is there stays, and is never looked at again; what requests make is collected as ever."""
    gc.freeze()
    gc.enable()

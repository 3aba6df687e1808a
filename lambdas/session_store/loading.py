"""Switches garbage collection off while the API's function loads; import it before anything else.

Imports create some hundred thousand objects that live as long as the process. The collector would scan all
of them again and again during the imports, and later at every full collection.
"""

import gc

gc.disable()


def finish() -> None:
    """Exempt every object loaded so far from collection, and switch collection on again."""
    gc.freeze()
    gc.enable()

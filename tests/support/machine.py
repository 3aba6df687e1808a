"""What of this machine's own environment no test, and nothing that a test starts, may see."""

import os
from typing import Final

from local.loopback import HOST

PREFIXES: Final = ("AWS_", "POWERTOOLS_", "SESSION_STORE_")
OF_THE_LOCAL_STACK: Final = frozenset(
    {"PORT", "AUTH", "AUTH_PORT", "REVOCATION_ENDPOINT", "TENANT", "SUBJECT", "SCOPE", "EXPIRES", "PERIOD"}
)
"""What the targets of the Makefile take."""


def forget_this_machine() -> None:
    """For this process and whatever it starts: nobody's AWS profile, and no way to loopback but the direct
    one, whatever proxy there is.
    """
    for name in list(os.environ):
        if name.startswith(PREFIXES) or name in OF_THE_LOCAL_STACK:
            del os.environ[name]
    os.environ |= {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), HOST)))

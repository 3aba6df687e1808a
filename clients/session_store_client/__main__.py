"""``python -m session_store_client``: the command ``sessions``."""

import sys

from session_store_client.cli.command import main

sys.exit(main())

"""A typed client of the session store's HTTP API, with retries that are safe.

``Client`` and ``AsyncClient`` have a method for each operation; ``docs/client.md`` introduces them.
"""

from session_store_client.async_client import AsyncClient
from session_store_client.authentication import Anonymous, Authentication, Bearer, SigV4
from session_store_client.client import Client
from session_store_client.errors import CredentialsError, OutcomeUnknownError, SessionStoreError
from session_store_client.exchanges import Retries

__all__ = [
    "Anonymous",
    "AsyncClient",
    "Authentication",
    "Bearer",
    "Client",
    "CredentialsError",
    "OutcomeUnknownError",
    "Retries",
    "SessionStoreError",
    "SigV4",
]

"""An authorization server's revocation endpoint (RFC 7009) on loopback."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.answering import AnsweringServer, answering


class AuthorizationServer(AnsweringServer):
    @property
    def revoked(self) -> list[str]:
        return [token for request in self.received for token in request.form["token"]]


@contextmanager
def authorization_server() -> Iterator[AuthorizationServer]:
    with answering(AuthorizationServer(), path="/revoke") as state:
        yield state

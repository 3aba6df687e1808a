"""A payment service beside the store: what it was asked for outlives whoever asked."""

import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path


class DeclinedError(Exception):
    """The service's word that nothing was charged."""


@dataclass(frozen=True, kw_only=True)
class Payments:
    """Its books are a file, so that any process finds them. It trusts its callers to ask once."""

    books: Path

    def charge(self, cents: int, *, idempotency_key: str) -> dict[str, object]:
        if cents < 0:
            raise DeclinedError(f"{cents} cents of card 4111")
        receipt: dict[str, object] = {"cents": cents, "key": idempotency_key}
        with self.books.open("a") as books:
            books.write(f"{json.dumps(receipt)}\n")
        return receipt

    def charges(self) -> list[dict[str, object]]:
        """Every charge that was made, however often it was asked for under the same key."""
        return (
            [json.loads(line) for line in self.books.read_text().splitlines()] if self.books.exists() else []
        )

    def find(self, idempotency_key: str) -> dict[str, object] | None:
        return next((each for each in self.charges() if each["key"] == idempotency_key), None)


@dataclass(frozen=True, kw_only=True)
class DeadlyPayments(Payments):
    """Whoever charges is killed before it hears of it, by a signal that nobody can catch."""

    def charge(self, cents: int, *, idempotency_key: str) -> dict[str, object]:
        super().charge(cents, idempotency_key=idempotency_key)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("still alive")

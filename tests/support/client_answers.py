"""Servers for the client that answer what a test says, and exchanges driven without any."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from session_store_client import Bearer, Client, Retries
from session_store_client.calls import Call
from session_store_client.exchanges import (
    Attempt,
    ClientSettings,
    Pause,
    StepResult,
    TransportFailure,
    exchange,
)
from session_store_client.problems import HttpResponse

URL: Final = "https://abc.execute-api.eu-west-1.amazonaws.com/v1"
TOKEN: Final = "s3cr3t-t0k3n"
SESSION_ID: Final = "use1-" + "a" * 32
SESSION: Final = {
    "sessionId": SESSION_ID,
    "status": "active",
    "version": 7,
    "state": {"n": 1},
    "protocol": {},
    "subject": "alice",
    "createdAt": "2026-11-30T08:30:00.123Z",
    "updatedAt": "2026-11-30T08:30:00.123Z",
    "ttl": 1_800_003_600,
    "expiresAt": "2027-01-15T09:00:00.000Z",
    "maxExpiresAt": "2027-02-14T08:00:00.000Z",
    "idleTimeout": 3600,
    "homeRegion": "us-east-1",
}
PROBLEM: Final = {"content-type": "application/problem+json"}


def client_settings(**changes: Any) -> ClientSettings:
    values: dict[str, Any] = {"url": URL, "authentication": Bearer(TOKEN)}
    return ClientSettings(**{**values, **changes})


def ok(body: object = SESSION, *, status: int = 200) -> HttpResponse:
    content = b"" if body is None else json.dumps(body).encode()
    return HttpResponse(status=status, headers={"content-type": "application/json"}, body=content)


def problem(status: int, slug: str, *, wait: int | None = None, **facts: object) -> HttpResponse:
    body = {
        "type": f"/problems/{slug}",
        "title": slug,
        "status": status,
        "detail": "No.",
        "instance": "req-1",
    }
    headers = {**PROBLEM, **({} if wait is None else {"retry-after": str(wait)})}
    return HttpResponse(status=status, headers=headers, body=json.dumps({**body, **facts}).encode())


def lost(*, sent: bool = True) -> TransportFailure:
    return TransportFailure(httpx.ReadError("gone") if sent else httpx.ConnectError("refused"), sent=sent)


@dataclass(kw_only=True)
class Played:
    """An exchange that met these events; time passes by pauses and by what each attempt took."""

    events: Sequence[StepResult | Exception]
    settings: ClientSettings = field(default_factory=client_settings)
    jitter: Callable[[float, float], float] = lambda _, most: most
    attempt_seconds: float = 0.0
    now: float = 0.0
    attempts: list[Attempt] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def run(self, call: Call[Any]) -> Any:
        pending = iter(self.events)
        steps = exchange(call, self.settings, clock=lambda: self.now, jitter=self.jitter)
        step = next(steps)
        try:
            while True:
                if isinstance(step, Pause):
                    self.pauses.append(step.seconds)
                    self.now += step.seconds
                    step = steps.send(None)
                    continue
                self.attempts.append(step)
                self.now += min(self.attempt_seconds, step.timeout_seconds)
                event = next(pending)
                step = steps.throw(event) if isinstance(event, Exception) else steps.send(event)
        except StopIteration as end:
            return end.value


class Scripted:
    """Answers in turn; ``requests`` are those that came. Works behind both clients."""

    def __init__(self, *events: HttpResponse | TransportFailure) -> None:
        self._pending = iter(events)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        event = next(self._pending)
        if isinstance(event, TransportFailure):
            raise event.error
        return httpx.Response(event.status, headers=dict(event.headers), content=event.body)

    def client(self, **changes: Any) -> Client:
        options = {"retries": Retries(pause_seconds=0.0), **changes}
        return Client(URL, Bearer(TOKEN), transport=httpx.MockTransport(self), **options)


def page(items: Iterable[object], cursor: str | None) -> HttpResponse:
    return ok({"items": list(items), "nextCursor": cursor})

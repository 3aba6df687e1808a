"""The client's transport to the API's own code, in process."""

import time
from typing import Final

import httpx

from tests.support.api import InProcessApi
from tests.support.world import World

API: Final = "https://api.example.com"


class InProcessTransport:
    """Calls the API; of the next ``losing`` requests each is carried out and its response lost."""

    def __init__(self) -> None:
        world = World()
        # The client mints message ids with its own clock, so the API's must be close to it.
        world.clock.now = time.time_ns() // 1_000_000
        self.api = InProcessApi(world)
        self.requests = 0
        self.losing = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        answer = self.api.call(
            request.method,
            request.url.raw_path.decode().partition("?")[0],
            request.content.decode() or None,
            headers=dict(request.headers),
            query=dict(request.url.params),
            subject=None,
        )
        if self.losing:
            self.losing -= 1
            raise httpx.ReadError("lost")
        return httpx.Response(answer.status, headers=dict(answer.headers), content=answer.text.encode())

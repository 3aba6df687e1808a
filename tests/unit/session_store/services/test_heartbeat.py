"""The heartbeat of each region."""

from session_store.deadline import Deadline
from session_store.domain.heartbeat import Heartbeat
from session_store.domain.session import Author
from session_store.services.heartbeat import HeartbeatWriter
from session_store.services.principals import HEARTBEAT
from session_store.storage.memory.heartbeats import MemoryHeartbeats
from tests.support.samples import NOW_MS
from tests.support.world import World


def a_heart(world: World, region: str) -> HeartbeatWriter:
    return HeartbeatWriter(
        heartbeats=MemoryHeartbeats(memory=world.memory),
        clock=world.clock,
        deadline=Deadline(),
        region=region,
    )


def test_a_heartbeat_is_stored_for_its_region_with_its_author(world: World) -> None:
    a_heart(world, "us-east-1").beat(request_id="first")
    a_heart(world, "eu-west-1").beat(request_id="second")
    assert world.memory.heartbeats == {
        region: Heartbeat(region=region, at=NOW_MS, author=Author(principal=HEARTBEAT, request_id=request))
        for region, request in (("us-east-1", "first"), ("eu-west-1", "second"))
    }


def test_a_beat_takes_the_place_of_the_one_before(world: World) -> None:
    heart = a_heart(world, "us-east-1")
    heart.beat(request_id="r")
    world.clock.pass_(61.5)
    heart.beat(request_id="r")
    assert world.memory.heartbeats["us-east-1"].at == NOW_MS + 61_500

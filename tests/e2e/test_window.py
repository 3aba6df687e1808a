"""The sliding window in real time: used, a session lives on; left alone, it ends."""

from tests.support.calls import assert_problem
from tests.support.idle import IdleSession


def test_a_session_in_use_lives_on_and_one_left_alone_ends(idle: IdleSession) -> None:
    """Ten seconds of idle timeout, a touch every five for forty, then fifteen of silence."""
    touches, last_read = idle.result()
    assert [answer.status for answer in touches] == [200] * 9
    ends = [answer.json["ttl"] for answer in touches]
    assert ends == sorted(ends)
    assert ends[-1] - ends[0] >= 38
    assert {answer.json["version"] for answer in touches} == {1}
    assert_problem(last_read, 404, "session-not-found")

"""The sliding window in real time: used, a session lives on; left alone, it ends."""

from tests.support.calls import assert_problem
from tests.support.idle import IDLE_TIMEOUT, IdleSession


def test_a_session_in_use_lives_on_and_one_left_alone_ends(idle: IdleSession) -> None:
    """Ten seconds of idle timeout, a touch every five for forty, then fifteen of silence."""
    life = idle.result()
    answers = [touch.answer for touch in life.touches]
    assert [answer.status for answer in answers] == [200] * 9
    ends = [answer.json["ttl"] for answer in answers]
    assert ends == sorted(ends)
    first, last = life.touches[0], life.touches[-1]
    # An end lies up to a tenth of the timeout before what the use would have it, and on a whole second.
    assert ends[-1] - ends[0] >= last.began - first.ended - IDLE_TIMEOUT / 10 - 1
    assert {answer.json["version"] for answer in answers} == {1}
    assert_problem(life.last_read, 404, "session-not-found")

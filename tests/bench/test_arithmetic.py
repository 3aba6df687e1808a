"""What the tables are computed from."""

from collections import Counter
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.hooks import HierarchicalEmitter

from bench import claims
from bench.cold_start import Taken, breakdown, own_microseconds, ratios
from bench.contention import Conflicts, Run
from bench.growth import Curve, grown, results
from bench.latency import elsewhere
from bench.once import POWERTOOLS
from bench.operations import KEY_BYTES, Bound, bound_of, shown
from bench.operations import Row as OperationRow
from bench.peers import RefusedError
from bench.spending import Spent
from bench.workload import APPEND, CREATE, DELETE, READS, SET, TOUCH, Request, messages

FULL = 3


class Full:
    """A store that takes three messages, each at as many units as there are messages."""

    name = "full"

    def __init__(self) -> None:
        self.there = 0
        self.spent = Spent()

    def open(self) -> str:
        return "session"

    def append(self, session: str, content: str) -> None:
        del session, content
        if self.there == FULL:
            raise RefusedError
        self.there += 1
        self.spent.writes["table"] += self.there

    def last(self, session: str, count: int) -> int:
        del session
        self.spent.reads += 1
        return min(self.there, count)

    def increment(self, session: str) -> None: ...

    def counted(self, session: str) -> int:
        del session
        return 0

    def taken(self) -> Spent:
        spent, self.spent = self.spent, Spent()
        return spent


def curve() -> Curve:
    full = Full()
    return grown(full, full, (1, 3, 9))  # type: ignore[arg-type] # it spends as it is asked


def test_a_curve_tells_units_at_each_point_and_of_all_before_and_where_it_ends() -> None:
    points = {number: (point.written, point.total) for number, point in curve().points.items()}
    assert points == {1: (1, 1), 3: (3, 6)}
    assert curve().ended == 4


def test_growth_shows_the_last_point_over_the_first_and_the_end() -> None:
    text = results([curve()], (1, 3, 9))
    assert "| 3 | 3 | 6 | 1 |" in text
    assert "| 9 | none | none | none |" in text
    assert "write units of message 3 over the first: **3.00**" in text
    assert "message 4 and every later one are refused" in text


@pytest.mark.parametrize(
    ("request_", "answered", "bound"),
    [
        (APPEND, 0, Bound(2, 0)),
        (Request("append_messages", "", "POST", "", messages(3)), 0, Bound(6, 0)),
        (CREATE, 0, Bound(1, 0)),
        (SET, 1024 - KEY_BYTES, Bound(1, 0)),
        (SET, 1025 - KEY_BYTES, Bound(2, 0)),
        (TOUCH, 500, Bound(0, 0)),
        (DELETE, 0, Bound(1, 0)),
        (READS[0], 4096, Bound(0, 1)),
        (READS[0], 4097, Bound(0, 2)),
        (Request("list_sessions", "", "GET", ""), 4097, Bound(0, 1)),
        (Request("get_health", "", "GET", ""), 10, Bound(0, 0)),
    ],
)
def test_a_bound_is_of_the_whole_units_of_the_bytes_kept_or_answered(
    request_: Request, answered: int, bound: Bound
) -> None:
    assert bound_of(request_, answered=answered) == bound


def test_an_operation_is_shown_over_its_bound() -> None:
    spent = Spent(writes=Counter(table=3), reads=1, round_trips=2)
    text = shown([OperationRow("create", spent, Bound(2, 0))])
    assert "| create | 2 | 3 | 2 | 1.50 | 1 | 0 | - |" in text


def spent(round_trips: int, writes: int, reads: float = 0) -> Spent:
    return Spent(writes=Counter(table=writes), reads=reads, round_trips=round_trips)


def test_work_done_once_is_shown_over_its_bound_and_over_the_peer_of_the_same_size() -> None:
    text = claims.shown(
        [
            claims.Row("ours", "small", spent(2, 1, 1), spent(2, 6, 2), 7, spent(3, 1, 2)),
            claims.Row("ours", "large", spent(2, 1), spent(2, 70), 71, spent(3, 1, 10)),
            claims.Row(POWERTOOLS, "small", spent(1, 1), spent(1, 1), 2, spent(1, 1)),
            claims.Row(POWERTOOLS, "large", spent(1, 1), spent(1, 33), 34, spent(1, 33)),
        ]
    )
    assert "| ours: small | 2 + 2 | 1 + 6 | 7 | **1.00** | 3 | 2.00 | 3.50 |" in text
    assert "| ours: large | 2 + 2 | 1 + 70 | 71 | **1.00** | 0 | 2.00 | 2.09 |" in text
    assert "| ours: large | 3 | 1 | 10 | 0.03 |" in text


class Scanned:
    """Three tables that hold what the test puts there."""

    def __init__(self) -> None:
        self.items: dict[str, list[dict[str, Any]]] = {}

    def scan(self, *, TableName: str) -> Any:  # noqa: N803 - boto3's own
        return {"Items": self.items.get(TableName, [])}


def test_what_was_written_is_what_is_new_or_another() -> None:
    scanned = Scanned()
    kept = {"pk": {"S": "kept"}, "sk": {"S": "s"}}
    scanned.items["sessions"] = [kept, {"pk": {"S": "changed"}, "sk": {"S": "s"}}]
    tables = claims.Tables(scanned)
    changed = {"pk": {"S": "changed"}, "sk": {"S": "s"}, "output": {"S": "x" * 1100}}
    scanned.items = {"sessions": [kept, changed], "idempotency": [{"id": {"S": "new"}}]}
    assert tables.written() == 2 + 1
    assert tables.written() == 0


def test_imports_are_summed_by_the_package_whose_modules_they_are() -> None:
    told = "import time: self [us] | cumulative | imported package\n"
    told += (
        "import time:       100 |        300 |   botocore.session\nimport time:        50 |   50 | botocore\n"
    )
    told += "import time:         7 |          7 | json\n"
    assert own_microseconds(told) == {"botocore": 150, "json": 7}


def test_a_breakdown_names_the_largest_and_sums_up_all() -> None:
    ours = {f"package{number}": 1000 * number for number in range(1, 15)}
    text = breakdown(ours, {"package14": 2000, "other": 500})
    assert "| package14 | 14.0 | 2.0 |" in text
    assert "| the rest | 3.0 | 0.5 |" in text
    assert "| **all** | **105.0** | **2.5** |" in text


def test_a_ratio_is_the_median_of_the_pairs_own() -> None:
    pairs = [(Taken(2, 3), Taken(1, 1)), (Taken(3, 1), Taken(1, 1)), (Taken(30, 1), Taken(2, 1))]
    assert "| cold | 3000 | 1000 | **3.00** | 1.00 |" in ratios([("cold", pairs)])


def test_a_call_is_made_again_on_the_twin_tables_with_a_token_of_its_own() -> None:
    params: Mapping[str, Any] = {
        "TransactItems": [{"Put": {"TableName": "sessions"}}, {"Put": {"TableName": "audit"}}],
        "RequestItems": {"sessions": {"Keys": []}},
        "ClientRequestToken": "token",
    }
    moved = elsewhere(params)
    tables = [each["Put"]["TableName"] for each in moved["TransactItems"]]
    assert (tables, list(moved["RequestItems"])) == (["twin-sessions", "twin-audit"], ["twin-sessions"])
    assert moved["ClientRequestToken"] != "token"
    assert params["RequestItems"] == {"sessions": {"Keys": []}}


class Client:
    """Makes calls as botocore does, as far as hooks see it."""

    def __init__(self) -> None:
        self.meta = SimpleNamespace(events=HierarchicalEmitter())

    def begin(self, operation: str, key: str) -> Any:
        item = {"Update": {"Key": key}}
        params = {"Key": key} if operation == "UpdateItem" else {"TransactItems": [item]}
        model = SimpleNamespace(name=operation)
        self.meta.events.emit(f"provide-client-params.dynamodb.{operation}", params=params, model=model)
        handlers = self.meta.events.emit(f"before-call.dynamodb.{operation}", model=model)
        (answer,) = [answer for _, answer in handlers]
        return answer

    def end(self, operation: str) -> None:
        model = SimpleNamespace(name=operation)
        self.meta.events.emit(f"after-call.dynamodb.{operation}", model=model)


UPDATE = "UpdateItem"
TRANSACT = "TransactWriteItems"


@pytest.mark.parametrize(
    ("first", "second", "key", "meets"),
    [
        (UPDATE, UPDATE, "one", False),
        (UPDATE, TRANSACT, "one", True),
        (TRANSACT, UPDATE, "one", True),
        (TRANSACT, TRANSACT, "one", True),
        (TRANSACT, TRANSACT, "another", False),
    ],
)
def test_a_transaction_and_another_write_of_the_same_item_meet(
    first: str, second: str, key: str, *, meets: bool
) -> None:
    client = Client()
    conflicts = Conflicts(client)
    assert client.begin(first, "one") is None
    assert (client.begin(second, key) is not None) == meets
    assert conflicts.sent == 2


def test_what_has_ended_meets_nothing() -> None:
    client = Client()
    Conflicts(client)
    client.begin(TRANSACT, "one")
    client.end(TRANSACT)
    assert client.begin(TRANSACT, "one") is None


def test_a_write_is_lost_that_was_done_and_is_not_there() -> None:
    run = Run(asked=10, refused=2, sent=20, held=7, seconds=1.0)
    assert (run.done, run.lost) == (8, 1)

"""Filter criteria match as Lambda's documentation says."""

import json
from typing import Any

import pytest

from local.streams.filters import EVERYTHING, FilterError, filter_criteria

RECORD = {
    "eventID": "1",
    "eventName": "MODIFY",
    "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
    "dynamodb": {
        "Keys": {"pk": {"S": "session#abc"}, "sk": {"S": "metadata"}},
        "SizeBytes": 300,
        "NewImage": {
            "status": {"S": "active"},
            "empty": {"S": ""},
            "nothing": {"NULL": True},
            "count": {"N": "101"},
            "live": {"BOOL": True},
            "tags": {"SS": ["red", "green"]},
            "none": {"L": []},
            "list": {"L": [{"S": "first", "at": "1"}, {"S": "second", "at": "2"}]},
            "nested": {"M": {"deep": {"M": {"er": {"S": "Value"}}}}},
        },
    },
    "plain": {
        "null": None,
        "number": 300,
        "fraction": 0.5,
        "large": 6_000_000_000,
        "yes": True,
        "mixed": ["a", 7],
    },
}


def image(**fields: Any) -> dict[str, Any]:
    return {"dynamodb": {"NewImage": fields}}


def plain(**fields: Any) -> dict[str, Any]:
    return {"plain": fields}


def criteria(*patterns: Any) -> dict[str, Any]:
    texts = [pattern if isinstance(pattern, str) else json.dumps(pattern) for pattern in patterns]
    return {"Filters": [{"Pattern": text} for text in texts]}


ADMITS = {
    "an equal string": image(status={"S": ["active"]}),
    "one of several values": image(status={"S": ["closed", "active"]}),
    "a metadata field": {"eventName": ["INSERT", "MODIFY"]},
    "the service's identity": {
        "userIdentity": {"type": ["Service"], "principalId": ["dynamodb.amazonaws.com"]}
    },
    "several fields that all match": image(status={"S": ["active"]}, count={"N": ["101"]}),
    "a key": {"dynamodb": {"Keys": {"sk": {"S": ["metadata"]}}}},
    "a number of DynamoDB as the string it is": image(count={"N": ["101"]}),
    "true": image(live={"BOOL": [True]}),
    "null": plain(null=[None]),
    "an empty string": image(empty={"S": [""]}),
    "a number of equal spelling": plain(number=[300]),
    "a prefix": {"dynamodb": {"Keys": {"pk": {"S": [{"prefix": "session#"}]}}}},
    "a prefix that is all of it": image(status={"S": [{"prefix": "active"}]}),
    "a prefix in any case": image(status={"S": [{"prefix": {"equals-ignore-case": "ACT"}}]}),
    "a suffix": image(status={"S": [{"suffix": "ive"}]}),
    "a suffix in any case": image(status={"S": [{"suffix": {"equals-ignore-case": "IVE"}}]}),
    "equal but for case": image(status={"S": [{"equals-ignore-case": "ACTIVE"}]}),
    "anything but another string": image(status={"S": [{"anything-but": "closed"}]}),
    "anything but others of a list": image(status={"S": [{"anything-but": ["closed", "closing"]}]}),
    "anything but another number": plain(number=[{"anything-but": 301}]),
    "anything but other numbers": plain(number=[{"anything-but": [1, 2]}]),
    "a number where a string is excluded": plain(number=[{"anything-but": "300"}]),
    "anything but another prefix": image(status={"S": [{"anything-but": {"prefix": "clos"}}]}),
    "anything but other prefixes": image(status={"S": [{"anything-but": {"prefix": ["clos", "init"]}}]}),
    "anything but another suffix": image(status={"S": [{"anything-but": {"suffix": "ed"}}]}),
    "anything but another, whatever its case": image(
        status={"S": [{"anything-but": {"equals-ignore-case": "CLOSED"}}]}
    ),
    "an array of which one element is not excluded": image(tags={"SS": [{"anything-but": "red"}]}),
    "a leaf that exists": image(status={"S": [{"exists": True}]}),
    "a null that exists": plain(null=[{"exists": True}]),
    "an empty string that exists": image(empty={"S": [{"exists": True}]}),
    "a field that is missing": image(gone={"S": [{"exists": False}]}),
    "a branch that is missing": {"dynamodb": {"OldImage": {"status": {"S": [{"exists": False}]}}}},
    "an object, which is no leaf, as missing": image(status=[{"exists": False}]),
    "an empty array as missing": image(none={"L": [{"exists": False}]}),
    "a field within an empty array as missing": image(none={"L": {"S": [{"exists": False}]}}),
    "a missing field or a value": image(status={"S": [{"exists": False}, "active"]}),
    "numeric equality, however it is spelled": plain(number=[{"numeric": ["=", 3.0e2]}]),
    "numeric equality of fractions": plain(fraction=[{"numeric": ["=", 0.50]}]),
    "less": plain(number=[{"numeric": ["<", 301]}]),
    "less or equal": plain(number=[{"numeric": ["<=", 300]}]),
    "more": plain(number=[{"numeric": [">", 299.9]}]),
    "more or equal": plain(number=[{"numeric": [">=", 300]}]),
    "a range": plain(number=[{"numeric": [">", 0, "<=", 300]}]),
    "a metadata number": {"dynamodb": {"SizeBytes": [{"numeric": [">", 100, "<", 400]}]}},
    "one element of an array": image(tags={"SS": ["blue", "green"]}),
    "an array of several types": plain(mixed=[7]),
    "a field of an element of a list": image(list={"L": {"S": ["second"]}}),
    "two fields of one element": image(list={"L": {"S": ["second"], "at": ["2"]}}),
    "deeply nested": image(nested={"M": {"deep": {"M": {"er": {"S": ["Value"]}}}}}),
    "the first alternative of $or": {"$or": [image(status={"S": ["active"]}), {"eventName": ["REMOVE"]}]},
    "the second alternative of $or": {"$or": [image(status={"S": ["closed"]}), {"eventName": ["MODIFY"]}]},
    "a nested $or": image(status={"$or": [{"S": ["active"]}, {"N": ["1"]}]}),
    "an $or within an $or": {
        "$or": [{"eventName": ["INSERT"]}, {"$or": [{"eventName": ["MODIFY"]}, {"eventName": ["REMOVE"]}]}]
    },
    "two $or side by side": {
        "$or": [{"eventName": ["MODIFY"]}, {"eventName": ["REMOVE"]}],
        "dynamodb": {"$or": [{"SizeBytes": [300]}, {"SizeBytes": [1]}]},
    },
    "the last value of a key that is there twice": '{"eventName": ["INSERT"], "eventName": ["MODIFY"]}',
}

REFUSES = {
    "another string": image(status={"S": ["closed"]}),
    "another case": image(status={"S": ["Active"]}),
    "one field of two": image(status={"S": ["active"]}, count={"N": ["102"]}),
    "a missing field": image(gone={"S": ["x"]}),
    "a number for a string of digits": image(count={"N": [101]}),
    "a string for a number": plain(number=["300"]),
    "300.0 for 300": '{"plain": {"number": [300.0]}}',
    "3.0e2 for 300": '{"plain": {"number": [3.0e2]}}',
    "numeric of a DynamoDB number": image(count={"N": [{"numeric": ["=", 101]}]}),
    "numeric of true": plain(yes=[{"numeric": ["=", 1]}]),
    "numeric past five thousand million": plain(large=[{"numeric": [">", 0]}]),
    "a number that is not less": plain(number=[{"numeric": ["<", 300]}]),
    "a number outside a range": plain(number=[{"numeric": [">", 300, "<", 400]}]),
    "1 for true": plain(yes=[1]),
    "'true' for true": plain(yes=["true"]),
    "false for true": image(live={"BOOL": [False]}),
    "null for an empty string": image(empty={"S": [None]}),
    "an empty string for null": plain(null=[""]),
    "null for what is missing": plain(gone=[None]),
    "another prefix": image(status={"S": [{"prefix": "Act"}]}),
    "a prefix of a number": plain(number=[{"prefix": "3"}]),
    "another suffix": image(status={"S": [{"suffix": "act"}]}),
    "the string that is excluded": image(status={"S": [{"anything-but": "active"}]}),
    "a string of the excluded list": image(status={"S": [{"anything-but": ["active", "closed"]}]}),
    "the number that is excluded": plain(number=[{"anything-but": [300]}]),
    "the prefix that is excluded": image(status={"S": [{"anything-but": {"prefix": "act"}}]}),
    "one of the excluded prefixes": image(status={"S": [{"anything-but": {"prefix": ["clos", "act"]}}]}),
    "a missing field by anything-but": image(gone={"S": [{"anything-but": "x"}]}),
    "an array of which every element is excluded": image(tags={"SS": [{"anything-but": ["red", "green"]}]}),
    "a missing field that must exist": image(gone={"S": [{"exists": True}]}),
    "an object that must exist": image(status=[{"exists": True}]),
    "a leaf that must not exist": image(status={"S": [{"exists": False}]}),
    "fields of different elements of a list": image(list={"L": {"S": ["first"], "at": ["2"]}}),
    "an object where a value is expected": image(status=["active"]),
    "no alternative of $or": {"$or": [{"eventName": ["INSERT"]}, {"eventName": ["REMOVE"]}]},
    "an alternative without its neighbour": {
        "$or": [{"eventName": ["MODIFY"]}, {"eventName": ["REMOVE"]}],
        "eventID": ["2"],
    },
}

INVALID = {
    "what is not JSON": ("{", "not JSON"),
    "what is not an object": ("[1]", "expected an object with at least one field"),
    "an empty object": ({}, "expected an object with at least one field"),
    "an empty object inside": (
        {"dynamodb": {}},
        r"filter 1\.dynamodb: expected an object",
    ),
    "a bare value": ({"eventName": "INSERT"}, "a non-empty array"),
    "an empty array": ({"eventName": []}, "a non-empty array"),
    "an array in an array": ({"eventName": [["INSERT"]]}, "expected a string"),
    "an unknown operator": ({"eventName": [{"wildcard": "IN*"}]}, "'wildcard' is not one of"),
    "two operators in one object": (
        {"eventName": [{"prefix": "I", "suffix": "T"}]},
        "expected one operator",
    ),
    "exists beside an operator": (
        {"eventName": [{"exists": True, "prefix": "I"}]},
        "expected one operator",
    ),
    "exists of no boolean": ({"eventName": [{"exists": "yes"}]}, "true or false"),
    "an empty prefix": ({"eventName": [{"prefix": ""}]}, "a non-empty string"),
    "a prefix of a number": ({"eventName": [{"prefix": 1}]}, "got 1"),
    "another operator in a prefix": (
        {"eventName": [{"prefix": {"suffix": "x"}}]},
        "is not equals-ignore-case",
    ),
    "anything-but of mixed types": ({"eventName": [{"anything-but": ["a", 1]}]}, "a list of strings"),
    "anything-but of true": ({"eventName": [{"anything-but": True}]}, "a list of strings"),
    "anything-but of nothing": ({"eventName": [{"anything-but": []}]}, "a list of strings"),
    "anything-but of another operator": (
        {"eventName": [{"anything-but": {"exists": True}}]},
        "'exists' is not",
    ),
    "numeric without a list": ({"a": [{"numeric": 1}]}, "one or two pairs"),
    "numeric of a string": ({"a": [{"numeric": ["=", "1"]}]}, "expected a number"),
    "numeric with another comparison": ({"a": [{"numeric": ["!=", 1]}]}, "'!=' is not one of"),
    "numeric upside down": ({"a": [{"numeric": ["<", 1, ">", 0]}]}, "a range must be > or >="),
    "an empty range": ({"a": [{"numeric": [">", 2, "<", 1]}]}, "is empty"),
    "numeric past its limit": ({"a": [{"numeric": ["<", 5.1e9]}]}, "is not between"),
    "$or of one": ({"$or": [{"eventName": ["INSERT"]}]}, "'eventName' is not one of"),
    "NaN": ('{"a": [NaN]}', "NaN"),
    "more than 4096 characters": ({"a": ["x" * 4096]}, "more than 4096"),
}


@pytest.mark.parametrize("pattern", ADMITS.values(), ids=ADMITS.keys())
def test_a_filter_admits(pattern: Any) -> None:
    assert filter_criteria(criteria(pattern)).admits(RECORD)


@pytest.mark.parametrize("pattern", REFUSES.values(), ids=REFUSES.keys())
def test_a_filter_refuses(pattern: Any) -> None:
    assert not filter_criteria(criteria(pattern)).admits(RECORD)


@pytest.mark.parametrize(("pattern", "said"), INVALID.values(), ids=INVALID.keys())
def test_a_mapping_is_not_made_of(pattern: Any, said: str) -> None:
    with pytest.raises(FilterError, match=said):
        filter_criteria(criteria(pattern))


def test_one_filter_of_several_suffices() -> None:
    filters = filter_criteria(criteria({"eventName": ["INSERT"]}, {"eventName": ["MODIFY"]}))
    assert filters.admits(RECORD)
    assert not filters.admits({**RECORD, "eventName": "REMOVE"})


@pytest.mark.parametrize("empty", [{}, {"Filters": []}])
def test_without_filters_every_record_passes(empty: dict[str, Any]) -> None:
    assert filter_criteria(empty) == EVERYTHING
    assert EVERYTHING.admits(RECORD)


def test_a_sixth_filter_is_refused() -> None:
    with pytest.raises(FilterError, match="at most 5 filters, got 6"):
        filter_criteria(criteria(*[{"eventName": ["INSERT"]}] * 6))


def test_a_filter_without_a_pattern_is_refused() -> None:
    with pytest.raises(FilterError, match="Pattern must be a string"):
        filter_criteria({"Filters": [{}]})

"""A demo's steps: each is shown, and has to be answered as it should."""

import json
from collections.abc import Mapping
from typing import Any, Final

from local.signed_http import Answer, Api

SHOWN: Final = 160


class DemoError(RuntimeError):
    """A step had another answer than it should; the message shows it."""


def step(
    api: Api,
    status: int,
    method: str,
    path: str,
    body: object = None,
    *,
    headers: Mapping[str, str] | None = None,
) -> Any:  # noqa: ANN401 - a JSON body
    return show(status, method, path, api.call(method, path, body, headers))


def show(status: int, method: str, path: str, answer: Answer) -> Any:  # noqa: ANN401 - a JSON body
    text = answer.body.decode()
    print(f"  {method} {path}\n    {answer.status} {shortened(text)}")
    expect(answer.status == status, f"{method} {path} is answered {status}, not {answer.status}: {text}")
    return json.loads(text) if text else None


def title(text: str) -> None:
    print(f"\n{text}")


def expect(holds: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise DemoError(f"expected that {what}")


def shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def show_value(value: Mapping[str, object]) -> str:
    """A line a name."""
    return "\n".join(f"    {name}: {json.dumps(each)}" for name, each in value.items())

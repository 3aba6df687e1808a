"""``python -m infra.configuration_page``: docs/configuration.md, written from the options themselves."""

import sys
from typing import Final

from infra.config import Config
from infra.options import Option, options

_HEAD: Final = """\
<!-- Written by `make configuration` from infra/config.py. -->
# Configuration

Every setting of a deployment is CDK context: `-c name=value`, or a key of `context` in `cdk.json`, where
lists may be JSON. All are optional. They are judged before anything is built; a wrong value, or a name that
no setting has, fails the synthesis and says what is allowed.

Two profiles hold the defaults. `dev` is cheap and goes with its stack; `prod` is kept, guarded and watched.
`stage=prod` has the profile `prod`; any other stage has it by `-c profile=prod`.

| context | dev | prod | allowed | |
|---|---|---|---|---|
"""

_SETS: Final = """
Two sets to start from:

    npx cdk deploy --all -c stage=dev
    npx cdk deploy --all -c stage=prod -c regions=us-east-1,eu-west-1 -c encryption=customer_managed \\
        -c alarmEmails=oncall@example.com
"""


def page(configuration: type) -> str:
    return _HEAD + "".join(map(_row, options(configuration).values())) + _SETS


def _row(one: Option) -> str:
    allowed = one.allowed.replace("|", "\\|")
    return f"| `{one.name}` | {_shown(one.dev)} | {_shown(one.prod)} | {allowed} | {one.about} |\n"


def _shown(default: object) -> str:
    match default:
        case "" | []:
            return "none"
        case bool():
            return f"`{str(default).lower()}`"
        case list():
            return f"`{','.join(default)}`"
        case _:
            return f"`{default}`".replace("{stage}", "<stage>")


if __name__ == "__main__":
    sys.stdout.write(page(Config))

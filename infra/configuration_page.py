"""``python -m infra.configuration_page``: docs/configuration.md, written from the options themselves."""

import sys
from typing import Final

from infra.config import Config
from infra.options import Option, options

_HEAD: Final = """\
<!-- Written by `make configuration` from infra/config.py. -->
# Configuration

Every setting of a deployment is CDK context: pass it as `-c name=value`, or keep it under `context` in
`cdk.json`. A list is separated by commas, or JSON in `cdk.json`. All settings are optional. They are
validated before anything is built: a wrong value or an unknown name fails the synthesis with a message that
says what is allowed.

The defaults depend on the profile. `dev` is cheap and is deleted with its stack. `prod` keeps its data, has a
web ACL and sends alarms. The stage `prod` has the profile `prod`; give it to any other stage with
`-c profile=prod`. [deployment.md](deployment.md#upgrade) says which settings have consequences when you
change them.

| setting | default in dev | default in prod | allowed | meaning |
|---|---|---|---|---|
"""

_SETS: Final = """
To start with, a cheap stage and a production stage:

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

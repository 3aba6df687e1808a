"""cdk-nag and cfn-lint have nothing to say, and would say it if they had."""

import json
import re
from pathlib import Path

import pytest
from aws_cdk import App

from infra import nag
from infra.app_builder import build
from tests.infra.conftest import FLAGS, OPTIONS, SEALED_OPTIONS, TOKENS, Synthesized
from tests.infra.linting import lint


def findings(folder: Path) -> set[str]:
    """What cdk-nag reported, by the ids that an acknowledgement would name."""
    report = (folder / "validation-report.json").read_text()
    return set(re.findall(r"AwsSolutions-[A-Z0-9]+(?:\[[^\]\"]*\])?", report))


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"target": "local", "stage": "local"},
        {"regions": ["us-east-1", "eu-west-1"], "account": "111122223333"},
        OPTIONS,
        SEALED_OPTIONS,
        TOKENS,
    ],
    ids=["dev", "local", "replicated", "optional", "sealed", "tokens"],
)
def test_an_unacknowledged_finding_fails_the_synthesis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, context: dict[str, object]
) -> None:
    given = {**FLAGS, "aws:cdk:bundling-stacks": [], **context}
    monkeypatch.setattr(nag, "acknowledged", lambda *_args, **_options: {})
    app = App(context=given, outdir=str(tmp_path))
    build(app)
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    reported = findings(tmp_path)
    monkeypatch.undo()
    deployment = build(App(context=given))
    needed = [
        name for stack in deployment.stacks for name in nag.acknowledged(stack, config=deployment.config)
    ]
    assert reported == set(needed), "each acknowledgement answers a finding"


SPOKEN_OF = {"xray": "X-Ray", "ec2": "network interfaces", "dynamodb": "streams"}


@pytest.mark.parametrize("fixture", ["dev", "optional", "local"])
def test_the_reason_for_any_resource_speaks_of_every_service_that_is_let_at_it(
    request: pytest.FixtureRequest, fixture: str
) -> None:
    synthesized: Synthesized = request.getfixturevalue(fixture)
    region = synthesized.regions[0]
    config, stack = synthesized.deployment.config, synthesized.deployment.regional[region]
    allowed = [synthesized.allowed_by(each, region=region) for each in synthesized.functions(region=region)]
    services = {action.partition(":")[0] for each in allowed for action in each.get("*", set())}
    reason = nag.acknowledged(stack, config=config)["AwsSolutions-IAM5[Resource::*]"]
    assert {service for service, words in SPOKEN_OF.items() if words in reason} == services


def test_cfn_lint_finds_nothing(every: Synthesized) -> None:
    assert lint(every.files) == []


def test_cfn_lint_finds_nothing_in_what_is_optional(
    optional_sealed: Synthesized, cached_apart: Synthesized
) -> None:
    assert lint([*optional_sealed.files, *cached_apart.files]) == []


def test_cfn_lint_finds_nothing_where_callers_show_tokens(bearer: Synthesized) -> None:
    assert lint(bearer.files) == []


def test_cfn_lint_finds_what_is_wrong(tmp_path: Path) -> None:
    queue = {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": "soon"}}
    (tmp_path / "wrong.template.json").write_text(json.dumps({"Resources": {"Queue": queue}}))
    assert [rule for rule, _ in lint([tmp_path / "wrong.template.json"])] == ["E3012"]

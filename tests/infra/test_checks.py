"""cdk-nag and cfn-lint have nothing to say, and would say it if they had."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from aws_cdk import App

from infra import nag
from infra.app_builder import build
from tests.infra.conftest import FLAGS, OPTIONS, TOKENS, Synthesized

IGNORED = {
    "W3005": "CDK writes DependsOn beside references that imply it",
}


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
        {"encryption": "customer_managed"},
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


def test_cfn_lint_finds_nothing(every: Synthesized) -> None:
    assert_clean(every)


def test_cfn_lint_finds_nothing_in_what_is_optional(optional: Synthesized, cached_apart: Synthesized) -> None:
    assert_clean(optional)
    assert_clean(cached_apart)


def test_cfn_lint_finds_nothing_where_callers_show_tokens(bearer: Synthesized) -> None:
    assert_clean(bearer)


def assert_clean(synthesized: Synthesized) -> None:
    cfn_lint = Path(sys.executable).with_name("cfn-lint")
    done = subprocess.run(
        [cfn_lint, "--format", "json", "--ignore-checks", *IGNORED, "--", *synthesized.files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert [(match["Rule"]["Id"], match["Message"]) for match in json.loads(done.stdout or "[]")] == []
    assert done.returncode == 0, done.stderr

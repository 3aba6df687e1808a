"""The CDK app's entry; ``cdk.json`` names it."""

import sys

from aws_cdk import App

from infra.app_builder import build
from infra.context import ConfigError

app = App()
try:
    build(app)
except ConfigError as error:
    sys.exit(f"error: {error}")
app.synth()

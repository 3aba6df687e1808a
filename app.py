"""The CDK app's entry; ``cdk.json`` names it."""

from aws_cdk import App

from infra.app_builder import build

app = App()
build(app)
app.synth()

"""The CDK app: what is provisioned, derived from ``session_store.schema`` and docs/openapi.json."""

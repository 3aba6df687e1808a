"""The names of the stacks; what deploys them and what looks for them both ask here."""


def data_stack(stage: str) -> str:
    return f"SessionStore-{stage}-Data"


def regional_stack(stage: str, region: str) -> str:
    return f"SessionStore-{stage}-Regional-{region}"

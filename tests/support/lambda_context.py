"""What Lambda hands a function beside the event."""

from aws_lambda_powertools.utilities.typing import LambdaContext

REQUEST_ID = "11111111-2222-4333-8444-555555555555"


class Context(LambdaContext):
    def __init__(self, name: str, *, seconds: int = 60) -> None:
        self._function_name = name
        self._memory_limit_in_mb = 1024
        self._invoked_function_arn = f"arn:aws:lambda:us-east-1:111122223333:function:{name}"
        self._aws_request_id = REQUEST_ID
        self._millis = seconds * 1000

    def get_remaining_time_in_millis(self) -> int:  # type: ignore[override] # a static method in Powertools' type
        return self._millis

"""``/sessions/{sessionId}/tool-calls``: calls that are being run"""

from typing import Final

from session_api import problems
from session_api.bodies import Heartbeat, Reconcile
from session_api.operations import Reply, operation
from session_api.requests import Request
from session_api.running_call_answers import (
    BegunToolCall,
    FinishedToolCall,
    OpenCall,
    begun_answer,
    finished_answer,
    open_call,
)
from session_api.running_call_bodies import BeginToolCall, CompleteToolCall, FailToolCall, reconciled_call
from session_api.tool_call_routes import TOOL_CALL, TOOL_CALLS
from session_store.domain.claim import SETTLED
from session_store.metric_names import Metric
from session_store.services.tool_calls.finish import FinishResult

CALL_PROBLEMS: Final = (
    problems.SESSION_NOT_FOUND,
    problems.NOT_FOUND,
    problems.MISDIRECTED,
    problems.OUTCOME_UNKNOWN,
)
END_PROBLEMS: Final = (
    *CALL_PROBLEMS,
    problems.FENCED,
    problems.MISMATCH,
    problems.TOO_LARGE,
    problems.PAYLOAD_MISSING,
)


@operation(
    "POST",
    TOOL_CALLS,
    body=BeginToolCall,
    answer=BegunToolCall,
    statuses=(201, 200),
    refusals=(
        *CALL_PROBLEMS,
        problems.SESSION_CLOSED,
        problems.IN_PROGRESS,
        problems.UNRECONCILED,
        problems.MISMATCH,
        problems.TOO_LARGE,
        problems.PAYLOAD_MISSING,
    ),
)
def begin_tool_call(request: Request) -> Reply:
    """Begin a call: 201 and a fence to whoever is to run it, 200 and the outcome where it was run before."""
    begun = request.store.running_calls.begin(request.caller, request.session_id, request.body.to_domain())
    settled = begun.claim.status in SETTLED
    return Reply(value=begun_answer(begun), status=200 if settled else 201, replayed=int(settled))


@operation(
    "POST",
    f"{TOOL_CALL}/complete",
    body=CompleteToolCall,
    answer=FinishedToolCall,
    refusals=(
        *END_PROBLEMS,
        problems.UNEXPECTED_VERSION,
        problems.SESSION_CLOSED,
        problems.INVALID_TRANSITION,
        problems.CONTENT_CONFLICT,
    ),
    counts=Metric.TOOL_CALLS,
)
def complete_tool_call(request: Request) -> Reply:
    """Complete a call, and change its session with it, in one transaction.

    The same again is a success whatever has become of the session, until it is erased.
    """
    body = request.body
    return _finished(
        request.store.finished_calls.finish(
            request.caller,
            request.session_id,
            request.path["toolCallId"],
            fence=body.fence,
            outcome=body.outcome(),
            change=body.change(),
        )
    )


@operation(
    "POST",
    f"{TOOL_CALL}/fail",
    body=FailToolCall,
    answer=FinishedToolCall,
    refusals=END_PROBLEMS,
    counts=Metric.TOOL_CALLS,
)
def fail_tool_call(request: Request) -> Reply:
    """Say that a call has failed: an outcome like any other, and recorded as such."""
    return _finished(
        request.store.finished_calls.finish(
            request.caller,
            request.session_id,
            request.path["toolCallId"],
            fence=request.body.fence,
            outcome=request.body.outcome(),
        )
    )


@operation(
    "POST",
    f"{TOOL_CALL}/heartbeat",
    body=Heartbeat,
    answer=OpenCall,
    refusals=(*CALL_PROBLEMS, problems.FENCED),
)
def extend_tool_call(request: Request) -> Reply:
    """Hold a call for longer, and its session with it."""
    claim = request.store.running_calls.heartbeat(
        request.caller,
        request.session_id,
        request.path["toolCallId"],
        fence=request.body.fence,
        lease_seconds=request.body.lease_seconds,
    )
    return Reply(value=open_call(claim))


@operation(
    "POST",
    f"{TOOL_CALL}/reconcile",
    body=Reconcile,
    answer=FinishedToolCall,
    refusals=(*END_PROBLEMS, problems.IN_PROGRESS),
    counts=Metric.TOOL_CALLS,
)
def reconcile_tool_call(request: Request) -> Reply:
    """Say how a call ended that nobody holds any more, or that it may be tried again."""
    return _finished(
        request.store.finished_calls.reconcile(
            request.caller,
            request.session_id,
            request.path["toolCallId"],
            outcome=reconciled_call(request.body),
            fence=request.body.fence,
        )
    )


def _finished(finished: FinishResult) -> Reply:
    recorded = finished.record is not None
    return Reply(
        value=finished_answer(finished),
        done=int(recorded and not finished.replayed),
        replayed=int(recorded and finished.replayed),
        beside={Metric.MESSAGES_APPENDED: finished.appended} if finished.appended else {},
    )

"""Running tool calls: begun and held under a lease, and ended in one transaction."""

from typing import Final

from session_api import problems
from session_api.lease_bodies import Heartbeat, Reconcile
from session_api.operations import Reply, operation
from session_api.paths import TOOL_CALL, TOOL_CALLS
from session_api.requests import Request
from session_api.running_call_answers import (
    BegunToolCall,
    FinishedToolCall,
    OpenCall,
    begun_answer,
    finished_answer,
    open_call_answer,
)
from session_api.running_call_bodies import BeginToolCall, CompleteToolCall, FailToolCall, reconciled_call
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
        problems.PAYLOAD_MISSING,
    ),
)
def begin_tool_call(request: Request[BeginToolCall]) -> Reply:
    """Begin a tool call: get a lease on it, or the outcome it already has.

    201: the caller holds the lease and runs the tool, then completes or fails the call with its `fence`. The
    session lives at least a minute longer than the lease. 200: the call is settled, and its outcome is in the
    answer, whatever the session's status.

    409 `in-progress`: another attempt holds the lease; `Retry-After` says when it expires. 409
    `outcome-unknown`: a lease expired without an outcome, and the call is not retry-safe, so the tool may
    have run: find out, then reconcile. With `retrySafe` the call is taken over instead, under a higher fence.
    422: the id was used with another tool or input.

    After a lost response, send the request again with the same `attemptId` to get the same fence.
    """
    begun = request.store.running_calls.begin(request.caller, request.session_id, request.body.to_domain())
    settled = begun.claim.is_settled
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
def complete_tool_call(request: Request[CompleteToolCall]) -> Reply:
    """Complete a tool call, and change its session with it, in one transaction.

    The outcome, the operations on the state, the messages, the status and the tasks are written together with
    the audit event, or nothing is. `expectedVersion` makes all of it conditional on the session's version
    (409 `version-conflict`). A call that changes nothing in its session may also be completed while that is
    closing or closed.

    The same body again is a success, whatever has become of the session, until it is erased. Another outcome
    is refused: 422 from the attempt that settled the call, 409 `fenced` from a stale holder.
    """
    body = request.body
    return _finished_reply(
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
def fail_tool_call(request: Request[FailToolCall]) -> Reply:
    """Settle a tool call as failed, with its error.

    A failure is an outcome like any other: it is recorded and audited, and the call is not run again under
    the same id. The same body again is a success.
    """
    return _finished_reply(
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
def extend_tool_call(request: Request[Heartbeat]) -> Reply:
    """Extend the lease of a tool call, and keep its session alive with it.

    The lease lasts `leaseSeconds` from now; one that already lasts longer is not shortened. Also while the
    session is closing or closed. 409 `fenced`: another attempt has taken the call over, or it is settled;
    stop working on it.
    """
    claim = request.store.running_calls.heartbeat(
        request.caller,
        request.session_id,
        request.path["toolCallId"],
        fence=request.body.fence,
        lease_seconds=request.body.lease_seconds,
    )
    return Reply(value=open_call_answer(claim))


@operation(
    "POST",
    f"{TOOL_CALL}/reconcile",
    body=Reconcile,
    answer=FinishedToolCall,
    refusals=(*END_PROBLEMS, problems.IN_PROGRESS),
    counts=Metric.TOOL_CALLS,
)
def reconcile_tool_call(request: Request[Reconcile]) -> Reply:
    """Settle a tool call whose lease expired without an outcome, or free it to be begun again.

    For an operator or a program that has found out what the lost attempt did. The fence rises, so a stale
    holder can no longer settle the call. 409 `in-progress`: the lease is still running. 409 `fenced`: another
    attempt than the one named has begun since. 422: the call is settled with another outcome.
    """
    return _finished_reply(
        request.store.finished_calls.reconcile(
            request.caller,
            request.session_id,
            request.path["toolCallId"],
            outcome=reconciled_call(request.body),
            fence=request.body.fence,
        )
    )


def _finished_reply(finished: FinishResult) -> Reply:
    recorded = finished.record is not None
    return Reply(
        value=finished_answer(finished),
        performed=int(recorded and not finished.replayed),
        replayed=int(recorded and finished.replayed),
        also_performed={Metric.MESSAGES_APPENDED: finished.appended} if finished.appended else {},
    )

"""Claims: work of any kind that must not be done twice, under a key of the caller's choice."""

from typing import Final

from session_api import problems
from session_api.claim_answers import BegunClaim, ClaimAnswer, begun_claim_answer, claim_answer
from session_api.claim_bodies import BeginClaim, CompleteClaim, FailClaim, reconciled_claim
from session_api.lease_bodies import Heartbeat, Reconcile
from session_api.operations import Reply, operation
from session_api.paths import CLAIM
from session_api.requests import Request
from session_store.domain.claim import Step
from session_store.domain.free_claim import FreeClaim

WRITE_PROBLEMS: Final = (problems.NOT_FOUND, problems.MISDIRECTED, problems.OUTCOME_UNKNOWN)
END_PROBLEMS: Final = (*WRITE_PROBLEMS, problems.FENCED, problems.MISMATCH)


@operation(
    "PUT",
    CLAIM,
    body=BeginClaim,
    answer=BegunClaim,
    statuses=(201, 200),
    refusals=(
        problems.MISDIRECTED,
        problems.OUTCOME_UNKNOWN,
        problems.IN_PROGRESS,
        problems.UNRECONCILED,
        problems.MISMATCH,
    ),
)
def begin_claim(request: Request[BeginClaim]) -> Reply:
    """Begin work under a key: get a lease on it, or the outcome it already has.

    201: the caller holds the lease and does the work, then completes or fails the claim with its `fence`.
    200: the work is settled, and its outcome is in the answer.

    409 `in-progress`: another attempt holds the lease; `Retry-After` says when it expires. 409
    `outcome-unknown`: a lease expired without an outcome, and the work is not retry-safe, so it may have been
    done: find out, then reconcile. With `retrySafe` the work is taken over instead, under a higher fence.
    422: the key was used with another input.

    After a lost response, send the request again with the same `attemptId` to get the same fence. A key is
    its caller's own and is written in one region, which its hash chooses (421 elsewhere).
    """
    key = request.path["key"]
    claim = request.store.claims.begin(request.caller, key, request.body.to_domain())
    settled = claim.is_settled
    return Reply(value=begun_claim_answer(key, claim), status=200 if settled else 201, replayed=int(settled))


@operation("GET", CLAIM, answer=ClaimAnswer, refusals=(problems.NOT_FOUND, problems.MISDIRECTED))
def get_claim(request: Request[None]) -> Reply:
    """Read a claim without taking a lease."""
    key = request.path["key"]
    return Reply(value=claim_answer(key, request.store.claims.get(request.caller, key)))


@operation("POST", f"{CLAIM}/complete", body=CompleteClaim, answer=ClaimAnswer, refusals=END_PROBLEMS)
def complete_claim(request: Request[CompleteClaim]) -> Reply:
    """Settle a claim as completed, with the output of its work.

    The same output again is a success. Another outcome is refused: 422 from the attempt that settled the
    claim, 409 `fenced` from a stale holder.
    """
    return _settle(request)


@operation("POST", f"{CLAIM}/fail", body=FailClaim, answer=ClaimAnswer, refusals=END_PROBLEMS)
def fail_claim(request: Request[FailClaim]) -> Reply:
    """Settle a claim as failed, with the error of its work.

    A failure is an outcome like any other: later requests under the key get it, and the work is not done
    again. The same error again is a success.
    """
    return _settle(request)


def _settle(request: Request[CompleteClaim] | Request[FailClaim]) -> Reply:
    step = request.store.claims.complete(
        request.caller,
        request.path["key"],
        fence=request.body.fence,
        outcome=request.body.outcome(),
    )
    return _step_reply(request, step)


@operation(
    "POST",
    f"{CLAIM}/heartbeat",
    body=Heartbeat,
    answer=ClaimAnswer,
    refusals=(*WRITE_PROBLEMS, problems.FENCED),
)
def extend_claim(request: Request[Heartbeat]) -> Reply:
    """Extend the lease of a claim.

    The lease lasts `leaseSeconds` from now; one that already lasts longer is not shortened. 409 `fenced`:
    another attempt has taken the work over, or it is settled; stop working on it.
    """
    key = request.path["key"]
    claim = request.store.claims.heartbeat(
        request.caller, key, fence=request.body.fence, lease_seconds=request.body.lease_seconds
    )
    return Reply(value=claim_answer(key, claim))


@operation(
    "POST",
    f"{CLAIM}/reconcile",
    body=Reconcile,
    answer=ClaimAnswer,
    refusals=(*END_PROBLEMS, problems.IN_PROGRESS),
)
def reconcile_claim(request: Request[Reconcile]) -> Reply:
    """Settle a claim whose lease expired without an outcome, or free its work to be begun again.

    For an operator or a program that has found out what the lost attempt did. The fence rises, so a stale
    holder can no longer settle the claim. 409 `in-progress`: the lease is still running. 409 `fenced`:
    another attempt than the one named has begun since. 422: the claim is settled with another outcome.
    """
    body = request.body
    step = request.store.claims.reconcile(
        request.caller, request.path["key"], outcome=reconciled_claim(body), fence=body.fence
    )
    return _step_reply(request, step)


def _step_reply(request: Request[object], step: Step[FreeClaim]) -> Reply:
    return Reply(value=claim_answer(request.path["key"], step.claim), replayed=int(step.replayed))

"""``/claims/{key}``: free idempotency keys"""

from typing import Final

from session_api import problems
from session_api.bodies import Heartbeat, Reconcile
from session_api.claim_answers import BegunClaim, ClaimAnswer, begun_claim_answer, claim_answer
from session_api.claim_bodies import BeginClaim, CompleteClaim, FailClaim, reconciled_claim
from session_api.operations import Reply, operation
from session_api.requests import Request
from session_store.domain.claim import SETTLED, Step
from session_store.domain.free_claim import FreeClaim

CLAIM: Final = "/claims/{key}"
WRITE_PROBLEMS: Final = (problems.NOT_FOUND, problems.MISDIRECTED, problems.OUTCOME_UNKNOWN)
END_PROBLEMS: Final = (*WRITE_PROBLEMS, problems.FENCED, problems.MISMATCH, problems.TOO_LARGE)


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
        problems.TOO_LARGE,
    ),
)
def begin_claim(request: Request) -> Reply:
    """Claim a key: 201 and a fence to whoever is to do its work, 200 and the outcome where it is done."""
    key = request.path["key"]
    claim = request.store.claims.begin(request.caller, key, request.body.to_domain())
    settled = claim.status in SETTLED
    return Reply(value=begun_claim_answer(key, claim), status=200 if settled else 201, replayed=int(settled))


@operation("GET", CLAIM, answer=ClaimAnswer, refusals=(problems.NOT_FOUND, problems.MISDIRECTED))
def get_claim(request: Request) -> Reply:
    """Read a claim."""
    key = request.path["key"]
    return Reply(value=claim_answer(key, request.store.claims.get(request.caller, key)))


@operation("POST", f"{CLAIM}/complete", body=CompleteClaim, answer=ClaimAnswer, refusals=END_PROBLEMS)
def complete_claim(request: Request) -> Reply:
    """Give the claim its outcome; the same again is a success."""
    return _ended(request)


@operation("POST", f"{CLAIM}/fail", body=FailClaim, answer=ClaimAnswer, refusals=END_PROBLEMS)
def fail_claim(request: Request) -> Reply:
    """Say that the work has failed: an outcome like any other."""
    return _ended(request)


def _ended(request: Request) -> Reply:
    step = request.store.claims.complete(
        request.caller,
        request.path["key"],
        fence=request.body.fence,
        outcome=request.body.outcome(),
    )
    return _stepped(request, step)


@operation(
    "POST",
    f"{CLAIM}/heartbeat",
    body=Heartbeat,
    answer=ClaimAnswer,
    refusals=(*WRITE_PROBLEMS, problems.FENCED),
)
def extend_claim(request: Request) -> Reply:
    """Hold a claim for longer."""
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
def reconcile_claim(request: Request) -> Reply:
    """Say how work ended that nobody holds any more, or that it may be tried again."""
    body = request.body
    step = request.store.claims.reconcile(
        request.caller, request.path["key"], outcome=reconciled_claim(body), fence=body.fence
    )
    return _stepped(request, step)


def _stepped(request: Request, step: Step[FreeClaim]) -> Reply:
    replayed = step.replayed and step.claim.status in SETTLED
    return Reply(value=claim_answer(request.path["key"], step.claim), replayed=int(replayed))

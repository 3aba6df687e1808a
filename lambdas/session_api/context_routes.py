"""``/sessions/{sessionId}/context``"""

from typing import Final

from session_api import problems
from session_api.answers import AppendedMessages, MessagePage, message_answer
from session_api.bodies import AppendMessages
from session_api.cursors import encode_cursor
from session_api.lists import ORDER, PAGED, order_of, page_request
from session_api.operations import Reply, operation
from session_api.requests import Request
from session_store.domain.page import MessagePosition
from session_store.metric_names import Metric

CONTEXT: Final = "/sessions/{sessionId}/context"


@operation(
    "POST",
    CONTEXT,
    body=AppendMessages,
    answer=AppendedMessages,
    statuses=(201, 200),
    refusals=(
        problems.SESSION_NOT_FOUND,
        problems.SESSION_CLOSED,
        problems.CONTENT_CONFLICT,
        problems.TOO_LARGE,
        problems.MISDIRECTED,
        problems.OUTCOME_UNKNOWN,
    ),
    counts=Metric.MESSAGES_APPENDED,
)
def append_messages(request: Request) -> Reply:
    """Append messages, each once for ever: 200 where all of them were there already.

    Without `atomic` every message stands for itself: beside one that conflicts the others are
    stored. With it, all that are not there yet are stored, or none.
    """
    appended = request.store.context.append(
        request.caller, request.session_id, request.body.to_domain(), atomic=request.body.atomic
    )
    items = [message_answer(message) for message in appended.messages]
    return Reply(
        value=AppendedMessages(items=items),
        status=201 if appended.created else 200,
        done=appended.created,
        replayed=len(items) - appended.created,
    )


@operation(
    "GET",
    CONTEXT,
    answer=MessagePage,
    query=(
        ORDER,
        *PAGED,
    ),
    refusals=(problems.SESSION_NOT_FOUND, problems.MISDIRECTED, problems.PAYLOAD_MISSING),
)
def list_messages(request: Request) -> Reply:
    """List the messages of a session in the order of their ids."""
    order = order_of(request)
    query = {"list": "context", "session": request.session_id, "order": order}
    page = request.store.context.page(
        request.caller,
        request.session_id,
        page_request(request, MessagePosition, query=query, descending=order == "desc"),
        min_version=request.min_version,
    )
    items = [message_answer(message) for message in page.items]
    return Reply(value=MessagePage(items=items, next_cursor=encode_cursor(page.next, query=query)))

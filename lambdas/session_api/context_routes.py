"""Context: the transcript of a session, one immutable message at a time."""

from session_api import problems
from session_api.context_answers import AppendedMessages, MessagePage, message_answer
from session_api.context_bodies import AppendMessages
from session_api.cursors import encode_cursor
from session_api.lists import ORDER, PAGING, requested_order, requested_page
from session_api.operations import Reply, operation
from session_api.paths import CONTEXT
from session_api.requests import Request
from session_store.domain.page import MessagePosition
from session_store.metric_names import Metric


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
        problems.MISDIRECTED,
        problems.OUTCOME_UNKNOWN,
    ),
    counts=Metric.MESSAGES_APPENDED,
)
def append_messages(request: Request[AppendMessages]) -> Reply:
    """Append messages to the context of a session, each once.

    A message whose id and content are already stored is a replay and a success, whatever the session's
    status: 201 if any message is new, 200 if none is. An id that is stored with other content is refused (409
    with `messageIds`).

    Without `atomic` each message stands for itself: those that can be stored are, even if another is refused.
    With it, all messages that are not yet stored are written in one transaction, or none is.

    To make a retry safe, choose the message ids: without them a request that is sent again appends again.
    """
    appended = request.store.context.append(
        request.caller, request.session_id, request.body.to_domain(), atomic=request.body.atomic
    )
    items = [message_answer(message) for message in appended.messages]
    return Reply(
        value=AppendedMessages(items=items),
        status=201 if appended.created else 200,
        performed=appended.created,
        replayed=len(items) - appended.created,
    )


@operation(
    "GET",
    CONTEXT,
    answer=MessagePage,
    query=(ORDER, *PAGING),
    refusals=(problems.SESSION_NOT_FOUND, problems.MISDIRECTED, problems.PAYLOAD_MISSING),
)
def list_messages(request: Request[None]) -> Reply:
    """List the messages of a session in the order of their ids, which is the order of time.

    Contents above 300 KB are served by the session's home region alone (421 elsewhere).
    """
    order = requested_order(request)
    query = {"list": "context", "session": request.session_id, "order": order}
    page = request.store.context.page(
        request.caller,
        request.session_id,
        requested_page(request, MessagePosition, query=query, descending=order == "desc"),
        min_version=request.min_version,
    )
    items = [message_answer(message) for message in page.items]
    return Reply(value=MessagePage(items=items, next_cursor=encode_cursor(page.next, query=query)))

"""Whose memory a request is about, and which conversation: what the client says of both.

Nobody is put into a memory that is shared without anybody having said so. In this order it is that of a header, of the
address, of the request's metadata, of its user, of the server where one was set for it, of the project that a coding
agent works in, of the conversation alone, which then is the client's own: keys tell clients apart, and two of them may
call a conversation `main`. A request that tells neither is remembered apart, and given nothing.

A user has a namespace that no other id leads to (`namespace_part`); an id counts as it was sent, blanks and all. A
folder is no secret and nobody's: whoever names it shares its memory, and a digest tells honest clients apart. So a
project stays in the namespace that 0.2.0 gave it, where there is one (`RequestScope.earlier`), while a user's was
renamed when the store was brought to today's version (`engines.renamed`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.errors import InvalidInput, NotAllowed
from recollect.gateway.talk import Dialogue, words
from recollect.importers.reading.lenient import objects_of, text_of
from recollect.record import NodeId, changed_name, checked_id, is_within, namespace_part, stable_id
from recollect.record import namespace as checked
from recollect.text.clean import header_text

NAMESPACE, CONVERSATION = "x-recollect-namespace", "x-recollect-conversation"
STORE, BUDGET, WINDOW = "x-recollect-store", "x-recollect-budget", "x-recollect-window"
#: The headers that are for us alone, and go no further.
OURS = "x-recollect-"

#: Where requests go that tell neither user nor conversation.
APART = "apart"

_KEYS = {"recollect_namespace": NAMESPACE, "recollect_conversation": CONVERSATION, "recollect_store": STORE}
#: How the vendors' clients tell that they ask once more, and the same.
ATTEMPT, _RETRIES = "idempotency-key", "x-stainless-retry-count"
_KEYS_OF_CLIENTS = ("authorization", "x-api-key", "api-key")
#: Under which names clients tell their session.
_SESSIONS = ("x-claude-code-session-id", "x-openwebui-chat-id", "session_id", "session-id", "conversation_id")
_USERS = ("x-openwebui-user-id",)
_IN_USER_ID = re.compile(r"_session_([0-9a-f-]{16,})\Z")
_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_FOLDER = re.compile(
    r"(?:working directory(?: is)?|in the directory|workspace(?: is| path)?|project root|<cwd>)\s*:?\s*[`'\"]?"
    r"((?:/|[A-Za-z]:[\\/]|~/)[^\n<`'\"]+)",
    re.IGNORECASE,
)
_CWD = re.compile(r"<cwd>([^\n<]+)</cwd>")
_YES, _NO = ("", "yes", "on", "true", "1"), ("no", "off", "false", "0", "none")
_DIGITS = 15  # more tokens than these can count nobody has
_UNFIT = re.compile(r"[^\w.@+-]+")  # in 0.2.0


@dataclass(frozen=True, slots=True)
class RequestScope:
    """What a request asks of the memory. `why` says where the namespace comes from: header, address, metadata, user,
    server, project, conversation, apart.
    """

    namespace: str
    why: str
    conversation: NodeId | None = None
    stores: bool = True
    budget: int | None = None
    window: int | None = None
    client: str = ""  # by its key
    is_retried: bool = False
    attempt: str = ""  # what the client names all tries of one request
    earlier: str = ""  # what 0.2.0 called the namespace of a user or a project

    @property
    def recalls(self) -> bool:
        """Whether it is given anything."""
        return self.why != "apart"

    @property
    def realm(self) -> tuple[str, str]:
        """Within which requests may go on with each other: a namespace, and of those who are apart one client."""
        return self.namespace, "" if self.recalls else self.client


def read_scope(
    headers: Mapping[str, str],
    body: Mapping[str, Any],
    talk: Dialogue,
    *,
    address: str = "",
    own: str = "",
    within: Sequence[str] = (),
) -> RequestScope:
    """What a request asks for. Names of headers are in small letters; `address` is a namespace that the address names,
    `own` one that was set for all, `within` are those that the client may reach, with what is below them; none for all.
    Raises InvalidInput for a namespace or a conversation's name that is none, NotAllowed for one that it may not reach.
    """
    told = {**_in_metadata(body), **{name: header_text(value) for name, value in headers.items() if value}}
    conversation, client = _conversation(told, body), stable_id("client", *map(headers.get, _KEYS_OF_CLIENTS))
    namespace, why, earlier = _namespace(headers, told, body, talk, address, own)
    if not why and conversation:
        namespace, why = f"conversation/{stable_id('of', client, conversation)}", "conversation"
    return RequestScope(
        checked(_reached(namespace or APART, why, within)),
        why or "apart",
        conversation,
        stores=_switch(told, STORE) and _switch(_in_metadata(body), STORE),
        budget=_count(told, BUDGET),
        window=_count(told, WINDOW),
        client=client,
        is_retried=headers.get(_RETRIES, "0") not in ("", "0"),
        attempt=headers.get(ATTEMPT, ""),
        earlier=_reached(earlier, why, within) if earlier else "",
    )


def without_ours(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request without what was said to us in its metadata, which a provider would refuse; the very same where
    nothing was.
    """
    metadata = body.get("metadata")
    if not isinstance(metadata, Mapping) or not metadata.keys() & _KEYS.keys():
        return body
    rest = {key: value for key, value in metadata.items() if key not in _KEYS}
    bare = {key: value for key, value in body.items() if key != "metadata"}
    return {**bare, "metadata": rest} if rest else bare


def _in_metadata(body: Mapping[str, Any]) -> dict[str, str]:
    metadata = body.get("metadata")
    if not isinstance(metadata, Mapping):
        return {}
    return {header: str(metadata[key]) for key, header in _KEYS.items() if metadata.get(key) not in (None, "")}


def _namespace(
    headers: Mapping[str, str],
    told: Mapping[str, str],
    body: Mapping[str, Any],
    talk: Dialogue,
    address: str,
    own: str,
) -> tuple[str, str, str]:
    """The namespace, where it comes from, and what 0.2.0 called it where that may be something else."""
    if named := told.get(NAMESPACE):
        return named.strip(), "header" if headers.get(NAMESPACE) else "metadata", ""
    if address:
        return address, "address", ""
    if user := _user(told, body):
        return f"user/{namespace_part(user)}", "user", f"user/{_fit(user.strip())}"
    if own:
        return own, "server", ""
    if folder := _folder(body, talk):
        last = re.split(r"[\\/]", folder)[-1]
        earlier = f"project/{_fit(last)}-{stable_id('folder', folder)[-6:].lower()}"
        return f"project/{changed_name(last, folder)}", "project", earlier
    return "", "", ""


def _reached(namespace: str, why: str, within: Sequence[str]) -> str:
    """The namespace, where it may be reached; one that nobody named lies below the first of those that may."""
    if not within or is_within(namespace, within):
        return namespace
    if why in ("header", "metadata", "address"):
        raise NotAllowed(f"This token is not one of the namespace {namespace}.", hint=f"It is of {', '.join(within)}.")
    return f"{within[0]}/{namespace}"


def _user(told: Mapping[str, str], body: Mapping[str, Any]) -> str:
    metadata = body.get("metadata")
    of_metadata = text_of(metadata.get("user_id")) if isinstance(metadata, Mapping) else ""
    if _session_of(of_metadata):  # an agent's: it names a machine and a session rather than somebody
        of_metadata = ""
    found = (text_of(body.get("safety_identifier")), text_of(body.get("user")), of_metadata, *map(told.get, _USERS))
    return next((user for user in found if user and user.strip()), "")


def _conversation(told: Mapping[str, str], body: Mapping[str, Any]) -> NodeId | None:
    """The conversation that is named; an id of ours as it is."""
    if named := told.get(CONVERSATION, ""):
        name = checked_id(named, CONVERSATION)
        return name if _ULID.fullmatch(name) else stable_id("conversation", "proxy", name)
    kept = body.get("conversation")
    metadata = body.get("metadata")
    of_user = text_of(metadata.get("user_id")) if isinstance(metadata, Mapping) else ""
    sessions = (
        text_of(kept.get("id")) if isinstance(kept, Mapping) else text_of(kept),
        *map(told.get, _SESSIONS),
        _session_of(of_user),
    )
    return next((stable_id("conversation", "session", session) for session in sessions if session), None)


def _session_of(user_id: str) -> str:
    """The session in a user id as Claude Code makes it; empty where there is none."""
    if found := _IN_USER_ID.search(user_id):
        return found[1]
    if user_id.startswith("{"):
        try:
            value = json.loads(user_id)
        except ValueError:
            return ""
        return text_of(value.get("session_id")) if isinstance(value, dict) else ""
    return ""


def _folder(body: Mapping[str, Any], talk: Dialogue) -> str:
    """The folder that a coding agent says it works in."""
    found = _FOLDER.search(talk.system)
    if found is None:
        for item in objects_of(body.get("messages") or body.get("input"))[:4]:
            if found := _CWD.search(words(item.get("content"))):
                break
    return found[1].strip().rstrip("/\\.,") if found else ""


def _fit(name: str) -> str:
    """A name as 0.2.0 wrote it."""
    fit = _UNFIT.sub("-", name).strip("-")[:60] or "one"
    return fit if fit == name else f"{fit}-{stable_id('name', name)[-6:].lower()}"


def _switch(told: Mapping[str, str], header: str) -> bool:
    """Whether something is wanted. Who means no and is not understood must be told: it would be stored."""
    value = told.get(header, "").strip().lower()
    if value not in _YES + _NO:
        raise InvalidInput(f"{header}: {value!r} is neither yes nor no.", hint="Use yes or no.")
    return value in _YES


def _count(told: Mapping[str, str], header: str) -> int | None:
    value = told.get(header, "").strip()
    if not value:
        return None
    if not value.isdecimal() or len(value) > _DIGITS:
        raise InvalidInput(f"{header}: {value!r} is not a number of tokens.", hint="Use a whole number.")
    return int(value)

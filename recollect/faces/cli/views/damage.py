"""What `recollect check` says of an invariant that does not hold: the problem, in plain words."""

from __future__ import annotations

from recollect.store import Invariant

PROBLEMS = {
    Invariant.FILE_IS_WHOLE: "the file is damaged",
    Invariant.REFERENCES: "refers to something that is missing",
    Invariant.HAS_CONVERSATION: "the conversation is missing, and only its messages are left",
    Invariant.ONE_NAMESPACE: "its conversation is in another namespace",
    Invariant.HAS_PARENT: "the message before it is missing",
    Invariant.NO_CIRCLE: "comes before itself in the conversation",
    Invariant.POSITIONS: "messages of the conversation are missing",
    Invariant.ACTIVE_PATH: "shown, but the message before it is on another branch",
    Invariant.ACTIVE_END: "the last message is missing",
    Invariant.TOOL_CALL: "its message or result is missing",
    Invariant.TURN: "a question or an answer is missing",
    Invariant.TURNS_FOLLOW: "not linked to the question before it",
    Invariant.HAS_WHOLE: "part of a text that is missing",
    Invariant.CHUNKS_FOLLOW: "parts of the text are missing, or overlap",
    Invariant.ERASED: "forgotten, but some of its text is left",
    Invariant.EDGES: "a link of the graph is not drawn",
    Invariant.FINDABLE: "missing from the search index",
    Invariant.UPGRADED: "not yet in the search index after an upgrade",
    Invariant.DELETED: "deleted, but still in the search index",
    Invariant.LEADS_SOMEWHERE: "in the search index, but nowhere else",
    Invariant.ONCE: "twice in the search index",
    Invariant.IN_ONE_PLACE: "a part of the search index is lost",
    Invariant.HAS_WORDS: "not found by phrases",
    Invariant.WORDS_READABLE: "the text part of the search index is damaged",
    Invariant.TAIL_READABLE: "the newest part of the search index is damaged",
    Invariant.SEGMENTS_READABLE: "a part of the search index is damaged",
    Invariant.QUALITY: "incomplete in the quality mode",
    Invariant.PIECES_COUNTED: "counted wrongly in the quality mode",
    Invariant.SPEAKERS: "no longer speaks anywhere, but is still in the search index",
    Invariant.NOTHING_LEFT: "left over from an earlier search index",
}

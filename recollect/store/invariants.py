"""What holds in every store, whichever engine keeps it: `check` tells of each where it does not."""

from __future__ import annotations

from enum import StrEnum


class Invariant(StrEnum):
    """An invariant, in the words in which it is reported. An engine checks those that its form lets break."""

    # --- of the record: only a copy mends what is wrong with it
    FILE_IS_WHOLE = "the file is whole"
    REFERENCES = "no row refers to a missing one"
    HAS_CONVERSATION = "every message has its conversation"
    ONE_NAMESPACE = "a message and its conversation are of one namespace"
    HAS_PARENT = "the parent of a message is a message of the same conversation"
    NO_CIRCLE = "no message answers itself, by whatever detour"
    POSITIONS = "the positions of a conversation run from 0 without gap"
    ACTIVE_PATH = "the parent of an active message is active"
    ACTIVE_END = "the active path ends at the conversation's last message"
    TOOL_CALL = "a tool call belongs to a message, and names a result that is there"
    TURN = "a turn names messages that are there"
    TURNS_FOLLOW = "turns follow each other"
    HAS_WHOLE = "a chunk has its parent"
    CHUNKS_FOLLOW = "the chunks of a text follow each other without gap"
    ERASED = "what was erased has no words left"
    EDGES = "an edge whose ends are both there is drawn"

    # --- of what is derived for search: it is made anew from the record
    FINDABLE = "what has words is in the search index"
    UPGRADED = "the messages of an older version are in the search index"
    DELETED = "what is deleted is not in the search index"
    LEADS_SOMEWHERE = "the search index leads to things that are there"
    ONCE = "nothing is in the search index twice"
    IN_ONE_PLACE = "every passage is in one segment or in the tail"
    HAS_WORDS = "every passage has its words"
    WORDS_READABLE = "the words of the search index can be read"
    TAIL_READABLE = "the tail of the search index can be read"
    SEGMENTS_READABLE = "the segments of the search index can be read"
    QUALITY = "quality vectors belong to passages, and come with their tokens"
    PIECES_COUNTED = "the passages with word pieces are counted"
    SPEAKERS = "who speaks is known by living passages"
    NOTHING_LEFT = "nothing is left of generations that are gone"

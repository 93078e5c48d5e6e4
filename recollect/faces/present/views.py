"""What each thing looks like outside: one view of each, which `--json`, REST, MCP and the pages dump."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any

from recollect.record import NOTHING, Message, iso


@dataclass(frozen=True, slots=True)
class RecordView:
    """What a record's JSON is made of: members by name, or as `name=path`. A path leads through attributes and places:
    `conversation.id`, `0`, `said.*.id` (the ids of all), `str()` (in words). `*` is every field of the record that is
    not named otherwise, `-name` leaves one out, `name?` is None where there is none. `name:View` shows it as another
    view than that of its class; a list so is `name.*:View`.

    `of` is the name of the record's class, with its module where classes share it; else that of the view. For the
    description of the API: `doc` where it is not that of the class, `told` of members, and `types` where these are not
    those of the record.
    """

    members: str = "*"
    doc: str = ""
    of: str = ""
    told: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    before: Callable[[Any], Any] | None = None  # gives what is shown in place of a record

    def read(self, record: type) -> Iterator[ViewMember]:
        """The members, of records of a class."""
        named = [_member(word) for word in self.members.split()]
        taken = {one.path.removesuffix(".*") for one in named}
        for one in named:
            if one.name == "*":
                yield from (ViewMember(each.name, each.name) for each in fields(record) if each.name not in taken)
            elif not one.name.startswith("-"):
                yield one


class ViewModel:
    """What is made to be shown: a dataclass that is its own view, called as its class without "View"."""


@dataclass(frozen=True, slots=True)
class ViewMember:
    """A member of a view, the path that leads to it, and the view that it is shown as."""

    name: str
    path: str
    view: str = ""
    is_optional: bool = False


def _member(word: str) -> ViewMember:
    word, _, view = word.partition(":")
    name, _, path = word.rpartition("=")
    optional, path = (name or path).endswith("?"), path.removesuffix("?")
    name = name.removesuffix("?") or path.removesuffix(".*").rpartition(".")[2]
    return ViewMember(name, path.removeprefix("-"), view, optional)


def as_json(thing: Any, view: str = "") -> Any:
    """What is to be shown, as JSON values: by a view, by its own `to_json`, or by the view of its class. Times are ISO
    8601 in UTC.
    """
    if isinstance(thing, Enum):
        return thing.value
    if thing is None or isinstance(thing, str | int | float):
        return thing
    if isinstance(thing, datetime):
        return iso(thing)
    if isinstance(thing, date):
        return thing.isoformat()
    if isinstance(thing, PurePath):
        return str(thing)
    if isinstance(thing, Mapping):
        return {str(name): as_json(value) for name, value in thing.items()}
    if isinstance(thing, list | set | frozenset) or (isinstance(thing, tuple) and not view):
        return [as_json(one, view) for one in thing]
    if not view and hasattr(thing, "to_json"):
        return thing.to_json()
    members, before = _reading(view, type(thing))  # type: ignore[arg-type] # a class can be hashed
    shown = thing if before is None else before(thing)
    return {one.name: as_json(follow(shown, one.path, is_optional=one.is_optional), one.view) for one in members}


@cache
def _reading(view: str, record: type) -> tuple[list[ViewMember], Callable[[Any], Any] | None]:
    """What is read of the records of a class, and what is done to them before."""
    name, owner = (view, record) if view else view_of(record)
    found = VIEWS.get(name, _WHOLE)
    return list(found.read(owner)), found.before


def view_of(record: type) -> tuple[str, type]:
    """The view of a class, and the class above it whose it is. Raises TypeError where it has none: not everything that
    is kept is shown.
    """
    if issubclass(record, ViewModel):
        return record.__name__.removesuffix("View"), record
    for owner in record.__mro__:
        package, _, module = owner.__module__.rpartition(".")
        if not package.startswith("recollect"):
            break
        if found := _OF_CLASS.get(f"{module}.{owner.__name__}") or _OF_CLASS.get(owner.__name__):
            return found, owner
    raise TypeError(f"{record.__name__} has no view")


def follow(thing: Any, path: str, *, is_optional: bool = False) -> Any:
    """What a path leads to."""
    step, _, rest = path.partition(".")
    if step == "*":
        return [follow(one, rest) for one in thing] if rest else list(thing)
    if step == "str()":
        return str(thing)
    found = thing[int(step)] if step.isdigit() else getattr(thing, step, None) if is_optional else getattr(thing, step)
    return follow(found, rest) if rest and found is not None else found


def without_words(message: Message) -> Message:
    """A message as it is shown: of what was deleted only the place."""
    if not message.deleted:
        return message
    return replace(message, content="", speaker=None, model=None, parts=(), versions=(), metadata=NOTHING)


_PROVENANCE = 'Where it comes from: "said" in messages, "stored" by a program, "by hand", "imported".'
_PLACES = "Where the matches are in `snippet`: start and end, in characters."
_NEXT = "Give it as `cursor` to get what follows; null at the end."
_DOCUMENT = {
    "path": "Where the file was when it was imported.",
    "versions": "How many earlier wordings are kept.",
}
_MARKS = {"marks": "list[tuple[int, int]]"}

#: All views, by the names of the API's schemas.
VIEWS: Mapping[str, RecordView] = {
    # conversations and messages
    "Conversation": RecordView(
        "* -metadata -erased",
        "A conversation, without what is in it.",
        told={"leaf_id": "The end of the path that is shown first."},
    ),
    "ConversationRow": RecordView(
        "conversation.id conversation.source_id conversation.title conversation.source conversation.created "
        "conversation.updated messages",
        "A conversation of a list.",
        told={"messages": "How many there are that are not deleted."},
    ),
    "Message": RecordView(
        "* index=position edited is_chunk chunk_index? chunk_parent_id?",
        "A message, or a piece of a long one (`is_chunk`). Of what was deleted or forgotten only the place is shown.",
        told={
            "index": "Its place in the conversation, from 0.",
            "active": "Whether it is on the path that is shown first.",
            "tokens": "About how many tokens it costs in a model's context.",
            "versions": "Earlier wordings, the oldest first.",
        },
        types={"chunk_index": "int | None", "chunk_parent_id": "str | None"},
        before=without_words,
    ),
    "Part": RecordView("kind name text", "What hangs on a message besides its words."),
    "Version": RecordView(),
    "ToolCall": RecordView(
        "* -position -metadata is_chunk chunk_index? chunk_parent_id?",
        "A call of a tool, with its result.",
        types={"chunk_index": "int | None", "chunk_parent_id": "str | None"},
    ),
    "Turn": RecordView("* -conversation_id -source_chunk_ids", "A question with the answers to it."),
    "Chunk": RecordView(told={"part": "-1: the parent's own text; else the number of the part."}),
    "Thread": RecordView(doc="A conversation with everything in it."),
    "DeletedRow": RecordView(
        "conversation_id=conversation.id conversation.title whole messages=messages.*.id",
        "A conversation of which something was deleted softly.",
        told={
            "whole": "Whether nothing of it is left to be seen.",
            "messages": "The ids of those messages, in order.",
        },
    ),
    # what a search finds
    "Found": RecordView(
        "query took_ms mode signals total total_exact with_words suggestion corrected close likelihood facets? "
        "notes derived documents results=hits next",
        "The results, best first, with how they were found.",
        of="SearchResults",
        told={
            "total": "How many conversations or messages can be had, page by page.",
            "total_exact": "If not, more may come near in meaning.",
            "with_words": "How many of `total` hold a word of the query: all that do.",
            "suggestion": "A query that may have been meant, and was not searched.",
            "corrected": "The query that was searched in place of one with a typo.",
            "close": "False if nothing in the memory is close to the question.",
            "likelihood": "From 0 to 1: how likely the memory holds an answer.",
            "next": _NEXT,
        },
        types={"next": "str | None"},
    ),
    "Hit": RecordView(
        "conversation:FoundConversation score window messages best.why",
        "One result: a conversation with the messages that matched, in reading order; or one message.",
    ),
    "FoundConversation": RecordView(
        "id source_id title source created message_count",
        "The conversation of a hit.",
        of="Conversation",
        types={"message_count": "int"},
    ),
    "FoundMessage": RecordView(
        "message.id message.source_id index=message.position message.role message.kind message.speaker "
        "message.timestamp message.tokens message.active score snippet=snippet.text snippet.marks why beside?:Beside "
        "chunk_id? chunk_ids? tool_call_id? copies?",
        "A message that matched.",
        of="MessageHit",
        told={
            "index": "Its place in the conversation, from 0.",
            "score": "Comparable within one search.",
            "marks": _PLACES,
            "chunk_id": "Of a long message: the piece that matched best.",
            "chunk_ids": "Of a long message: all pieces that matched, best first.",
            "copies": "Near-identical messages that this one stands for.",
        },
        types=_MARKS,
    ),
    "Beside": RecordView(
        "id source_id index=position role",
        "The answer to a question that was found, or the question to an answer.",
        of="Message",
    ),
    "Window": RecordView("start end", "The run of messages that matched best, both ends included."),
    "Why": RecordView(
        doc="Why something was found.",
        told={
            "rank": "Its place among all that was found, from 0.",
            "terms": "What each part of the ranker added to the score.",
            "words": "The words of the question that it holds.",
            "found_in": "As in said, attachment, document, title.",
        },
    ),
    "Derived": RecordView(
        "* -conversation messages.*:DerivedMessage",
        "A fact or a summary that answers.",
        of="DerivedHit",
        told={"kind": "As in fact.", "extractive": "Whether it quotes the messages."},
    ),
    "DerivedMessage": RecordView(
        "id conversation_id index=position timestamp",
        "A message that a fact or a summary was made of.",
        of="Message",
    ),
    "FoundDocument": RecordView(
        "document.id document.title document.source path document.created place.page place.heading place.line start "
        "end at score snippet=snippet.text snippet.marks why",
        "A file that answers, by its best chunk.",
        of="DocumentHit",
        types={"path": "str | None", **_MARKS},
    ),
    "Spread": RecordView(
        "* -by_conversation",
        'How many messages there are, in all and by what they can be filtered by. Months are "2024-03", in UTC.',
        of="FacetCounts",
    ),
    "Facets": RecordView(
        "* -by_conversation",
        "The messages that hold a word of the query: all of them, counted exactly.",
        told={
            "related": "Results that hold none and come near in meaning, as far as a search reaches.",
            "all_months": "What was said in each month, whether it matches or not.",
        },
    ),
    "FoundText": RecordView(
        doc="A text that was found, as a model's tool has it: `id` opens it, `tokens` is what that costs.",
        told={
            "type": "message, tool_call or document.",
            "chunk_ids": "All pieces of a long message that matched, best first.",
        },
    ),
    # what is derived
    "Fact": RecordView(
        "* -corrected structured",
        "A distilled statement. `valid_…` is when it held, `known_…` when it was believed; where nobody told when it "
        "began or ended (`…_told`), `valid_…` is when it was said, and when something else was.",
        told={
            "provenance": "said, stored, imported, by hand.",
            "history": "The facts that it took the place of, newest first.",
        },
    ),
    "Proof": RecordView("message=message_id quote said_by said_at", "A message that proves a fact."),
    "StructuredValue": RecordView(
        doc="A value in figures: a dose, a test result, a sum, an amount or a date.",
        of="Structured",
        told={
            "kind": "dose, result, money, date, number, or what is measured: mass, duration …",
            "numbers": "One, or the two ends of a range.",
            "currency": "An ISO code; a sign that several currencies have stays a sign.",
            "of": "The medicine, or what was tested.",
            "date": "A date, month or year; --05-03 has no year.",
        },
        types={"numbers": "list[int | float]"},
    ),
    "Entity": RecordView(
        "* -ids", "Somebody or something that messages mention, or that was added.", told={"provenance": _PROVENANCE}
    ),
    "Alias": RecordView(),
    "Relation": RecordView(
        "source relation=name target * -source_id -target_id",
        "That one entity stands in a relation to another. `evidence` are messages that say so, the newest first.",
        told={
            "weight": "By how many messages.",
            "since": "When it began to hold, of what a fact says.",
            "since_told": "Whether somebody told when it began; else it is when it was said.",
            "said": "When it was said last, of what a fact says.",
            "fact": "The fact that says so; else messages do.",
            "provenance": _PROVENANCE,
        },
    ),
    "Graph": RecordView("entity=center *", "What lies around an entity."),
    "Path": RecordView("text=str() *", "A way from one entity to another."),
    "Paths": RecordView(doc="The shortest ways between two entities; where there is none, what each is next to."),
    "Topic": RecordView(doc="What many conversations are about."),
    "Segment": RecordView(
        doc="A run of turns of a conversation about one thing. `message_id` is the first of its messages.",
        of="TopicSegment",
    ),
    "Summary": RecordView(
        doc="What messages come down to.",
        told={
            "kind": "conversation, l1, l2, segment, period or topic.",
            "conversations": "Of an `l1` or `l2` of short conversations these, in order.",
            "covers": "Ids of what it was made of: messages, of an `l2` its `l1`.",
        },
    ),
    # by time
    "Timeline": RecordView(
        "days.*:DayCount *", "All that was said, by time.", told={"undated": "Messages without a time."}
    ),
    "DayCount": RecordView("day=0 messages=1", "How much was said on a day, in UTC."),
    "Band": RecordView(),
    "TopicMonth": RecordView(),
    "Day": RecordView(
        "day messages rows", "The conversations of a day, in the order in which they were begun that day."
    ),
    "DayRow": RecordView(
        "conversation_id=conversation.id conversation.title conversation.source first messages",
        "What was said of a conversation on a day.",
        told={"first": "The id of the earliest of these messages."},
    ),
    # answers
    "Answer": RecordView(
        "question intent known likelihood answer=text citations removed notes model tokens=usage cost took_ms",
        "An answer with numbered citations. `known` is false if the conversations do not say.",
        of="AskAnswer",
        told={"model": "Null: an extract, no model was asked."},
        types={"intent": "str"},
    ),
    "Citation": RecordView(
        "n=number conversation:CitedConversation document cited message:CitedMessage quote start end",
        "What proves the words before its number: `quote` stands at `start` to `end` of its message or document.",
        types={"document": "str | None", "message": "CitedMessage | None"},
    ),
    "CitedConversation": RecordView("id title source created", "The conversation of a citation.", of="Conversation"),
    "CitedMessage": RecordView(
        "id source_id index=position role timestamp", "The message of a citation.", of="Message"
    ),
    "Tokens": RecordView("input=input_tokens output=output_tokens calls", "What a model was asked.", of="Usage"),
    "Step": RecordView(doc="What was done on the way."),
    "Report": RecordView(
        "id question title created known report=text plan=parts planned_by citations missing removed notes model "
        "tokens=usage cost steps took_ms",
        "A report in Markdown, with its sources; saved as the document `id`.",
    ),
    "PlannedPart": RecordView(doc="A search of the plan as it went.", of="ReportPart"),
    "SavedReport": RecordView(
        doc="A report that is kept, or research that was interrupted or is `under_way` (`finished` is null)."
    ),
    "ChatAnswer": RecordView(
        "conversation_id question_id answer_id question resolved references entities drifted answer=text model note "
        "sources tools tokens=usage cost took_ms",
        "A whole turn. `model` and `answer_id` are null where no model is set.",
        of="ChatAnswer",
    ),
    "Reference": RecordView("said meant", "A reference that was resolved."),
    "ChatSource": RecordView(
        "number message_id document_id conversation_id title role timestamp=message.timestamp score used=is_used "
        "snippet",
        "What the answer was drawn from, or may be.",
        of="SourcePassage",
        types={
            "message_id": "str | None",
            "document_id": "str | None",
            "conversation_id": "str | None",
            "role": "str",
        },
    ),
    "ToolUsed": RecordView(doc="A tool that the model called."),
    "Words": RecordView(of="AnswerWords"),
    "Again": RecordView("why"),
    "Context": RecordView(
        "tokens budget index_form relevant took_ms=took degraded parts messages",
        "What a model needs to answer, within a budget. `messages` go to it as they are.",
        types={"index_form": "str"},
    ),
    "ContextPart": RecordView("name tokens ids text", "A part of a context."),
    "Brief": RecordView(doc="What matters for work in a folder. `text` is empty where nothing was said there."),
    "Requested": RecordView(
        "at by conversation_id message_id text tokens parts",
        "What a request was given of the memory. `message_id` is what was asked, where that is stored.",
        types={"by": "str"},
    ),
    "RequestPart": RecordView(
        "name tokens items",
        "A part of what a request was given.",
        of="Given",
        types={"items": "list[RequestItem]"},
    ),
    "RequestItem": RecordView("* used=is_used", "Something that stood in a request; `used`: it may again."),
    "Counts": RecordView(
        "* kinds=by_kind sources=by_source derived=by_node",
        "What is in the namespace.",
        told={"quality": "How many of the `said_passages` have quality vectors."},
    ),
    # what is imported, and what goes
    "ImportReport": RecordView(
        "sources stored:Stored written documents forgotten apart problems notes",
        "What an import did.",
        told={
            "forgotten": "Conversations that were left out because you forgot them.",
            "apart": "Conversations that came with the id of another, and are kept as their own.",
        },
    ),
    "ImportSource": RecordView(
        "label path=container files",
        "What was found in one archive, folder or file.",
    ),
    "Stored": RecordView(
        "conversations messages active tool_calls attachments kinds=by_kind sources=by_source",
        "What is in, counted by reading it back.",
        of="Counts",
    ),
    "Written": RecordView("new changed same", "What came of conversations or documents.", of="WrittenThreads"),
    "ImportProblem": RecordView(doc="What could not be read, or (`lost` is false) only in part.", of="Problem"),
    "DocumentReport": RecordView(
        "* -skipped",
        "What an import of documents did.",
        told={"removed": "Documents that are files no longer."},
    ),
    "FoundFiles": RecordView(of="FoundSource"),
    "Round": RecordView("taken left_out kept_out problems failed=failed.*.str()"),
    "PlaceImport": RecordView(
        "label sources=report.sources.*.label report.written.new report.written.changed report.written.same "
        "report.written.messages seconds"
    ),
    "Progress": RecordView("label read total conversations messages", of="importing.Progress"),
    "Forgotten": RecordView(
        "removed? *",
        "What goes. `conversations` go whole; `touched` counts all that lose anything, `titles` names twenty of them.",
        told={
            "removed": "False for a dry run, and where nothing matches.",
            "nodes": "Facts, summaries and other notes that were derived from it.",
            "derived": "What was made of it and goes with it or is made anew, by kind.",
        },
        types={"removed": "bool"},
    ),
    "StoredSecret": RecordView(
        doc="A secret that is stored, told without its words.",
        told={
            "where": "title, message, tool_call, turn, document, fact, summary …",
            "id": "Of what holds it; of a tool call or a turn that of its message.",
        },
    ),
    "TakenOut": RecordView(
        "removed? *",
        "What goes: so many different secrets, from so many messages and other records.",
        told={"removed": "False for a dry run, and where there is none."},
        types={"removed": "bool"},
    ),
    "Person": RecordView(
        "removed names said=said.*.id mentions=mentions.*.id documents=documents.*.id titles facts derived",
        "What there is of a person, in three groups: what they said, what others say of them, what was derived.",
        told={
            "removed": "False for a dry run.",
            "names": "Their usual name, then others that are taken for theirs.",
            "said": "The ids of their messages.",
            "mentions": "The ids of messages of others that name them.",
            "documents": "The ids of documents that name them.",
            "titles": "Titles of conversations that name them.",
            "facts": "The ids of facts that name them.",
            "derived": "What was made of their messages, by kind.",
        },
    ),
    # the store and the work in the background
    "Violation": RecordView(doc="An invariant that does not hold.", types={"invariant": "str"}),
    "Health": RecordView(
        doc="What came of a real search.",
        of="Probe",
        told={"message_id": "Of what was searched for; null where there is nothing."},
    ),
    "Spent": RecordView(),
    "Estimate": RecordView(doc="What something will take of a model."),
    "Backlog": RecordView(doc="What waits for the model that is set."),
    "Consolidated": RecordView(
        doc="What was derived.",
        told={"later": "Failed, and will be tried again.", "dead": "Failed for good."},
    ),
    "Worked": RecordView(doc="What a worker did.", of="Done"),
    "ToolAnswer": RecordView("text is_error tokens", "What a model is given back."),
    # what is made to be shown (results.py)
    "Page": RecordView(told={"next": _NEXT}),
    "Cluster": RecordView(
        told={"next": _NEXT, "summary": "What all of them come down to, with the first of them; else empty."}
    ),
    "DocumentRow": RecordView(told=_DOCUMENT),
    "Document": RecordView(told=_DOCUMENT),
    "Task": RecordView(told={"reason": "Why it failed last."}),
    "Index": RecordView(told={"quality": "Whether any passage has quality vectors."}),
    "Store": RecordView(
        told={
            "layout": "The version of its layout.",
            "embedder": "In use.",
            "stored_embedder": "That made the vectors of this namespace.",
            "version": "Of Recollect.",
        }
    ),
}
_WHOLE = RecordView()
_OF_CLASS = {view.of or name: name for name, view in reversed(tuple(VIEWS.items()))}

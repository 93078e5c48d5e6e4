"""Whatever is done, in whatever order: once everything due is done, what is derived is what a rebuild would make."""

from __future__ import annotations

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from recollect.record import Kind, Message
from tests.derive.histories import Clock, broken, derived, opened, rebuilt
from tests.exports import chat, export
from tests.properties import examples

#: What is said. Each message has a word of its own put in, which must be nowhere once the message is gone.
SAYINGS = st.sampled_from(
    [
        "I am allergic to {}.",
        "My dog is called {}.",
        "We moved to {} in May.",
        "I live in {}.",
        "My daughter {} starts school on Monday.",
        "We use {} for the project, and it replaces PostgreSQL.",
        "Luna takes 5 mg of {} every morning, and she is anxious when we leave.",
        "Where did I put the {}?",
        "Please write a poem about {} and the sea.",
        "{}",
    ]
)
MANY = 12  # exchanges: enough for a tactical summary


class Histories(RuleBasedStateMachine):
    """One memory, its worker, and everything that may happen to both."""

    said = Bundle("said")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock, self.number = Clock(), 0
        self.words: dict[str, str] = {}  # by message: the word of its own
        self.memory = opened(self.folder / "memory.db", self.clock)

    def teardown(self) -> None:
        try:
            self.consolidate()
        finally:
            self.memory.close()
            shutil.rmtree(self.folder)

    def word(self) -> str:
        self.number += 1
        return f"Zq{self.number}x"

    def say(self, saying: str, role: str = "user", **more: str) -> Message:
        self.clock.move(3)
        word = self.word()
        message = self.memory.store_message(saying.format(word), role, timestamp=self.clock(), **more)
        self.words[message.id] = word
        return message

    # --- what people do --------------------------------------------------------------------------------------------
    @rule(target=said, saying=SAYINGS)
    def begin(self, saying: str) -> Message:
        return self.say(saying)

    @rule(target=said, before=said, saying=SAYINGS, role=st.sampled_from(["user", "assistant"]))
    def append(self, before: Message, saying: str, role: str) -> Message:
        return self.say(saying, role, conversation_id=before.conversation_id)

    @rule(target=said, before=said, sayings=st.lists(SAYINGS, min_size=MANY, max_size=2 * MANY))
    def talk_on(self, before: Message, sayings: list[str]) -> Message:
        for saying in sayings:
            last = self.say(saying, conversation_id=before.conversation_id)
            self.say("I see: {}. Have you tried a longer walk?", "assistant", conversation_id=before.conversation_id)
        return last

    @rule(target=said, before=said, saying=SAYINGS)
    def branch(self, before: Message, saying: str) -> Message:
        return self.say(saying, conversation_id=before.conversation_id, parent_id=before.id)

    @rule(message=said, saying=SAYINGS)
    def edit(self, message: Message, saying: str) -> None:
        if self.there(message) is not None:
            word = self.word()
            self.memory.update_message(message.id, saying.format(word))
            self.words[message.id] = word

    @rule(message=said)
    def delete(self, message: Message) -> None:
        if self.there(message) is not None:
            self.memory.delete(message.id)

    @rule(message=said)
    def restore(self, message: Message) -> None:
        if self.there(message) is not None:
            self.memory.restore(message.id)

    @rule(message=said)
    def forget(self, message: Message) -> None:
        found = self.there(message)
        if found is not None and not found.deleted:
            self.memory.forget(message.id)

    @rule(sayings=st.lists(st.tuples(st.integers(0, 3), SAYINGS), min_size=1, max_size=8), day=st.integers(0, 2))
    def bring_in(self, sayings: list[tuple[int, str]], day: int) -> None:
        """An export of some day, which grows, shrinks and is edited from one to the next."""
        words = [saying.format(f"Zi{number}y") for number, saying in sayings]
        updated = self.clock().timestamp() + 86_400 * day
        self.memory.import_file(export(self.folder, [chat(*words, name="brought", updated=updated)]))

    # --- what happens to the worker --------------------------------------------------------------------------------
    @rule(most=st.integers(1, 3))
    def a_worker_takes_tasks_and_dies(self, most: int) -> None:
        self.memory.handle.space.claim("the late", ["conversation", "period", "topics"], most, timedelta(minutes=5))

    @rule(minutes=st.sampled_from([-600, -5, 10, 600, 60 * 24 * 8]))
    def the_clock_jumps(self, minutes: int) -> None:
        self.clock.move(minutes)

    @rule()
    def a_worker_does_what_it_can(self) -> None:
        self.memory.upkeep.consolidate()

    @rule()
    def crash_and_reopen(self) -> None:
        self.memory.close()
        self.memory = opened(self.folder / "memory.db", self.clock)

    @rule()
    def consolidate(self) -> None:
        self.clock.catch_up()  # the leases of the dead run out
        self.memory.upkeep.consolidate()
        assert broken(self.memory, self.gone(), self.aside()) == []
        assert derived(self.memory, self.clock) == rebuilt(self.memory, self.folder, self.clock)

    @invariant()
    def the_store_is_whole(self) -> None:
        assert self.memory.upkeep.check() == []

    # --- what is true ----------------------------------------------------------------------------------------------
    def there(self, message: Message) -> Message | None:
        return next(iter(self.memory.messages([message.id])), None)

    def aside(self) -> frozenset[str]:
        """Words of messages in branches that are not shown."""
        living = [m for m in self.memory.messages(list(self.words)) if not m.active and not m.deleted]
        return frozenset(self.words[m.id] for m in living)

    def gone(self) -> set[str]:
        """Words of messages that do not count: deleted, forgotten, replaced, or off the path that is shown."""
        counting = {
            m.id for m in self.memory.messages(list(self.words)) if m.kind is Kind.SAID and m.active and not m.deleted
        }
        kept = {word for message_id, word in self.words.items() if message_id in counting}
        return {f"Zq{number}x" for number in range(1, self.number + 1)} - kept


#: Long histories shrink for minutes; as they are found they can be read.
UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)


def test_whatever_is_done_what_is_derived_is_what_a_rebuild_makes() -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Histories, settings=settings(max_examples=examples(10), stateful_step_count=15, phases=UNSHRUNK)
    )

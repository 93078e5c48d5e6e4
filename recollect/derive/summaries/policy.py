"""When something is summarised, where it is cut and how long a summary gets: all thresholds in one place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What decides about summaries beside the messages. The defaults are those of the seeds where they name any."""

    # An exchange is a question with what answers it.
    longest_exchange: int = 8  # messages; an agent that works on alone is cut into several
    session_gap: timedelta = timedelta(hours=6)  # of silence, after which a new session begins

    # L1 [1]: a run of exchanges.
    gathered: int = 10  # exchanges that wait, and then are cut; also the longest run
    shortest_run: int = 5
    reach: int = 3  # exchanges on each side of a cut that are compared
    natural: float = 0.5  # how strong a boundary must be to cut there, from 0 to 1
    topic_drop: float = 0.3  # fall of likeness across a boundary that is as good as the end of a session
    looked_at: int = 600  # characters of a message that its topic is told by

    # L2 [1]: a block of L1 summaries.
    block: int = 3

    # Conversation [0] and period [4].
    more_than: int = 5  # messages
    quiet: timedelta = timedelta(minutes=15)  # before a model is asked about a conversation that goes on

    # The length of an extract: a share of what it covers, within bounds, in characters.
    share: float = 0.1
    shortest: int = 500
    longest: int = 1_600
    longest_of_block: int = 2_000

    # What is looked at of a message to extract from it.
    most_characters: int = 12_000  # the rest of a huge one is left out in the middle
    most_sentences: int = 40  # of one message, two thirds of them from its beginning
    longest_sentence: int = 320  # characters; longer ones are cut in pieces

    # The parts of a summary.
    themes: int = 6
    of_each: int = 4  # concerns, actions, progressions …

    def length(self, characters: int) -> int:
        """How long the extract of so many characters may be."""
        return max(self.shortest, min(self.longest, round(characters * self.share)))


DEFAULT = Policy()

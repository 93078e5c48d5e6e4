"""The sample archive: some hundred conversations of an invented person, for the demo, the tests and the benchmarks."""

from recollect.sample.archive import SampleConversation, SampleMessage, conversations, write_archive

__all__ = ["SampleConversation", "SampleMessage", "conversations", "write_archive"]

"""The sample archive: 119 conversations of an invented person, for demo, tests and benchmarks."""

from recollect.sample.archive import SampleConversation, SampleMessage, conversations, write_archive

__all__ = ["SampleConversation", "SampleMessage", "conversations", "write_archive"]

"""Everything derived from messages in the background, exactly once: summaries, facts, entities, topics."""

"""The briefing that a coding agent gets at the start of a session in a folder."""

from recollect.context.brief.brief import LEAST_TOKENS, TOKENS, Brief, brief_of

__all__ = ["LEAST_TOKENS", "TOKENS", "Brief", "brief_of"]

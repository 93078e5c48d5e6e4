"""The weights of the ranker's modes: fixed, rounded by hand, never fitted to single questions.

P: messages of people among themselves. U, A: a user's and an assistant's messages in a chat with an assistant.

A question that speaks of the asker ("what did I decide?") is answered by what the user said: INSTANT and QUALITY. One
that does not ("how to cap parallel calls in python") may as well be answered by the assistant, and is known by its
meaning more than by its words: the TOPIC variants, which differ in the terms of U and A alone
(docs/decisions/003-ranking.md tells what was measured).
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Weights:
    """One weight a term."""

    coverage_p: float
    windows_p: float
    windows_ua: float
    bm25_ua: float
    late_p: float
    late_window_p: float
    late_ua: float
    late_window_ua: float
    next_bm25_u: float
    two_away_bm25_p: float
    previous_question: float
    session_bm25: float
    session_dense_p: float
    session_dense_ua: float
    session_similarity: float
    length_p: float
    length_a: float
    asks_p: float
    only_speaker: float
    first_speaker: float
    user: float
    assistants_words: float
    user_summary: float
    user_how_to: float
    instruction: float
    instruction_how_to: float
    preference_how_to: float
    never: float
    when_time: float
    many_number: float
    where_place: float
    date_inside: float
    date_near: float
    coverage_ua: float = 0.0
    dense_ua: float = 0.0
    similarity_ua: float = 0.0
    previous_dense_a: float = 0.0
    title_ua: float = 0.0


#: No model but the static vectors.
INSTANT = Weights(
    coverage_p=0.40,
    windows_p=0.28,
    windows_ua=0.45,
    bm25_ua=0.30,
    late_p=0.0,
    late_window_p=0.0,
    late_ua=0.0,
    late_window_ua=0.0,
    next_bm25_u=0.10,
    two_away_bm25_p=0.05,
    previous_question=0.20,
    session_bm25=0.20,
    session_dense_p=0.14,
    session_dense_ua=0.14,
    session_similarity=0.0,
    length_p=0.35,
    length_a=-0.30,
    asks_p=-0.65,
    only_speaker=1.3,
    first_speaker=1.0,
    user=1.0,
    assistants_words=1.1,
    user_summary=-3.0,
    user_how_to=1.2,
    instruction=1.0,
    instruction_how_to=2.9,
    preference_how_to=2.8,
    never=1.2,
    when_time=0.8,
    many_number=0.8,
    where_place=0.8,
    date_inside=2.0,
    date_near=2.2,
    title_ua=13.0,
)

#: With MiniLM vectors and late interaction over the best of INSTANT.
QUALITY = Weights(
    coverage_p=0.19,
    windows_p=0.0,
    windows_ua=0.10,
    bm25_ua=0.10,
    late_p=0.32,
    late_window_p=0.55,
    late_ua=0.45,
    late_window_ua=0.12,
    next_bm25_u=0.0,
    two_away_bm25_p=0.06,
    previous_question=0.12,
    session_bm25=0.16,
    session_dense_p=0.0,
    session_dense_ua=0.0,
    session_similarity=0.34,
    length_p=0.12,
    length_a=-0.30,
    asks_p=-0.75,
    only_speaker=1.6,
    first_speaker=1.15,
    user=1.0,
    assistants_words=1.05,
    user_summary=-3.0,
    user_how_to=1.2,
    instruction=1.15,
    instruction_how_to=2.65,
    preference_how_to=2.8,
    never=0.8,
    when_time=0.6,
    many_number=0.65,
    where_place=0.65,
    date_inside=1.95,
    date_near=2.1,
    title_ua=4.0,
)

INSTANT_TOPIC = replace(
    INSTANT,
    user=0.0,
    coverage_ua=0.4,
    windows_ua=0.75,
    dense_ua=0.3,
    previous_dense_a=0.4,
    session_dense_ua=0.44,
    length_a=-0.15,
)

QUALITY_TOPIC = replace(QUALITY, user=0.0, similarity_ua=0.4, previous_dense_a=0.3, length_a=-0.10)

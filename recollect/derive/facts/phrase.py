"""A claim as a sentence that is understood by itself."""

from __future__ import annotations

from recollect.derive.facts.claim import USER, Polarity

_SENTENCES = {
    "allergy": "{who} is allergic to {value}",
    "intolerance": "{who} is {value} intolerant",
    "avoids": "{who} avoids {value}",
    "condition": "{who} has {value}",
    "diet": "{who} is {value}",
    "medication": "{who} takes {value}",
    "weight": "{who} weighs {value}",
    "height": "{who} is {value} tall",
    "age": "{who} is {value} old",
    "birthday": "{who} was born on {value}",
    "birth year": "{who} was born in {value}",
    "home": "{who} lives in {value}",
    "from": "{who} comes from {value}",
    "marital status": "{who} is {value}",
    "spouse": "{who} is married to {value}",
    "speaks": "{who} speaks {value}",
    "employer": "{who} works for {value}",
    "studies": "{who} studies {value}",
    "likes": "{who} likes {value}",
    "dislikes": "{who} dislikes {value}",
    "prefers": "{who} prefers {value}",
    "uses": "{who} uses {value}",
    "project": "{who} works on {value}",
    "appointment": "{who} has {value}",
    "habit": "Habit of {who}: {value}",
    "plan": "Plan of {who}: {value}",
}


def shown(entity: str) -> str:
    """An entity at the beginning of a sentence.

    >>> shown("user"), shown("user's dog"), shown("Luna")
    ('The user', "The user's dog", 'Luna')
    """
    return f"The {entity}" if entity == USER or entity.startswith(f"{USER}'s ") else entity


def _article(value: str) -> str:
    """The article that stands before one thing; none before several, or where there is one.

    >>> _article("old van"), _article("2019 Honda Civic"), _article("horses")
    ('an ', 'a ', '')
    """
    last = value.split()[-1].lower()
    if last.endswith("s") and not last.endswith("ss"):
        return ""
    return "an " if value[0].lower() in "aeiou" else "a "


def is_worded(attribute: str) -> bool:
    """Whether there is a sentence of its own for an attribute."""
    return attribute in _SENTENCES or attribute == "owns"


def content_of(entity: str, attribute: str, value: str, polarity: Polarity = Polarity.IS) -> str:
    """The claim in words.

    >>> content_of("Luna", "allergy", "chicken")
    'Luna is allergic to chicken.'
    >>> content_of("user", "favourite colour", "green")
    "The user's favourite colour is green."
    >>> content_of("user", "home", "York", Polarity.ENDED)
    'No longer: The user lives in York.'
    """
    who = shown(entity)
    if attribute == "age" and value.isdigit():
        value = f"{value} years"
    if attribute == "birthday" and not any(part.isdigit() and len(part) == 4 for part in value.split()):
        text = f"{who}'s birthday is {value}"
    elif attribute == "habit" or attribute == "plan":
        text = _SENTENCES[attribute].format(
            who=who[0].lower() + who[1:] if who.startswith("The ") else who, value=value
        )
    elif attribute == "owns":
        text = f"{who} has {_article(value)}{value}"
    elif attribute in _SENTENCES:
        text = _SENTENCES[attribute].format(who=who, value=value)
    else:
        text = f"{who}'s {attribute} is {value}"
    return f"{'No longer: ' if polarity is Polarity.ENDED else ''}{text}."

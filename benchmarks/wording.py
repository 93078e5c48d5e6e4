"""Words and sentences for made-up conversations: many rare words about many topics, in sentences people would write.

The words are those of the packaged tokenizer, which lists some 20,000 English ones by how often they are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from random import Random

from recollect.models.embedding.tokenizer import packaged_tokenizer

TOPICS = 400
_WORDS_OF_TOPIC = 90
_COMMON = 600  # words before this rank are too common to make a topic

NAMES = ("Amara", "Bogdan", "Chiara", "Dilan", "Edda", "Farid", "Gesine", "Hamza", "Ines", "Jorun", "Kofi", "Liv")

_STATEMENTS = (
    "The {t} {t} needs a different {t} before we can change the {g}.",
    "We moved the {t} to {name} last week and the {g} dropped by {n} percent.",
    "I think {t} is the better choice because the {t} keeps its {g} when the {t} fails.",
    "First check whether {id} is set, then run the {t} again with a smaller {g}.",
    "It took {n} minutes to find that the {t} was not {g} at all.",
    "My {t} is from {year}, and the {g} on it has never been replaced.",
    "You can also combine {t} with {t}, although the {g} is then harder to {t}.",
    "That is why {t} matters: without it the {g} and the {t} drift apart.",
    "There are {n} kinds of {t}; only the {g} one works with {t}.",
    "A common mistake is to treat {t} like {t} and to forget the {g}.",
    "The cheaper {t} costs about {n} euros, the {g} one nearly twice that.",
    "In {month} {year} we tried {t} in {place} and it was too {g}.",
    "Keep the {t} below {n}, otherwise {id} starts to complain about the {g}.",
    "As long as the {t} stays {g}, the {t} will hold for a year or two.",
    "For the {t} I would start with {g}, add {t} later, and leave {t} out.",
    "Then {name} said that the {t} had been {g} all along.",
    "The error is `{id}: {t} not found`, so the {g} never reaches the {t}.",
    "I always want short answers about {t}, and no {g} please.",
    "Put the {t} next to the {t}, cover it with {g} and wait {n} hours.",
    "On {place} it is usually the {t} that breaks, not the {g}.",
)
_QUESTIONS = (
    "How do I get the {t} to work with {t}?",
    "what's the difference between {t} and {t} for a {g}?",
    "Can you explain why {id} fails when the {t} is {g}?",
    "Is {t} worth it, or should I stay with the {g} {t}?",
    "Which {t} would you take for {n} people in {place}?",
    "{t} or {t}? we have about {n} of them and little {g}",
    "Could you write a short {g} about the {t} for {name}?",
    "why does my {t} say {id} after the {g} update",
)
_FOREIGN = (
    "Wie richte ich {t} so ein, dass der {g}-Server nicht nach {n} Minuten abbricht? Die Fehlermeldung lautet {id}.",
    "Danke, die Kühlschranktür schließt wieder; für die {t} brauche ich noch die Bedienungsanleitung von {year}.",
    "Pourquoi mon {t} ne garde-t-il pas la configuration {id} après le redémarrage de {year} ?",
    "Je préfère la solution avec {t}, elle coûte {n} euros et dure plus longtemps que l'autre.",
    "¿Cómo puedo mejorar {t} sin cambiar el resto? Ya probé {id} durante {n} días.",
    "Me gustaría ir a {place} en primavera, pero el {t} todavía no está reservado.",
    "请问{t}怎么安装？我试了{n}次都失败了，错误是{id}。",
    "谢谢，问题解决了。下次我想了解数据库的备份方法。",
    "{t}の設定を変えたのに、{n}分後に{id}というエラーが出ます。どうすればいいですか。",
    "ありがとうございます。来週は{place}へ旅行する予定です。",
)
_PLACES = ("Lisbon", "Tartu", "Osaka", "Leeds", "Graz", "Lima", "Turku", "Kraków", "Austin", "Utrecht")
_MONTHS = ("January", "March", "April", "June", "July", "September", "October", "December")
_VERBS = ("get", "set", "load", "parse", "build", "check", "merge", "render", "fetch", "apply")


@dataclass(frozen=True, slots=True)
class Topic:
    """What a conversation is about: its own words, the first ones used most."""

    number: int
    words: tuple[str, ...]


@lru_cache(maxsize=1)
def vocabulary() -> tuple[str, ...]:
    """English words, the most used first."""
    known = packaged_tokenizer().get_vocab()
    return tuple(sorted((w for w in known if len(w) > 2 and w.isascii() and w.isalpha()), key=lambda w: known[w]))


@lru_cache(maxsize=TOPICS)
def topic(number: int) -> Topic:
    """One of the TOPICS topics; always the same words for the same number."""
    words = vocabulary()[_COMMON:]
    return Topic(number, tuple(Random(f"topic {number}").sample(words, _WORDS_OF_TOPIC)))


class Writer:
    """Writes sentences about one topic with the chance that it is given."""

    def __init__(self, about: Topic, chance: Random) -> None:
        self.about, self._chance = about, chance

    def sentence(self) -> str:
        """A statement."""
        return self.fill(self._chance.choice(_STATEMENTS))

    def question(self) -> str:
        """A question."""
        return self.fill(self._chance.choice(_QUESTIONS))

    def foreign(self) -> str:
        """A sentence in another language than English."""
        return self.fill(self._chance.choice(_FOREIGN))

    def word(self) -> str:
        """A word of the topic."""
        return self._chance.choices(self.about.words, cum_weights=_topic_weights())[0]

    def common(self) -> str:
        """Any word, frequent ones more often."""
        return self._chance.choices(vocabulary(), cum_weights=_common_weights())[0]

    def identifier(self) -> str:
        """A name as it stands in code."""
        verb, noun, number = self._chance.choice(_VERBS), self.word(), self._chance.randrange(100)
        forms = (f"{verb}_{noun}", f"{verb}{noun.title()}", f"ERR_{noun.upper()}_{number}", f"{noun}.{verb}.yaml")
        return self._chance.choice(forms)

    def fill(self, pattern: str) -> str:
        """A pattern with words in its places: {t} topic, {g} general, {id}, {n}, {year}, {month}, {place}, {name}."""
        parts = pattern.split("{")
        filled = [parts[0]]
        for part in parts[1:]:
            slot, _, rest = part.partition("}")
            filled += [self._fill_slot(slot), rest]
        return "".join(filled)

    def _fill_slot(self, slot: str) -> str:
        match slot:
            case "t":
                return self.word()
            case "g":
                return self.common()
            case "id":
                return self.identifier()
            case "n":
                return str(int(self._chance.paretovariate(0.6)) + 1)
            case "year":
                return str(self._chance.randint(2019, 2026))
            case "month":
                return self._chance.choice(_MONTHS)
            case "place":
                return self._chance.choice(_PLACES)
        return self._chance.choice(NAMES)


@lru_cache(maxsize=1)
def _topic_weights() -> list[float]:
    return list(accumulate(1 / (rank + 3) for rank in range(_WORDS_OF_TOPIC)))


@lru_cache(maxsize=1)
def _common_weights() -> list[float]:
    return list(accumulate(1 / (rank + 30) for rank in range(len(vocabulary()))))

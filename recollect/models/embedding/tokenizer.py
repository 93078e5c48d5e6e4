"""The packaged word-piece tokenizer: texts to token ids in bounded memory, and token counts for budgets.

A text of 50 MB handed to the tokenizer whole costs gigabytes, so texts go in as slices cut at blanks, where word
pieces never cross.
"""

from __future__ import annotations

import os
import re
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import orjson

from recollect.errors import ModelError
from recollect.models.embedding.base import damaged, packaged

if TYPE_CHECKING:
    from tokenizers import Tokenizer

T = TypeVar("T")

#: Token ids of texts.
Encode = Callable[[Sequence[str]], list[T]]

#: Longest slice, in characters, that the tokenizer sees at once; longer texts are counted from samples.
SLICE = 20_000
#: Slices and characters of one call of the tokenizer, and characters for which other cores are not asked.
_BATCH, _BATCH_CHARACTERS, _FEW_CHARACTERS = 1_024, 400_000, 1_000

#: Providers' tokens for one counted here. Measured in November 2026 against OpenAI's published tables on dialogue,
#: chats with an assistant, Python, Markdown and JSON: o200k_base .79 to .93, cl100k_base .80 to .96 over a whole set,
#: 1.06 at the 95th percentile of single texts. The largest is taken; the bare count is on the safe side of it.
PROVIDER_FACTOR = 0.96

#: How `count_tokens` counts, to be shown where counts are shown.
COUNT_METHOD = "word pieces of all-MiniLM-L6-v2"

#: Words whose pieces are remembered, and characters of the longest of them: some 25 MB at most.
_REMEMBERED, _LONGEST_REMEMBERED = 60_000, 40
#: Blanks to Python that the tokenizer drops, and words that are tokens of their own: such texts go to it whole.
_UNLIKE_BLANKS = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
_TOKEN_OF_ITS_OWN = r"\[(?:CLS|SEP|UNK|PAD|MASK)\]"
_TOKENS_OF_THEIR_OWN = re.compile(_TOKEN_OF_ITS_OWN)
#: Words in whose spelling nothing but letters, digits and signs of ASCII have a say.
_PLAIN = re.compile(rf"(?!.*{_TOKEN_OF_ITS_OWN})[!-~]{{1,{_LONGEST_REMEMBERED}}}")
_PARTS_OF_PLAIN = re.compile("[a-z0-9]+|.")

_SAMPLES, _SAMPLE_LENGTH = 8, 2_000
#: The id of [UNK], which the packaged tokenizer gives to what it cannot spell.
UNKNOWN = 100
_UNKNOWN_CHARACTERS_PER_TOKEN = 3


@lru_cache(maxsize=1)
def packaged_tokenizer() -> Tokenizer:
    """The tokenizer of the packaged models, loaded once. Raises ModelError when it cannot be read."""
    return open_tokenizer(packaged("tokenizer.json"))


def open_tokenizer(path: Path) -> Tokenizer:
    """A tokenizer from a `tokenizer.json`, without padding or truncation. Raises ModelError."""
    from tokenizers import Tokenizer  # takes its time, as does reading the file: plain words need neither

    _settle_parallelism()
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exceptions
        raise ModelError(
            f"{path} is not a tokenizer: {error}.", hint="Download the model's tokenizer.json again."
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@lru_cache(maxsize=1)
def vocabulary() -> dict[str, int]:
    """The tokens of the packaged tokenizer and their ids, which grow as tokens grow rare. Raises ModelError."""
    path = packaged("tokenizer.json")
    try:
        found: dict[str, int] = orjson.loads(path.read_bytes())["model"]["vocab"]
    except (OSError, ValueError, KeyError) as error:
        raise damaged(path) from error
    return found


def encode_in_slices(encode: Encode[T], texts: Sequence[str]) -> Iterator[tuple[list[int], list[T]]]:
    """Batches of (numbers of texts, token ids of their slices), in reading order, without special tokens.

    The slices of one text follow each other; joined, they are the text's tokens. Memory is bounded by the batch.
    """
    for batch in _batches((number, piece) for number, text in enumerate(texts) for piece in slices(text)):
        yield [number for number, _ in batch], encode([piece for _, piece in batch])


def slices(text: str, size: int = SLICE) -> Iterator[str]:
    """The text in consecutive parts of at most `size` characters, cut before a blank where there is one."""
    start = 0
    while len(text) - start > size:
        end = start + size
        blank = max(text.rfind(" ", start + 1, end + 1), text.rfind("\n", start + 1, end + 1))
        cut = blank if blank > 0 else end
        yield text[start:cut]
        start = cut
    yield text[start:]


class WordPieces:
    """Token ids and counts of texts by their words, which are spelled once: most words of a text were met before.

    Word pieces never cross a blank and each word is normalised by itself, so that the ids are those of the packaged
    tokenizer.
    """

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}  # the ids of words
        self._costs: dict[str, int] = {}
        self._lock = threading.Lock()

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, without special tokens."""
        return [list(memoryview(packed).cast("H")) for packed in self.packed(texts)]

    def packed(self, texts: Sequence[str]) -> list[bytes]:
        """The same, each id as the two bytes of an uint16."""
        return self._spelled(texts, lambda words: b"".join(map(self._packed.__getitem__, words)))

    def counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text costs: a word that cannot be spelled as many as `_count` says."""
        return self._spelled(texts, lambda words: sum(map(self._costs.__getitem__, words)))

    def _spelled(self, texts: Sequence[str], of: Callable[[list[str]], T]) -> list[T]:
        """What the words of each text come to; each word is spelled by then."""
        split = _split(texts)
        with self._lock:
            new = set(chain.from_iterable(split)).difference(self._costs)
            if len(self._costs) + len(new) > _REMEMBERED:
                self._packed, self._costs = {}, {}
                new = set(chain.from_iterable(split))
            self._spell(new)
            found = [of(words) for words in split]
            for word in new:
                if len(word) > _LONGEST_REMEMBERED:
                    del self._packed[word], self._costs[word]
        return found

    def _spell(self, words: Iterable[str]) -> None:
        others = list[str]()
        for word in words:
            if _PLAIN.fullmatch(word):
                self._learn(word, _spell(word))
            else:
                others.append(word)
        for batch in _batches(enumerate(others)):
            spelled = [word for _, word in batch]
            for word, ids in zip(spelled, encode_batch(packaged_tokenizer(), spelled), strict=True):
                self._learn(word, ids)
                if UNKNOWN in ids:
                    self._costs[word] = _count(word)

    def _learn(self, word: str, ids: list[int]) -> None:
        self._packed[word], self._costs[word] = array("H", ids).tobytes(), len(ids)


def _spell(word: str) -> list[int]:
    """The ids of a plain word, as the tokenizer finds them: of each part the longest token that it begins with, then
    the longest that goes on. All single letters, digits and signs are tokens, so that there always is one.
    """
    known, ids = vocabulary(), []
    for part in _PARTS_OF_PLAIN.findall(word.lower()):
        start, mark = 0, ""
        while start < len(part):
            end = len(part)
            while (found := known.get(mark + part[start:end])) is None:
                if (end := end - 1) == start:
                    raise damaged(packaged("tokenizer.json"))
            ids.append(found)
            start, mark = end, "##"
    return ids


def _split(texts: Sequence[str]) -> list[list[str]]:
    """What is spelled by itself: the words, or a whole text where Python and the tokenizer part it differently."""
    if not _is_parted_differently("".join(texts)):
        return list(map(str.split, texts))
    return [[text] if _is_parted_differently(text) else text.split() for text in texts]


def _is_parted_differently(text: str) -> bool:
    if any(blank in text for blank in _UNLIKE_BLANKS):
        return True
    return "[" in text and _TOKENS_OF_THEIR_OWN.search(text) is not None


@lru_cache(maxsize=1)
def packaged_pieces() -> WordPieces:
    """The word pieces of the packaged tokenizer."""
    return WordPieces()


def is_common_english(word: str) -> bool:
    """Whether a folded word is one of the 24,000 or so that the packaged tokenizer does not take apart.

    >>> is_common_english("elephants"), is_common_english("versicherung"), is_common_english("sordough")
    (True, False, False)
    """
    return word in vocabulary()


def count_tokens(text: str) -> int:
    """How many tokens a text costs a language model, as an estimate for budgets.

    Counts the word pieces of the packaged tokenizer: all of them up to 20,000 characters, beyond that by the
    density of samples, so that 50 MB take milliseconds. What the tokenizer cannot spell (words of more than
    100 letters such as encoded files, foreign scripts, emoji) counts a token per three characters. Times
    PROVIDER_FACTOR it is about what providers count.
    """
    return count_tokens_of([text])[0]


def count_tokens_of(texts: Sequence[str]) -> list[int]:
    """The same of many texts, several times as fast."""
    counts = [0 if len(text) <= SLICE else _count_sampled(text) for text in texts]
    short = [number for number, text in enumerate(texts) if len(text) <= SLICE]
    for batch in _batches((number, texts[number]) for number in short):
        for (number, _), count in zip(batch, packaged_pieces().counts([text for _, text in batch]), strict=True):
            counts[number] = count
    return counts


def _count_sampled(text: str) -> int:
    stride = (len(text) - _SAMPLE_LENGTH) // (_SAMPLES - 1)
    sampled = sum(_count(text[at : at + _SAMPLE_LENGTH]) for at in range(0, _SAMPLES * stride, stride))
    return round(sampled * len(text) / (_SAMPLES * _SAMPLE_LENGTH))


def _count(text: str) -> int:
    encoded = packaged_tokenizer().encode(_encodable(text), add_special_tokens=False)
    return sum(
        1 if token != UNKNOWN else -(-(end - start) // _UNKNOWN_CHARACTERS_PER_TOKEN)
        for token, (start, end) in zip(encoded.ids, encoded.offsets, strict=True)
    )


def _batches(items: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    batch: list[tuple[int, str]] = []
    characters = 0
    for item in items:
        batch.append(item)
        characters += len(item[1])
        if len(batch) >= _BATCH or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def encode_batch(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """The token ids of each text, without special tokens. Much text is shared among all cores; for a few words it
    takes longer to wake them.
    """
    if sum(map(len, texts)) < _FEW_CHARACTERS:
        return [tokenizer.encode(_encodable(text), add_special_tokens=False).ids for text in texts]
    try:
        encoded = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
    except TypeError:  # half a surrogate pair, as broken exports hold them
        encoded = tokenizer.encode_batch_fast([_encodable(text) for text in texts], add_special_tokens=False)
    return [each.ids for each in encoded]


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _settle_parallelism() -> None:
    """All cores here, one in forked children, which else wait for ever for threads that the fork did not copy.

    Left unset, the library would print a warning at every fork.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    _calm_forks()


@lru_cache(maxsize=1)
def _calm_forks() -> None:
    if hasattr(os, "register_at_fork"):  # not on Windows
        os.register_at_fork(after_in_child=_one_core)


def _one_core() -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"

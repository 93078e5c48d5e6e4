"""Folders of documents imported, found beside messages, imported again, forgotten."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from recollect.memory import Memory
from recollect.record import Chunk
from tests.exports import file
from tests.ingest.documents.pdf_files import pdf

HANDBOOK = "# Travel\n\nHow we go.\n\n## Trains\n\nTickets of the Brennero line are paid back within ten days.\n"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", durable=False) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    (made / "deep").mkdir(parents=True)
    (made / "travel.md").write_text(HANDBOOK, encoding="utf-8")
    (made / "deep" / "office.txt").write_text("First.\nThe wifi password is quokka-77.\n", encoding="utf-8")
    (made / "bread.html").write_text("<h1>Bread</h1><p>Hold back 50 g of water.", encoding="utf-8")
    (made / "report.pdf").write_bytes(pdf(["About the year.", "Revenue grew in the northern region."]))
    return made


@pytest.mark.parametrize(
    ("query", "cited"),
    [
        ("Brennero tickets", "travel.md, Travel > Trains"),
        ("wifi password", "deep/office.txt, line 2"),
        ("hold back water", "bread.html, Bread"),
        ("northern region revenue", "report.pdf, page 2"),
    ],
)
def test_a_document_is_found_and_cited(memory: Memory, folder: Path, query: str, cited: str) -> None:
    assert memory.import_documents(folder).stored == 4
    found = memory.search(query)
    assert found.documents[0].cited == cited
    assert memory.search(query, kind="document", group_by="message").documents[0].cited == cited


def test_documents_stand_beside_messages(memory: Memory, folder: Path) -> None:
    said = memory.store_message("The wifi password of the cottage is on the fridge.")
    memory.store_message("Nobody knows the way to the harbour.")
    memory.import_documents(folder)
    found = memory.search("wifi password")
    assert found[0].best.message.id == said.id
    assert [hit.document.title for hit in found.documents] == ["deep/office.txt"]
    assert not memory.search("way to the harbour").documents
    assert not memory.search("wifi password", role="user").documents
    assert not memory.search("wifi password", conversation=said.conversation_id).documents
    assert not memory.search("wifi password", source="recollect").documents
    assert not memory.search("wifi password", source="documents").hits
    assert memory.search("wifi password", source="documents").documents
    assert not memory.search("wifi password", kind="tool").documents
    assert not memory.search("wifi password", kind="said").documents
    assert memory.search("wifi password", kind=("said", "document")).documents
    assert not memory.search("wifi password", kind="said").notes
    (note,) = memory.search("wifi password", kind="document", role="user").notes
    assert note.startswith("Documents are said by nobody")


def test_documents_of_a_source_are_found_however_many_others_fit_better(memory: Memory, folder: Path) -> None:
    for i in range(30):
        (folder / f"{i}.md").write_text(f"Heron {i}.", encoding="utf-8")
    memory.import_documents(folder)
    text = "Among many other matters, somebody saw a heron on that rainy afternoon."
    times = {"created_at": "2025-03-01T09:00:00Z", "updated_at": "2025-03-01T09:00:00Z"}
    docs = [{"uuid": "d", "filename": "notes.md", "content": text, **times}]
    project = {"uuid": "p", "name": "Birds", "prompt_template": "Be brief.", "docs": docs, **times}
    memory.import_file(file(folder / "projects.json", [project]))
    assert "notes.md" not in {hit.document.title for hit in memory.search("heron").documents}
    for group in ("conversation", "message"):
        found = memory.search("heron", source="claude", group_by=group)
        assert [hit.document.title for hit in found.documents] == ["notes.md"]


def test_a_word_that_only_a_document_has_is_no_typo(memory: Memory, folder: Path) -> None:
    memory.store_message("The quokkas are sleeping near the breakers.")
    memory.import_documents(folder)
    found = memory.search("Brennero")
    assert (found.corrected, found.suggestion) == (None, None)
    assert found.documents


def test_a_long_document_is_cut_and_each_part_found(memory: Memory, tmp_path: Path) -> None:
    pages = [f"Page {n} speaks of {'calm water and wind ' * 60}" for n in range(40)]
    pages[33] += " zeppelin"
    path = tmp_path / "long.txt"
    path.write_text("\n".join(pages), encoding="utf-8")
    memory.import_documents(path)
    [hit] = memory.search("zeppelin").documents
    assert hit.cited == "long.txt, line 34"
    assert "zeppelin" in hit.text
    assert len(hit.text) < 40_000
    with memory.handle.space.view() as view:
        chunks = view.get(Chunk, [hit.document.id])
    assert len(chunks) > 1
    assert all(chunk.tokens <= 4000 for chunk in chunks)
    assert all(b.start < a.end for a, b in pairwise(chunks))


def figures(memory: Memory, folder: Path) -> tuple[int, int, int, list[str]]:
    report = memory.import_documents(folder)
    return report.new, report.changed, report.unchanged, report.removed


def test_importing_again_takes_in_what_changed(memory: Memory, folder: Path) -> None:
    assert figures(memory, folder) == (4, 0, 0, [])
    before = {document.id: document for document in memory.documents()}
    os.utime(folder / "travel.md", (1, 1))
    assert figures(memory, folder) == (0, 0, 4, [])
    assert {document.id: document for document in memory.documents()} == before
    (folder / "travel.md").write_text(HANDBOOK.replace("Brennero", "Ligurian"), encoding="utf-8")
    (folder / "bread.html").unlink()
    assert figures(memory, folder) == (0, 1, 2, ["bread.html"])
    assert not memory.search("Brennero").documents
    assert memory.search("Ligurian").documents
    assert memory.document("travel.md").versions[0].content == HANDBOOK
    (folder / "travel.md").write_text(HANDBOOK, encoding="utf-8")
    assert figures(memory, folder) == (0, 1, 2, ["bread.html"])
    assert memory.search("Brennero").documents
    assert not memory.upkeep.check()


def test_a_folder_within_an_imported_one_holds_the_same_documents(memory: Memory, folder: Path) -> None:
    memory.import_documents(folder)
    assert figures(memory, folder / "deep") == (0, 0, 1, [])
    assert figures(memory, folder / "deep" / "office.txt") == (0, 0, 1, [])


def test_what_is_forgotten_stays_away(memory: Memory, folder: Path) -> None:
    memory.import_documents(folder)
    assert memory.forget(memory.document("deep/office.txt").id).documents == 1
    assert not memory.search("wifi password").documents
    report = memory.import_documents(folder)
    assert (report.forgotten, report.unchanged) == (1, 3)
    assert memory.import_documents(folder, again=True).new == 1
    assert memory.search("wifi password").documents
    assert not memory.upkeep.check()


def test_what_is_forgotten_stays_away_under_another_name(memory: Memory, folder: Path) -> None:
    memory.import_documents(folder)
    handbook = memory.document("travel.md").id
    memory.forget(handbook)
    (folder / "travel.md").rename(folder / "renamed.txt")
    report = memory.import_documents(folder)
    assert (report.new, report.forgotten, report.stored) == (0, 1, 3)
    (folder / "renamed.txt").write_text(HANDBOOK.replace("\n\n", "\n"), encoding="utf-8")  # in other lines
    assert memory.import_documents(folder).forgotten == 1
    assert not memory.search("Brennero tickets").documents
    (folder / "more.md").write_text(f"{HANDBOOK}\nBuses are not.\n", encoding="utf-8")  # says another thing
    assert memory.import_documents(folder / "more.md").new == 1
    assert memory.import_documents(folder, again=True).new == 1
    (folder / "renamed.txt").rename(folder / "third.md")
    assert memory.import_documents(folder).new == 1  # it was asked for again
    assert not memory.upkeep.check()


def test_a_forgotten_text_stays_away_in_the_place_of_another(memory: Memory, folder: Path) -> None:
    memory.import_documents(folder)
    (folder / "travel.md").write_text(f"{HANDBOOK}\nBuses are not.\n", encoding="utf-8")
    assert memory.import_documents(folder).changed == 1
    memory.forget(memory.document("travel.md").id)
    for text in (HANDBOOK, f"{HANDBOOK}\nBuses are not.\n"):  # what it said earlier, too
        (folder / "deep" / "office.txt").write_text(text, encoding="utf-8")
        report = memory.import_documents(folder / "deep")
        assert (report.new, report.changed, report.unchanged, report.forgotten) == (0, 0, 0, 1)
        assert "Brennero" not in memory.document("office.txt").content
    assert memory.import_documents(folder / "deep", again=True).changed == 1
    assert "Brennero" in memory.document("office.txt").content
    memory.forget(memory.document("office.txt").id)
    (folder / "third.md").write_text(HANDBOOK, encoding="utf-8")
    assert memory.import_documents(folder / "third.md").forgotten == 1
    assert not memory.upkeep.check()


def test_a_document_that_is_forgotten_twice_stays_away_with_either_text(memory: Memory, folder: Path) -> None:
    file, texts = folder / "travel.md", (HANDBOOK, "The kiln of the second house is fired at dawn on Fridays.")
    for text in texts:
        file.write_text(text, encoding="utf-8")
        memory.import_documents(file, again=True)
        memory.forget(memory.document("travel.md").id)
    for number, text in enumerate(texts):
        (folder / f"copy{number}.md").write_text(text, encoding="utf-8")
        assert memory.import_documents(folder / f"copy{number}.md").forgotten == 1


def test_a_forgotten_document_stays_away_in_a_dump_of_others(memory: Memory, folder: Path, tmp_path: Path) -> None:
    with recollect.open(tmp_path / "other.db", durable=False) as other:
        (tmp_path / "named.md").write_text(HANDBOOK, encoding="utf-8")
        other.import_documents(tmp_path / "named.md")
        other.export(tmp_path / "other.jsonl")
    memory.import_documents(folder)
    memory.forget(memory.document("travel.md").id)
    memory.import_file(tmp_path / "other.jsonl")
    assert not memory.search("Brennero tickets").documents


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "locked.pdf": (lambda path: path.write_bytes(pdf(["x"], encrypted=True)), "encrypted"),
    "torn.pdf": (lambda path: path.write_bytes(b"%PDF-1.4\n"), "PDF"),
    "program.txt": (lambda path: path.write_bytes(b"\x7fELF\0\0\0"), "binary"),
    "old.txt": (lambda path: path.write_bytes("Grüße".encode("latin-1")), "UTF-8"),
    "nothing.md": (lambda path: path.write_bytes(b""), "empty"),
    "blank.txt": (lambda path: path.write_bytes(b" \n "), "no text"),
    "circle": (lambda path: path.symlink_to(path), "leads to itself"),
    "huge.txt": (lambda path: _sparse(path, 200 << 20), "200 MB"),
    "huge.html": (lambda path: _sparse(path, 200 << 20), "200 MB"),
}


def _sparse(path: Path, size: int) -> None:
    with path.open("wb") as stream:
        stream.truncate(size)


def test_bad_files_are_told_by_name_and_the_good_ones_are_in(memory: Memory, folder: Path) -> None:
    for name, (make, _) in BAD.items():
        make(folder / name)
    (folder / "photo.jpg").write_bytes(b"\xff\xd8")
    (folder / "self").symlink_to(folder)
    report = memory.import_documents(folder)
    told = {problem.place: problem.reason for problem in report.problems}
    assert told.keys() == BAD.keys()
    for name, (_, why) in BAD.items():
        assert why in told[name]
    assert (report.stored, report.skipped) == (4, ["photo.jpg"])
    assert memory.search("wifi password").documents


def test_a_file_that_went_bad_keeps_its_document(memory: Memory, folder: Path) -> None:
    memory.import_documents(folder)
    (folder / "travel.md").write_bytes(b"")
    report = memory.import_documents(folder)
    assert [problem.place for problem in report.problems] == ["travel.md"]
    assert (report.removed, report.changed) == ([], 0)
    assert memory.search("Brennero").documents


def test_a_path_that_is_not_there_is_named(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"nowhere"):
        memory.import_documents(tmp_path / "nowhere")


def test_a_document_is_named_by_id_path_or_title(memory: Memory, folder: Path) -> None:
    memory.import_documents(folder)
    own = memory.document("travel.md")
    for name in (own.id, own.id[-6:], own.id[-6:].lower(), str(folder / "travel.md"), "TRAVEL.md", "travel"):
        assert memory.document(name).id == own.id
    with pytest.raises(NotFound):
        memory.document("zebra")
    with pytest.raises(InvalidInput, match="several"):
        memory.document("e")


def test_another_namespace_sees_nothing_of_it(memory: Memory, folder: Path, tmp_path: Path) -> None:
    memory.import_documents(folder)
    with recollect.open(tmp_path / "memory.db", namespace="other", durable=False) as other:
        assert not other.search("wifi password").documents
        assert not list(other.documents())
        with pytest.raises(NotFound):
            other.document("travel.md")


def test_a_dump_and_a_reindex_keep_documents_findable(memory: Memory, folder: Path, tmp_path: Path) -> None:
    memory.import_documents(folder)
    memory.export(tmp_path / "dump.jsonl")
    with recollect.open(tmp_path / "second.db", durable=False) as second:
        second.import_file(tmp_path / "dump.jsonl")
        second.upkeep.reindex()
        assert second.search("wifi password").documents[0].cited == "deep/office.txt, line 2"
        assert second.import_documents(folder).unchanged == 4


def test_documents_of_exports_are_found_too(memory: Memory, sample_archive: list[Path]) -> None:
    memory.import_file(*sample_archive)
    for document in memory.documents():
        found = memory.search(document.title, kind="document").documents
        assert document.id in {hit.document.id for hit in found}


def test_a_context_holds_what_a_document_says_with_its_place(memory: Memory, folder: Path) -> None:
    memory.import_documents(folder)
    memory.store_message("We leave for the mountains on Friday.", title="Plans")
    context = memory.prepare_context("wifi password of the office")
    assert "quokka-77" in context.text
    assert "deep/office.txt, line" in context.text
    assert "quokka-77" not in memory.prepare_context("mountains on Friday").text


def test_tools_find_and_open_documents(memory: Memory, folder: Path) -> None:
    (folder / "long.txt").write_text(
        "\n".join(f"Line {n} of the manual speaks of valve {n}." for n in range(1_500)), encoding="utf-8"
    )
    memory.import_documents(folder)
    memory.store_message("The manual is on the shelf.", title="Home")
    found = memory.toolbox().vector_search("wifi password")
    office = next(one for one in found if one.type == "document")
    assert office.title == "deep/office.txt, line 2"
    assert "quokka-77" in memory.toolbox().get_message_by_id(office.id).content
    assert "quokka-77" in memory.toolbox().get_messages_by_ids([office.id[-8:]])[0].content
    piece = next(one for one in memory.toolbox().vector_search("valve 1400 of the manual") if one.type == "document")
    assert piece.is_chunk
    assert "valve 1400" in memory.toolbox().get_message_by_id(piece.id).content
    assert len(memory.toolbox().get_message_with_chunks(piece.message_id)) > 2
    memory.forget(office.message_id)
    with pytest.raises(NotFound):
        memory.toolbox().get_message_by_id(office.id)


def test_pages_of_a_list_neither_repeat_nor_lose_a_document(memory: Memory, folder: Path) -> None:
    memory.import_documents(folder)
    for number in range(12):
        memory.store_message(f"Brennero tickets again, number {number}", title=f"Trip {number}")
    whole = [one.id for one in memory.toolbox().vector_search("Brennero tickets", 13)]
    paged = [one.id for at in range(0, 14, 2) for one in memory.toolbox().vector_search("Brennero tickets", 2, at)]
    assert paged == whole
    assert len(set(whole)) == 13

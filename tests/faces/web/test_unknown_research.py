"""Research that found nothing is shown and not kept."""

from __future__ import annotations

from pathlib import Path

from tests.faces.rest.conftest import BASE, serve


def test_research_that_found_nothing_is_shown_where_it_ran(tmp_path: Path) -> None:
    with serve(tmp_path / "memory.db", tmp_path / "home") as client:
        asked = {"q": "compare zzyzx with blorptangle"}
        began = client.post("/research", data=asked, headers={"Origin": BASE}, follow_redirects=False)
        where = began.headers["location"]
        for _ in range(200):
            shown = client.get(where)
            assert shown.status_code == 200
            if "Copy with sources" in shown.text:
                break
        assert "Your conversations do not say." in shown.text
        assert "Save as Markdown" not in shown.text
        assert client.get("/research", headers={"Accept": "application/json"}).json() == {"reports": []}

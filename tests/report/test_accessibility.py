"""Each page passes axe-core, wide and narrow, dark and printed."""

import pytest

from page_checks import AXE, accessibility_findings


@pytest.mark.slow
@pytest.mark.parametrize("page", ["page", "report", "explorer"])
def test_axe_finds_nothing(small, visit, page):
    path = small.write_explorer() if page == "explorer" else getattr(small, page)
    assert accessibility_findings(path, visit) == []


def test_axe_would_find_something(visit, tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<!doctype html><html lang="en"><title>x</title><main><h1>x</h1><img src="data:,"></main></html>')
    assert {rule for _, rule, _ in accessibility_findings(page, visit)} == {"image-alt"} and AXE.stat().st_size > 10**5

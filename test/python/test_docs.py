"""What the docs pages say of the tree: links, and the passes of each stage."""

import re

import pytest
from attnc import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])


def links(page):
    """The files that a page links to."""
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            yield (page.parent / target).resolve()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert [str(target) for target in links(page) if not target.exists()] == []


def test_every_page_is_linked():
    linked = {target for page in PAGES for target in links(page) if target != page}
    docs = {page for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert docs - linked == set()


def test_the_table_of_stages_has_every_pass():
    created = re.findall(
        r"\bcreate((?:Convert)?Attn\w+)\(", (ROOT / "lib/Pipelines/Pipelines.cpp").read_text()
    )
    assert len(created) > 20
    text = (ROOT / "docs/architecture.md").read_text()
    section = text[text.index("## Passes by stage") : text.index("## Libraries and folders")]
    named = {name.replace("-", "") for name in re.findall(r"`((?:convert-)?attn-[\w-]+)`", section)}
    assert [name for name in created if name.lower() not in named] == []

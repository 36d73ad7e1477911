"""Hooks for MkDocs (`mkdocs.yml`): add pages and linked files outside of docs/ to the site, under their paths in the repository.

Links in the pages are paths in the repository, so that they also work there. This module turns them into links that work on the site.
"""

import posixpath
import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
#: Folder of the documentation's own pages.
DOCS = "docs"
#: Pages outside of `DOCS`.
PAGES = (
    "README.md",
    "config/README.md",
    "config/data-dictionary.md",
    "config/gallery.md",
    "config/gate.md",
    "config/multipath.md",
    "config/claims/README.md",
    "benchmarks/README.md",
    "patches/README.md",
    "upstream/um/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "UPSTREAM.md",
)  # fmt: skip
#: A Markdown link or picture, and its target without anchor.
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)")
#: Anything that a page would load from other sites.
EXTERNAL = re.compile(
    r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//|<link[^>]+stylesheet[^>]+href=["']?(?:https?:)?//"""
)


def site_path(path) -> str:
    """Return a repository file's path on the site.

    >>> site_path("docs/exam.md"), site_path("config/gate.md")
    ('exam.md', 'config/gate.md')
    """
    return path.removeprefix(f"{DOCS}/")


def linked_files(text, page) -> list[str]:
    """Return the files that a page links to, as paths from the repository's root.

    >>> linked_files("[a](../config/gate.md#x) and [b](exam.md), [c](#d), [e](https://example.org)", "docs/exam.md")
    ['config/gate.md', 'docs/exam.md']
    """
    return [_target(match[1], page) for match in LINK.finditer(text)]


def links_on_site(text, page) -> str:
    """Return a page with links that work on the site.

    >>> links_on_site("[a](../config/gate.md#x), [b](exam.md)", "docs/report.md")
    '[a](config/gate.md#x), [b](exam.md)'
    """
    folder = posixpath.dirname(site_path(page)) or "."
    return LINK.sub(lambda match: posixpath.relpath(site_path(_target(match[1], page)), folder), text)


def _target(link, page):
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def repository_path(path) -> str:
    """Return a site page's path in the repository."""
    return path if path in PAGES else f"{DOCS}/{path}"


def on_files(files, config) -> Iterable:
    """Add the pages outside of docs/, and all files that pages link to."""
    from mkdocs.structure.files import File

    def add(path):
        if files.get_file_from_path(path) is None:
            files.append(File(path, str(ROOT), config["site_dir"], config["use_directory_urls"]))

    for page in PAGES:
        add(page)
    for page in [file.src_uri for file in files.documentation_pages()]:
        text = (ROOT / repository_path(page)).read_text(encoding="utf-8")
        for path in linked_files(text, repository_path(page)):
            if not path.startswith(f"{DOCS}/") and (ROOT / path).is_file():
                add(path)
    return files


def on_page_markdown(markdown, page, config, files) -> str:
    """Return a page with links that work on the site."""
    return links_on_site(markdown, repository_path(page.file.src_uri))


def on_post_build(config) -> None:
    """Fail if a page of the site would load anything from another site."""
    from mkdocs.exceptions import PluginError

    for page in Path(config["site_dir"]).rglob("*.html"):
        if found := EXTERNAL.search(page.read_text(encoding="utf-8")):
            raise PluginError(f"{page} loads something from another site: {found[0]}")

"""Links between the report's two pages."""

import re

_LINK = re.compile(r'href="#([^"]+)"')
_IDENTIFIER = re.compile(r'\bid="([^"]+)"')


def linked(page: str, other: str, file: str) -> str:
    """Redirect links in a page to the other page if only the other page contains their targets; return the changed page.

    Raises `ValueError` if a link's target is on neither page.

    Parameters
    ----------
    page, other : str
        HTML.
    file : str
        Name of the other page's file, in the same folder.
    """
    here, there = (set(_IDENTIFIER.findall(html)) for html in (page, other))

    def target(match):
        anchor = match[1]
        if anchor in here:
            return match[0]
        if anchor not in there:
            raise ValueError(f"a link leads to #{anchor}, which neither page has")
        return f'href="{file}#{anchor}"'

    return _LINK.sub(target, page)

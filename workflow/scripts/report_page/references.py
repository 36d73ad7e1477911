"""References for the CCAs, queueing disciplines and mechanisms in a study, and links to the RFCs that a page mentions.

The page loads nothing from other sites; only a reader who clicks a link visits another site.
"""

import re
from typing import NamedTuple

from study_files.study_features import features_of, queues_of
from wording.sentence_words import cca_name


class Reference(NamedTuple):
    """A reference for the CCA, queueing discipline or mechanism ``name``: authors or title, and permanent web address (or None)."""

    name: str
    source: str
    address: str | None


def rfc(number: int) -> tuple[str, str]:
    """Return the name and the web address of an RFC."""
    return f"RFC {number}", f"https://www.rfc-editor.org/rfc/rfc{number}"


def paper(source: str, doi: str) -> tuple[str, str]:
    """Return ``source``, the authors and year of a paper, with the web address of the paper's DOI."""
    return source, f"https://doi.org/{doi}"


#: CCA in the kernel -> its source.
CCAS = {
    "bbr": paper("Cardwell and others 2016, version 1", "10.1145/3012426.3022184"),
    "bic": paper("Xu, Harfoush and Rhee 2004", "10.1109/INFCOM.2004.1354672"),
    "cdg": paper("Hayes and Armitage 2011", "10.1007/978-3-642-20798-3_25"),
    "cubic": rfc(9438),
    "dctcp": rfc(8257),
    "highspeed": rfc(3649),
    "htcp": (
        "Leith and Shorten, draft-leith-tcp-htcp",
        "https://datatracker.ietf.org/doc/html/draft-leith-tcp-htcp-06",
    ),
    "hybla": paper("Caini and Firrincieli 2004", "10.1002/sat.799"),
    "illinois": ("Liu, Başar and Srikant 2008", None),
    "lp": ("Kuzmanovic and Knightly 2006", None),
    "nv": ("Brakmo 2010", None),
    "reno": rfc(5681),
    "scalable": paper("Kelly 2003", "10.1145/956981.956989"),
    "vegas": paper("Brakmo, O'Malley and Peterson 1994", "10.1145/190314.190317"),
    "veno": paper("Fu and Liew 2003", "10.1109/JSAC.2002.807336"),
    "westwood": paper("Mascolo and others 2001", "10.1145/381677.381704"),
    "yeah": ("Baiocchi, Castellani and Vacirca 2007", None),
}
#: Queueing discipline -> its name and source.
DISCIPLINES = {
    "red": ("RED", *paper("Floyd and Jacobson 1993", "10.1109/90.251892")),
    "codel": ("CoDel", *rfc(8289)),
    "fq_codel": ("FQ-CoDel", *rfc(8290)),
    "pie": ("PIE", *rfc(8033)),
    "fq_pie": ("PIE", *rfc(8033)),
    "cake": ("CAKE", *paper("Høiland-Jørgensen, Täht and Morton 2018", "10.1109/LANMAN.2018.8475045")),
    "dualpi2": ("DualPI2", *rfc(9332)),
    "sfq": ("SFQ", "McKenney 1990", None),
}
#: Feature of a study (`study_features.FEATURES`) -> the mechanism, and its source.
MECHANISMS = {"mptcp": ("MPTCP", *rfc(8684)), "gre": ("GRE in UDP", *rfc(8086)), "tcp": ("TCP", *rfc(9293))}
ECN = {"classic": ("ECN", *rfc(3168)), "accurate": ("Accurate ECN", *rfc(9768))}
#: Markup that isn't running text: headings, elements without text, existing links, and tags.
_NO_TEXT = re.compile(r"<(script|style|svg|title|code|pre|a|button|h[1-6])\b.*?</\1>|<[^>]*>", re.S)
_RFC = re.compile(r"\bRFC[ \N{NO-BREAK SPACE}](\d{3,5})\b")


def references(design) -> list[Reference]:
    """Return the references for the CCAs, queueing disciplines and mechanisms in a study (`StudyDesign`), without duplicates."""
    ccas = [Reference(cca_name(cca), *CCAS[cca]) for cca in design.ccas_that_run if cca in CCAS]
    queues = [queue.get("discipline") for scenario in design.scenarios for queue in queues_of(scenario)]
    ecn = [scenario["transport"].get("ecn") for scenario in design.scenarios]
    others = [
        *(DISCIPLINES[discipline] for discipline in queues if discipline in DISCIPLINES),
        *(ECN[mode] for mode in ecn if mode in ECN),
        *(mechanism for feature, mechanism in MECHANISMS.items() if feature in features_of(design.scenarios)["some"]),
    ]
    return [*ccas, *(Reference(*other) for other in dict.fromkeys(others))]


def with_rfc_links(html: str) -> str:
    """Return a page in which each RFC mentioned in the running text is a link.

    >>> with_rfc_links('<p title="RFC 1">RFC 9743, <a href="#x">RFC 2</a></p>')
    '<p title="RFC 1"><a href="https://www.rfc-editor.org/rfc/rfc9743">RFC 9743</a>, <a href="#x">RFC 2</a></p>'
    """
    parts, end = [], 0
    for found in _NO_TEXT.finditer(html):
        parts += [_linked(html[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*parts, _linked(html[end:])])


def _linked(text):
    return _RFC.sub(lambda found: f'<a href="{rfc(int(found[1]))[1]}">{found[0]}</a>', text)

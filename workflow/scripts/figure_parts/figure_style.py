"""The common style of all figures: colours and markers of the CCAs, colours of text (ink) and background (paper), and fonts.

A CCA has the same colour and marker in every figure of every study. Six is the largest number of colours that readers with any kind of
colour blindness can distinguish while all have a contrast of at least 3:1 with the paper, so three shapes distinguish the rest. The report
replaces the light colours with the dark ones if the reader's system is set to dark colours.

The seven steps of the ramp are for tiles. They differ mainly in lightness, so that readers with any kind of colour blindness see their
order: the first is closest to the paper's colour. In both themes, text on the first `RAMP_INK_STEPS` steps has the colour of the ink, and
text on the other steps has the colour of the paper.

The seven steps of the balance are for tiles on a scale whose middle means "fair". One side is orange, the other purple; the farther a step
is from the middle, the more its colour differs from the paper's.
"""

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """Colours of one appearance, as lower-case hex codes."""

    paper: str
    ink: str
    muted: str
    line: str
    blue: str
    maroon: str
    green: str
    indigo: str
    pink: str
    olive: str
    ramp_1: str
    ramp_2: str
    ramp_3: str
    ramp_4: str
    ramp_5: str
    ramp_6: str
    ramp_7: str
    balance_1: str
    balance_2: str
    balance_3: str
    balance_4: str
    balance_5: str
    balance_6: str
    balance_7: str


LIGHT = Theme(
    paper="#ffffff", ink="#1a2027", muted="#56606b", line="#dfe3e8",
    blue="#1997f1", maroon="#790104", green="#007446", indigo="#433687", pink="#eb53a7",
    olive="#999023",
    ramp_1="#eaf8ec", ramp_2="#aae9d4", ramp_3="#72d0cd", ramp_4="#46aec5", ramp_5="#186a99",
    ramp_6="#1c477b", ramp_7="#172552",
    balance_1="#7d3a06", balance_2="#b35806", balance_3="#fbbf77", balance_4="#eef0f3",
    balance_5="#bdb5e3", balance_6="#6f5dab", balance_7="#3b1d6e",
)  # fmt: skip
DARK = Theme(
    paper="#151a20", ink="#e8ebee", muted="#a3adb8", line="#343c46",
    blue="#609cdd", maroon="#f28f66", green="#82fbc4", indigo="#7d5fee", pink="#e11278",
    olive="#e3e54e",
    ramp_1="#1f2638", ramp_2="#233860", ramp_3="#1f5180", ramp_4="#1c6b91", ramp_5="#2da2ba",
    ramp_6="#63cfc9", ramp_7="#b2f6d7",
    balance_1="#ffc684", balance_2="#d9892b", balance_3="#6b4312", balance_4="#2a313a",
    balance_5="#463b78", balance_6="#9485d8", balance_7="#d0c4ff",
)  # fmt: skip

HUES = ("blue", "maroon", "green", "indigo", "pink", "olive")
RAMP_STEPS, RAMP_INK_STEPS = 7, 4
BALANCE_STEPS, BALANCE_INK_STEPS = 7, (3, 4, 5)
CIRCLE, SQUARE, TRIANGLE = "o", "s", "^"

CCA_STYLE = {
    "reno": ("maroon", CIRCLE),
    "cubic": ("blue", CIRCLE),
    "bbr": ("pink", CIRCLE),
    "veno": ("olive", CIRCLE),
    "vegas": ("green", CIRCLE),
    "westwood": ("indigo", CIRCLE),
    "bic": ("blue", SQUARE),
    "htcp": ("maroon", SQUARE),
    "dctcp": ("pink", SQUARE),
    "illinois": ("olive", SQUARE),
    "highspeed": ("green", SQUARE),
    "scalable": ("indigo", SQUARE),
    "hybla": ("maroon", TRIANGLE),
    "cdg": ("green", TRIANGLE),
    "nv": ("pink", TRIANGLE),
    "lp": ("olive", TRIANGLE),
    "yeah": ("indigo", TRIANGLE),
}
# Style of a mix of CCAs.
OTHER_STYLE = ("muted", "D")
# The style of a CCA that a study defines depends on its name only, so that the CCA looks the same everywhere. Two such CCAs may look alike.
OWN_COLOURS, OWN_MARKERS = ("maroon", "blue", "pink", "olive", "green", "indigo"), ("D", "v", "P", "X", "p")

FONT_SIZE_PT = 8.5
SMALL_SIZE_PT = 7.5
DASHES = (0, (3, 2))

RC = {
    # Text stays text: it can be searched, set in the page's own type, and edited for a paper.
    "svg.fonttype": "none",
    # Labels are the study's words: a dollar sign doesn't start a formula.
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica", "sans-serif"],
    "font.size": FONT_SIZE_PT,
    "text.color": LIGHT.ink,
    "axes.labelcolor": LIGHT.muted,
    "axes.edgecolor": LIGHT.line,
    "axes.linewidth": 0.8,
    "axes.facecolor": "none",
    "figure.facecolor": LIGHT.paper,
    "xtick.color": LIGHT.line,
    "xtick.labelcolor": LIGHT.muted,
    "xtick.labelsize": SMALL_SIZE_PT,
    "ytick.labelcolor": LIGHT.ink,
    "ytick.labelsize": FONT_SIZE_PT,
    "ytick.left": False,
    "axes.unicode_minus": True,
    "path.simplify": False,
}


def cca_colour(cca, theme=LIGHT) -> str:
    """Return a CCA's colour as a hex code."""
    return getattr(theme, _cca_style(cca)[0])


def cca_marker(cca) -> str:
    """Return a CCA's matplotlib marker."""
    return _cca_style(cca)[1]


def _cca_style(cca):
    """Return the colour (as its name in the theme) and the marker of a CCA or mix."""
    if "+" in cca:
        return OTHER_STYLE
    place = zlib.crc32(cca.encode())
    own = OWN_COLOURS[place % len(OWN_COLOURS)], OWN_MARKERS[place // len(OWN_COLOURS) % len(OWN_MARKERS)]
    return CCA_STYLE.get(cca, own)


def ramp_colour(step, theme=LIGHT) -> str:
    """Return the colour of a step of the ramp, 1 to `RAMP_STEPS`, as a hex code."""
    return getattr(theme, f"ramp_{step}")


def ramp_text_colour(step, theme=LIGHT) -> str:
    """Return the colour of text on a step of the ramp, 1 to `RAMP_STEPS`."""
    return theme.ink if step <= RAMP_INK_STEPS else theme.paper


def balance_colour(step, theme=LIGHT) -> str:
    """Return the colour of a step of the balance, 1 to `BALANCE_STEPS`, as a hex code."""
    return getattr(theme, f"balance_{step}")


def balance_text_colour(step, theme=LIGHT) -> str:
    """Return the colour of text on a step of the balance, 1 to `BALANCE_STEPS`."""
    return theme.ink if step in BALANCE_INK_STEPS else theme.paper


def apply_style() -> None:
    """Set matplotlib to this style and to a backend without a display."""
    import matplotlib  # imported here: it takes half a second

    matplotlib.rcdefaults()  # discards the settings of any `matplotlibrc` file on the machine
    matplotlib.use("svg")
    matplotlib.rcParams.update(RC)

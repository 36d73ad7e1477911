"""A drawing of a scenario's network with the study's own values, as inline SVG."""

from markupsafe import Markup, escape

from wording.number_format import count, is_missing, plain
from wording.scenario_words import both_ways, capacity_words, loss_words

#: Size of the drawing, size of a box, and upper edge of the boxes and of the queue, in pixels.
WIDTH, HEIGHT, BOX_WIDTH, BOX_HEIGHT, TOP = 720, 150, 120, 44, 46
BOXES_AT = {"senders": 0, "router": 190, "second": 410, "receivers": 600}
QUEUE_AT, QUEUE_WIDTH, CELL = 318, 60, 10
#: Maximum number of letters in a box, and below the drawing; longer texts would be cut off at its edges.
IN_BOX, IN_LINE = 20, 92


def topology_drawing(scenario) -> Markup:
    """Return the drawing for a row of ``tidy/scenarios.csv``: hosts, routers or cables, the queue, the link, and their settings.

    Everything shown is also given as text, in the drawing and in its title. If the names of groups are too long, only their number is shown.
    """
    queue = f"{scenario['discipline']}, {scenario['queue']}"
    delay = f"{both_ways(scenario['delay_forward_ms'], scenario['delay_reverse_ms'], 'ms')} one way"
    loss = loss_words(scenario, "both ways", both_ways)
    pairs = count(int(scenario["pairs"]), "pair of hosts", "pairs of hosts")
    flows = scenario["groups"] or count(int(scenario["flows"]), "flow")
    if len(flows) > IN_BOX:
        flows = count(len(flows.split(", ")), "group of flows", "groups of flows")
    is_chain, is_cable = scenario["topology"] == "chain", scenario["topology"] == "cable"
    path = (
        count(int(scenario["bottlenecks"]), "bottleneck") if is_chain
        else count(int(scenario["paths"]), "cable") if is_cable else "bottleneck"
    )  # fmt: skip
    parts = [
        _box("senders", "senders", flows), _box("receivers", "receivers", pairs),
        _line(BOX_WIDTH, BOXES_AT["router"]), _line(BOXES_AT["second"] + BOX_WIDTH, BOXES_AT["receivers"]),
        _line(BOXES_AT["router"] + BOX_WIDTH, BOXES_AT["second"]),
        _box("router", "host" if is_cable else "router", path), _box("second", "host" if is_cable else "router", ""),
        *_queue(), _text(QUEUE_AT + QUEUE_WIDTH / 2, TOP - 14, queue),
        _text((BOXES_AT["router"] + BOXES_AT["second"] + BOX_WIDTH) / 2, TOP + BOX_HEIGHT + 24, capacity_words(scenario)),
        _text((BOXES_AT["router"] + BOXES_AT["second"] + BOX_WIDTH) / 2, TOP + BOX_HEIGHT + 42, f"{delay}, {loss}"),
    ]  # fmt: skip
    for place, key in enumerate(("access_delay_ms", "link_options")):
        if not is_missing(scenario[key]) and scenario[key] not in ("", "0"):
            words = f"hosts' links {scenario[key].replace(' ', ', ')} ms" if key == "access_delay_ms" else scenario[key]
            words = words if len(words) <= IN_LINE else f"{words[: IN_LINE - 1]}…"
            parts.append(_text(WIDTH / 2, HEIGHT - 2 + 16 * place, words))
    title = f"Network of {scenario['label']}: {scenario['conditions']}"
    body = Markup("").join(parts)
    return Markup('<svg class="topology" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT + 20, title, body
    )


def _box(where, name, below):
    x = BOXES_AT[where]
    return Markup('<rect x="{}" y="{}" width="{}" height="{}" rx="6"/>').format(x, TOP, BOX_WIDTH, BOX_HEIGHT) + Markup(
        ""
    ).join([_text(x + BOX_WIDTH / 2, TOP + 19, name), _text(x + BOX_WIDTH / 2, TOP + 36, below, small=True)])


def _line(begin, end):
    y = TOP + BOX_HEIGHT / 2
    return Markup('<line x1="{}" y1="{}" x2="{}" y2="{}"/>').format(begin, plain(y), end, plain(y))


def _queue():
    y = TOP + BOX_HEIGHT / 2 - CELL
    return [
        Markup('<rect class="packet" x="{}" y="{}" width="{}" height="{}"/>').format(x, plain(y), CELL - 2, 2 * CELL)
        for x in range(QUEUE_AT, QUEUE_AT + QUEUE_WIDTH, CELL)
    ]


def _text(x, y, words, small=False):
    return Markup('<text x="{}" y="{}"{}>{}</text>').format(
        plain(x), plain(y), Markup(' class="small"') if small else "", escape(words)
    )

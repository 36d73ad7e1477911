"""How results depend on the way in which a path is implemented: where netem is placed, which shaper is used, and whether offloads are on."""

from collections import Counter

from topics.emulations.tables import EMULATION_CELLS
from topics.topic import Analysis, Plot, Topic
from wording.scenario_labels import settings_of

#: Prefixes of the keys that determine how a path is implemented but not its properties.
WAYS = ("link.netem", "link.shaper", "link.shaper_burst_bytes", "transport.segmentation_offload")


def is_made_otherwise(scenario) -> bool:
    """Return whether a resolved scenario implements rate, queue and delay in a way other than the default."""
    link = scenario["link"]
    return link["netem"] != "receiving-side" or link["shaper"] != "htb" or link["shaper_burst_bytes"] is not None


def settings(design) -> dict[str, dict]:
    """Return the setting and conditions (see `settings_of`) of each scenario whose path the study implements in several ways.

    At least one of these ways must differ from the default (`is_made_otherwise`).
    """
    found = settings_of(design.scenarios, WAYS)
    alike = Counter(one["setting"] for one in found.values())
    made = {found[scenario["id"]]["setting"] for scenario in design.scenarios if is_made_otherwise(scenario)}
    return {name: one for name, one in found.items() if alike[one["setting"]] > 1 and one["setting"] in made}


def leads(design) -> bool:
    """Return whether, in more than half of the study's scenarios, the path is one that the study implements in several ways."""
    return 2 * len(settings(design)) > len(design.scenarios)


TITLE = "One path, implemented in several ways"
TOPIC = Topic(
    "emulations",
    "Ways of emulation",
    order=48,
    heading="Does the path's implementation matter?",
    applies=lambda design: bool(settings(design)),
    leads=leads,
    analyses=(
        Analysis(
            "compare_emulations", ("runs", "scenarios"), (EMULATION_CELLS,), ("confidence",),
            params=lambda design: {"settings": settings(design)},
        ),
    ),
    figures=(Plot("emulations", "plot_emulations", ("emulation_cells",), TITLE, "means, intervals"),),
    pictures=("emulations",),
)  # fmt: skip

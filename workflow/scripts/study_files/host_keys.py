"""Generate the keys of a study's `transport` section from the declarations of the host options."""

from collections.abc import Iterator

from experiment.host_options import HOST_OPTIONS
from wording.host_option_words import OPTION_WORDS


def host_keys() -> dict[str, dict]:
    """Return the JSON Schema of each host option, by name."""
    return {
        option.name: {
            "description": f"{OPTION_WORDS[option.name]} Linux only (`{option.place}`).",
            **option.value,
            "default": option.default,
        }
        for option in HOST_OPTIONS
    }


def used_host_options(scenario) -> Iterator[str]:
    """Yield the names of the host options that a resolved scenario sets to values other than the kernel's defaults."""
    yield from (option.name for option in HOST_OPTIONS if option.used(scenario["transport"]))

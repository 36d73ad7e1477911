"""Keys for host options in a study's `transport`, generated from the options' declarations."""

from collections.abc import Iterator

from experiment.host_options import HOST_OPTIONS
from wording.host_option_words import OPTION_WORDS


def host_keys() -> dict[str, dict]:
    """Return the JSON Schema of each key by the key's name."""
    return {
        option.name: {
            "description": f"{OPTION_WORDS[option.name]} Linux only (`{option.place}`).",
            **option.value,
            "default": option.default,
        }
        for option in HOST_OPTIONS
    }


def used_host_options(scenario) -> Iterator[str]:
    """Yield the host options whose value in a resolved scenario's `transport` differs from the kernel's default."""
    yield from (option.name for option in HOST_OPTIONS if option.used(scenario["transport"]))

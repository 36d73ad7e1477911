"""Parameters of the kernel's CCA modules; each parameter has one value for all sockets."""

from pathlib import Path

from testbed.errors import SettingError

MODULES = Path("/sys/module")


def cca_parameters(specification) -> dict[str, dict[str, str]]:
    """Return all parameters of the modules in a run's definitions, as read from the kernel: module -> parameter -> value as text.

    Raises `SettingError` if a module doesn't have a defined parameter.
    """
    seen = {}
    for one in specification.definitions.values():
        folder = MODULES / one.module / "parameters"
        seen[one.module] = {
            path.name: path.read_text().strip() for path in (sorted(folder.iterdir()) if folder.exists() else ())
        }
        if missing := [name for name in one.parameters if name not in seen[one.module]]:
            raise SettingError(
                f"the kernel shows no parameter {missing[0]} of {one.module}, "
                f"only {', '.join(seen[one.module]) or 'none'}"
            )
    return seen

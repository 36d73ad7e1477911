"""The workflow's own commands, called as the Makefile calls them."""

import sys


def own_command(folder, module, *arguments):
    """Return the command of a module of a checkout: words, with the environment that the module needs."""
    scripts = folder / "workflow" / "scripts"
    return ["env", f"PYTHONPATH={scripts}:{scripts.parent}", sys.executable, "-m", module, *map(str, arguments)]

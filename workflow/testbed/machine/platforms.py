"""Platforms that execute runs: one module for each platform, all with the same functions.

``boot(specification, wall_limit_s, log)`` executes a run and returns its document;
``wall_limit_s``, ``memory_mib`` and ``run_time_s`` return the resources that the run needs; ``digest(specification)``
returns the digest of the program that executes the run.
"""

import importlib
from types import ModuleType

#: Platform without its version -> module.
MODULES = {"uml": "testbed.machine.uml", "host": "testbed.machine.host", "ns3": "simulator.run"}


def platform_of(specification) -> ModuleType:
    """Return the module for a specification's platform, such as ``uml`` or ``ns3:3.44``."""
    return importlib.import_module(MODULES[specification.platform.partition(":")[0]])

"""Platforms that carry a run's packets: the module of each, and their common interface.

``boot(specification, wall_limit_s, log)`` executes a run and returns its document;
``wall_limit_s``, ``memory_mib`` and ``run_time_s`` return the resources that the run needs; ``digest(specification)``
identifies the program that executes it.
"""

import importlib
from types import ModuleType

#: Platform without its version -> module.
MODULES = {"uml": "testbed.machine.uml", "host": "testbed.machine.host", "ns3": "simulator.run"}


def platform_of(specification) -> ModuleType:
    """Return the module of a specification's platform (``uml``, ``ns3:3.44``)."""
    return importlib.import_module(MODULES[specification.platform.partition(":")[0]])

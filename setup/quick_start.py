"""Start Snakemake faster: modules that it rarely needs are loaded only when they are first used.

Set-up copies this module to the workflow environment, where Python imports it at each start (`sawtooth.pth`). Snakemake's Slurm plugin
imports pandas for a report that it writes only on request, and this import takes a third of the time of a dry run. Only storage needs
requests, only notebooks need nbformat, and only pictures in captions need PIL.Image. Other programs in the environment import all modules
as usual. Without this module, or with another version of Snakemake, Snakemake starts more slowly, but nothing else changes.
"""

import gc
import os
import pkgutil
import sys
import threading
from importlib.machinery import PathFinder
from types import ModuleType

#: Module to load on first use -> the module's classes for which Snakemake calls isinstance on each parameter.
CLASSES = {
    "pandas": ("DataFrame", "Series", "Index"),
    "numpy": ("ndarray", "str_"),
    "requests": (),
    "nbformat": (),
    "PIL.Image": (),
}
#: The modules that make these calls.
ASKING = ("snakemake.persistence", "snakemake.iocontainers", "yte.value_handler")
_lock = threading.RLock()


class _NoInstances(type):
    """Metaclass of stand-ins for classes in modules that aren't loaded yet.

    No object is an instance of a stand-in. Any use other than isinstance loads the class.
    """

    def __getattr__(cls, name):
        return getattr(cls._load(), name)

    def __call__(cls, *arguments, **named):
        return cls._load()(*arguments, **named)


class _LateModule(ModuleType):
    """A module whose code is executed when an attribute is missing, that is, when the module is first used."""

    def __getattr__(self, name):
        # Snakemake runs jobs in threads, several of which may use the module at the same time.
        with _lock:
            if type(self) is _LateModule and not self.__dict__.get("_is_loading"):
                if name in CLASSES[self.__name__] and sys._getframe(1).f_globals.get("__name__") in ASKING:
                    return _NoInstances(name, (), {"_load": lambda: getattr(self, name)})
                _load(self)
        return ModuleType.__getattribute__(self, name)


def _load(module):
    kept = dict(module.__dict__)
    if module.__spec__.submodule_search_locations is not None:
        module.__path__ = module.__spec__.submodule_search_locations
    module._is_loading = True
    try:
        module.__spec__.loader.exec_module(module)
    except BaseException:
        module.__dict__.clear()
        module.__dict__.update(kept)
        raise
    del module._is_loading
    module.__class__ = ModuleType


class _LateLoader:
    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return None  # Python creates the module as usual

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        # Importing a submodule reads `__path__`, and therefore loads the module first.
        vars(module).pop("__path__", None)
        module.__class__ = _LateModule


class LateFinder:
    """Import finder for the modules in `CLASSES`, which are loaded when they are first used."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Return the spec of a module in `CLASSES`, or None for other modules."""
        spec = PathFinder.find_spec(name, path) if name in CLASSES else None
        if spec and spec.loader:
            spec.loader = _LateLoader(spec.loader)
            return spec
        return None


def look_for_plugins_once() -> None:
    """Make `pkgutil.iter_modules` cache its result, because Snakemake lists all packages again for each kind of plugin."""
    look, found = pkgutil.iter_modules, {}

    def iter_modules(path=None, prefix=""):
        if path is not None or prefix:
            return look(path, prefix)
        places = tuple(sys.path)
        if places not in found:
            found[places] = list(look())
        return iter(found[places])

    pkgutil.iter_modules = iter_modules


def is_snakemake(words) -> bool:
    """Return whether a command line (`sys.orig_argv`) starts Snakemake, either as a program or as a module (``-m``)."""
    return [os.path.basename(word) for word in words[1:] if not word.startswith("-")][:1] == ["snakemake"]


if is_snakemake(sys.orig_argv):
    # session/inside_planning.py sets the same thresholds later: imports create many objects, but hardly any garbage.
    gc.set_threshold(10_000, 20, 100)
    sys.meta_path.insert(0, LateFinder)
    look_for_plugins_once()

"""Check that a script's libraries are those of its container image.

Snakemake appends the search path of its own environment to ``sys.path`` of every
script. A library missing from the image would silently be taken from there, in
another version than the one that the results claim.
"""

import importlib.util
import site
from pathlib import Path


def require_image_libraries(*names, image_paths=None):
    """Raise unless each library would be imported from the running Python's own folders.

    Nothing is imported, so a foreign compiled library can't fail first.

    Parameters
    ----------
    *names : str
        Top-level modules, such as ``"pandas"``.
    image_paths : sequence of str, optional
        Folders that belong to the image; by default the site folders of this Python.

    Raises
    ------
    ImportError
        If a library is missing or lies elsewhere; names library, place and image folders.
    """
    allowed = [Path(path).resolve() for path in image_paths or site.getsitepackages()]
    listed = ", ".join(map(str, allowed))
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise ImportError(
                f"{name} is not installed in the analysis image (looked in {listed}); "
                "build the image again with: make setup"
            )
        origin = Path(spec.origin).resolve()
        if not any(folder in origin.parents for folder in allowed):
            raise ImportError(
                f"{name} would be loaded from {origin}, outside the analysis image ({listed}); "
                "build the image again with: make setup"
            )

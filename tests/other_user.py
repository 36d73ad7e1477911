"""What another user of the machine needs to carry out runs: tools and image that everybody may read."""
import re
import shutil
import stat
import sys
from pathlib import Path


def apptainer_program():
    """Return the program that the set-up's wrapper starts (the wrapper itself belongs to this checkout)."""
    wrapper = Path(sys.executable).with_name("apptainer")
    found = re.search(r'exec "([^"]+)"', wrapper.read_text()) if wrapper.exists() else None
    return Path(found[1] if found else shutil.which("apptainer"))


def private_folder(*paths):
    """Return a folder above one of the paths that others can't enter, or None."""
    folders = (folder for path in paths for folder in path.parents)
    return next((folder for folder in folders if not folder.stat().st_mode & stat.S_IXOTH), None)

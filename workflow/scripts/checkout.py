"""Which commit the workflow is, told to its containers through their environment."""
import os
import subprocess


def publish_commit(folder, environ=os.environ):
    """Set what the containers see as SAWTOOTH_COMMIT and SAWTOOTH_DIRTY (1 with changes).

    Without git or outside a checkout both stay unset. Apptainer hands variables
    named APPTAINERENV_<name> into a container whose environment is otherwise empty.
    """
    for name in ("COMMIT", "DIRTY"):
        environ.pop(f"APPTAINERENV_SAWTOOTH_{name}", None)
    commit = git(folder, "rev-parse", "HEAD")
    if commit:
        environ["APPTAINERENV_SAWTOOTH_COMMIT"] = commit
        changed = git(folder, "status", "--porcelain", "--untracked-files=no")
        environ["APPTAINERENV_SAWTOOTH_DIRTY"] = "1" if changed else "0"


def git(folder, *arguments):
    """Return what git prints, or None if there is no git or it fails."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()

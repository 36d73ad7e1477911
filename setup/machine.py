"""Check that this machine meets the requirements, before long steps start; each check raises an error with one sentence."""

import os
import platform
import pwd
import shutil
import subprocess
from pathlib import Path

from progress import SetupError

#: AppArmor's setting. If it is on, programs have no capabilities in a user namespace unless a profile allows them.
RESTRICTION = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")


def check_architecture(architecture=None) -> None:
    """Raise SetupError on a machine where the guest kernel can't run."""
    architecture = architecture or platform.machine()
    if platform.system() != "Linux" or architecture != "x86_64":
        raise SetupError(
            f"this machine is {platform.system()} on {architecture}, and the guest kernel (user-mode Linux) "
            "runs only on Linux on x86-64: use such a machine, which may be a virtual machine."
        )


def check_user_namespaces(apptainer=None, apparmor=RESTRICTION) -> None:
    """Raise SetupError if this user can't create a user namespace and mount in it.

    Parameters
    ----------
    apptainer : str, optional
        Path to the Apptainer installed on the machine. Its package may include the profile that AppArmor requires.
    apparmor : pathlib.Path
        File with AppArmor's setting, which has been on in Ubuntu since 24.04.
    """
    attempt = ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/tmp"]
    try:
        answer = subprocess.run(attempt, capture_output=True, text=True)
    except FileNotFoundError:
        raise SetupError("the program unshare is missing: install the package util-linux.")
    if answer.returncode and apparmor.is_file() and apparmor.read_text().strip() == "1":
        if apptainer:
            return  # the start of a container shows whether Apptainer has permission
        raise SetupError(
            "AppArmor denies user namespaces, which unprivileged containers need, to programs without a profile "
            f"({answer.stderr.strip()}): install the distribution's Apptainer (1.2 or newer), whose package includes a profile, or "
            "ask an administrator to allow them, `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`."
        )
    if answer.returncode:
        raise SetupError(
            "this machine forbids user namespaces, which unprivileged containers need "
            f"({answer.stderr.strip()}): an administrator can allow them, e.g. with "
            "`sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000`."
        )


def has_id_range(table, user, uid) -> bool:
    """Return whether a file such as /etc/subuid assigns a range of at least 65,536 ids to a user."""
    if not table.is_file():
        return False
    for line in table.read_text().splitlines():
        owner, _, rest = line.partition(":")
        count = rest.rpartition(":")[2].strip()
        if owner in (user, str(uid)) and count.isdigit() and int(count) >= 65_536:
            return True
    return False


def check_image_building(environ=os.environ, tables=(Path("/etc/subuid"), Path("/etc/subgid"))) -> None:
    """Raise SetupError if this user can't build images.

    The files in an image belong to several users. Root may use any ids. For other users, an administrator must assign a range of ids and
    install the set-uid program newuidmap.
    """
    if os.geteuid() == 0:
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
            raise SetupError(
                "root may not make mount namespaces here (an unprivileged container?): run `make` "
                "as an ordinary user of the machine, or start the container with --privileged."
            )
        return
    uid = os.geteuid()
    try:
        user = pwd.getpwuid(uid).pw_name
    except KeyError:
        user = str(uid)
    lacking = []
    if not all(shutil.which(name, path=environ.get("PATH")) for name in ("newuidmap", "newgidmap")):
        lacking.append("apt-get install uidmap")
    if not all(has_id_range(table, user, uid) for table in tables):
        lacking.append(f"usermod --add-subuids 200000-265535 --add-subgids 200000-265535 {user}")
    if lacking:
        raise SetupError(
            "to build the container images without root, an administrator must run one command on this machine: "
            f"`{' && '.join(lacking)}`; or set SAWTOOTH_CACHE to a cache that already contains the images."
        )

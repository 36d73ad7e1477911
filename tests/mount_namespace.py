"""Private mounts: full disks and read-only folders without changes to the machine."""

import os
import subprocess
from pathlib import Path


class MountNamespace:
    """A separate mount namespace (mount_namespaces(7)) that lasts as long as the context."""

    def __enter__(self):
        # An ordinary user gets one together with a user namespace, in which the user is root.
        user_options = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        self.holder = subprocess.Popen(
            ["unshare", *user_options, "--mount", "sh", "-c", "echo ready; exec sleep 600"],
            stdout=subprocess.PIPE,
            text=True,
        )
        if self.holder.stdout.readline() != "ready\n":
            raise OSError("unshare(1): no mount namespace for this user")
        self.enter = ["nsenter", "--target", str(self.holder.pid), "--mount"]
        if user_options:
            self.enter += ["--user", "--preserve-credentials"]
        return self

    def __exit__(self, *_):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()

    def within(self, folder):
        """Return the prefix of a command to be executed in the namespace, in a folder."""
        return (*self.enter, "env", f"--chdir={folder}")

    def run(self, *command):
        """Run a command in the namespace and wait for its end."""
        subprocess.run([*self.enter, *command], check=True, stderr=subprocess.DEVNULL)

    def seen(self, path):
        """Return the path outside the namespace of a file inside it."""
        return Path(f"/proc/{self.holder.pid}/root{path}")

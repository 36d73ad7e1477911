"""A real Slurm cluster on one machine: a login node with the controller, and compute nodes.

Each machine is made of namespaces: it has its own host name and mounts (its `/etc/slurm` is the
cluster's, and this machine's stays as it is) and, if it is a compute node, its own processes,
which end at once when its power is cut. Needs root; the jobs belong to an ordinary user.
"""

import os
import shlex
import shutil
import socket
import stat
import subprocess
import time
from pathlib import Path

import pytest

#: Program -> Debian package.
PROGRAMS = {
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "sbatch": "slurm-client",
    "munged": "munge",
    "setpriv": "util-linux",
    "unshare": "util-linux",
}
#: As on many clusters, but faster to notice a node that is down; no accounting (which needs a database),
#: so the state of finished jobs is kept by the controller (MinJobAge).
CONFIGURATION = """\
ClusterName=sawtooth
SlurmctldHost=login(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=1,sched_interval=5
MpiDefault=none
ReturnToService=1
MinJobAge=3600
SlurmdTimeout=6
KillWait=5
"""
ENTER = 'hostname "$0" && . "$1/mounts" && shift && exec "$@"'


def requirements():
    """Return the missing requirements of a cluster in one sentence, or None."""
    if os.geteuid() != 0:
        return "only root can set a cluster up"
    path = os.pathsep.join([os.environ["PATH"], "/usr/sbin"])
    missing = sorted({package for program, package in PROGRAMS.items() if not shutil.which(program, path=path)})
    if missing:
        return f"a cluster needs packages that aren't there: apt-get install {' '.join(missing)}"
    tried = subprocess.run(
        ["unshare", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "true"], capture_output=True
    )
    return "namespaces can't be made here" if tried.returncode else None


class SlurmCluster:
    """A cluster in a folder; a context manager that takes it down again.

    Parameters
    ----------
    folder : pathlib.Path
        Folder for its state and logs; nobody else may be able to write to its parents.
    user : pwd.struct_passwd
        Owner of its jobs.
    nodes : int
        Number of compute nodes, each with one core.
    memory_mb : int
        Memory of a node.
    shown : list of pathlib.Path
        Folders that the user must be able to reach, even within another user's home.
    """

    def __init__(self, folder, user, nodes=3, memory_mb=4000, shown=()):
        self.folder, self.user, self.memory_mb, self.shown = Path(folder), user, memory_mb, shown
        self.nodes = [f"node{number}" for number in range(1, nodes + 1)]
        self.processes = {}

    def __enter__(self):
        try:
            self.write_configuration()
            munge = self.folder / "munge"
            self.start("munged", "login", "munged", "--foreground", "--force", f"--socket={munge}/socket", f"--key-file={munge}/key",
                       f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")  # fmt: skip
            self.wait(lambda: (munge / "socket").is_socket(), "munged")
            self.start("slurmctld", "login", "slurmctld", "-D")
            for node in self.nodes:
                self.power_on(node)
            self.wait(
                lambda: self.ask("sinfo", "-h", "-o", "%t %D", check=False) == f"idle {len(self.nodes)}", "the nodes"
            )
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes.values()):
            process.kill()
            process.wait()

    def write_configuration(self):
        ports = free_ports(1 + len(self.nodes))
        for folder in ("etc-slurm", "munge", "state", *(f"{node}/spool" for node in self.nodes)):
            (self.folder / folder).mkdir(parents=True)
        (self.folder / "munge/key").write_bytes(os.urandom(128))
        (self.folder / "munge/key").chmod(0o600)
        lines = [CONFIGURATION.format(folder=self.folder, controller_port=ports[0])]
        lines += [
            f"NodeName={node} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory={self.memory_mb}\n"
            for node, port in zip(self.nodes, ports[1:], strict=True)
        ]
        lines += ["PartitionName=compute Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"]
        (self.folder / "etc-slurm/slurm.conf").write_text("".join(lines))
        (self.folder / "hosts").write_text(f"127.0.0.1 localhost login {' '.join(self.nodes)}\n")
        mounts = ["set -e", *passages(self.shown, self.folder / "shown")]
        mounts += [f"mount --bind {self.folder}/etc-slurm /etc/slurm", f"mount --bind {self.folder}/hosts /etc/hosts"]
        (self.folder / "mounts").write_text("\n".join([*mounts, "set +e", ""]))

    def power_on(self, node):
        self.start(node, node, "slurmd", "-D", "-N", node, own_processes=True)

    def cut_power(self, node):
        """End a node with everything that runs on it, at once (its process 1 is killed)."""
        process = self.processes.pop(node)
        process.kill()
        process.wait()

    def start(self, name, machine, *command, own_processes=False):
        """Start a service on a machine of the cluster; it ends when the tests end, in whatever way."""
        with (self.folder / f"{name}.out").open("ab") as output:
            self.processes[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *self.enter(machine, own_processes), *command],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, env=self.environment(),
            )  # fmt: skip

    def enter(self, machine, own_processes=False):
        """Return the prefix of a command line to be executed on a machine of the cluster."""
        pids = ["--pid", "--fork", "--kill-child", "--mount-proc"] if own_processes else []
        return ["unshare", "--mount", "--uts", *pids, "sh", "-c", ENTER, machine, str(self.folder)]

    def environment(self, **more):
        path = os.pathsep.join([os.environ["PATH"], "/usr/sbin"])
        return {"PATH": path, "LANG": "C.UTF-8", **more}

    def log_in(self, *command, cwd, **variables):
        """Start a command as the ordinary user on the login node, with its output in one pipe."""
        as_user = ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups"]
        return subprocess.Popen(
            [*self.enter("login"), *as_user, *map(str, command)],
            cwd=cwd, env=self.environment(**variables), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    def ask(self, *command, check=True):
        """Return the output of a Slurm command on the login node."""
        done = subprocess.run(
            [*self.enter("login"), *command], env=self.environment(), capture_output=True, text=True, timeout=60
        )
        if check and done.returncode:
            pytest.fail(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
        return done.stdout.strip()

    def wait(self, condition, what, limit_s=120):
        """Wait until a condition holds."""
        deadline = time.monotonic() + limit_s
        while not (value := condition()):
            ended = [name for name, process in self.processes.items() if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                logs = "\n".join(path.read_text()[-1500:] for path in sorted(self.folder.rglob("*.[ol][uo][tg]")))
                pytest.fail(f"waited in vain for {what} (ended: {', '.join(ended) or 'nothing'})\n{logs}")
            time.sleep(0.2)
        return value


def passages(paths, stash):
    """Return the shell commands that make each path in somebody's private folder available in an open one."""
    held, opened, shown = [], [], []
    for number, path in enumerate(dict.fromkeys(paths)):
        private = next((p for p in reversed(path.parents) if not p.stat().st_mode & stat.S_IXOTH), None)
        if private:
            held.append(f"mkdir -p {stash}/{number} && mount --bind {shlex.quote(str(path))} {stash}/{number}")
            opened.append(f"mount -t tmpfs -o mode=755 private {shlex.quote(str(private))}")
            shown.append(f"mkdir -p {shlex.quote(str(path))} && mount --bind {stash}/{number} {shlex.quote(str(path))}")
    return [*held, *dict.fromkeys(opened), *shown]


def free_ports(count):
    """Return TCP ports on which nobody listens."""
    with_ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [server.getsockname()[1] for server in with_ports]
    finally:
        for server in with_ports:
            server.close()

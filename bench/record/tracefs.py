"""tracefs for the programs of this folder: a mount that nothing else sees, where the system has none."""
import os
import pathlib
import shutil
import subprocess
import sys

PLACE = pathlib.Path("/sys/kernel/tracing")
# Set in the program that runs inside the mount namespace, so that it does not start another.
INSIDE = "SLABLAB_BENCH_TRACEFS"


def ready():
    """Returns None where tracefs can be used, and else what is missing, in a sentence.

    Where tracefs is not mounted, this program is started again in a mount namespace of its own with tracefs in it: the mount ends with the program.
    """
    if (PLACE / "events/kmem").is_dir():
        return None
    if os.geteuid() != 0:
        return f"{PLACE} is not mounted or cannot be read: run this as root"
    if os.environ.get(INSIDE):
        return "this kernel has no kmem events (CONFIG_TRACING)"
    unshare = shutil.which("unshare")
    if not unshare:
        return "tracefs is not mounted, and unshare (util-linux) is missing to mount it"
    mount = f'mount -t tracefs nodev {PLACE} && exec "$@"'
    command = [unshare, "--mount", "sh", "-c", mount, "sh"]
    if subprocess.run([*command, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        return f"tracefs cannot be mounted on {PLACE}: this kernel has none, or this machine forbids mounts"
    os.environ[INSIDE] = "1"
    os.execv(unshare, [*command, sys.executable, *sys.argv])


def need(name, *tools):
    """Ends the program with a line and status 0 where it cannot measure, so that the measurements after it still run."""
    missing = [tool for tool in tools if not shutil.which(tool)]
    reason = f"missing: {', '.join(missing)}" if missing else ready()
    if reason:
        print(f"{name}: NOT RUN: {reason}", file=sys.stderr)
        sys.exit(0)

"""The conditions of the measurements: machine, system, versions, load."""

import datetime
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile

from harness import Bench


def conditions(bench: Bench) -> list[tuple[str, str]]:
    """Name and value of everything a number depends on."""
    return [
        ("date", datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("processor", f"{processor()}, {os.cpu_count()} cores"),
        ("memory", f"{memory_bytes() / 2**30:.0f} GiB"),
        ("system", f"{distribution()}, Linux {platform.release()}"),
        ("file system of the runs", file_system(tempfile.gettempdir())),
        ("load average before", load()),
        ("fullbench", first_line([bench.fullbench(), "--version"])),
        ("commit", commit()),
        ("rustc", first_line(["rustc", "--version"])),
        ("python", platform.python_version()),
        ("node", first_line(["node", "--version"])),
        ("wrk", first_line(["wrk", "-v"])),
    ]


def commit() -> str:
    """What was measured; `-dirty` where files differ from the commit."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else "none"


def load() -> str:
    """The load average over 1, 5 and 15 minutes."""
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def processor() -> str:
    """The processor's name."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def memory_bytes() -> int:
    """All memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def distribution() -> str:
    """The distribution's name."""
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "unknown")
    except OSError:
        return "unknown"


def file_system(folder: str) -> str:
    """The kind of file system a folder is on: on tmpfs durability would cost nothing."""
    return first_line(["stat", "-f", "-c", "%T", folder])


def first_line(command: list[str]) -> str:
    """What a program says first, or that it is missing."""
    if shutil.which(command[0]) is None:
        return "not installed"
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (run.stdout + run.stderr).strip().splitlines()
    return lines[0].strip() if lines else "unknown"

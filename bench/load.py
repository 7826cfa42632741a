"""Load from wrk: as many requests as go over connections that stay open, each with a body of its own."""

import dataclasses
import json
import os
import re
import shutil
import statistics
import subprocess

from harness import Failed, Skipped

CONNECTIONS = 64
# The letter that `post.lua` puts the number of the request in place of.
NUMBER = "@"
MILLISECONDS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 60e3}


@dataclasses.dataclass
class Load:
    """What wrk saw."""

    connections: int
    requests: int
    refused: int
    per_second: float
    p50_ms: float
    p99_ms: float

    def accepted_per_second(self) -> float:
        """The rate of the requests that were carried out."""
        return self.per_second * (1 - self.refused / max(self.requests, 1))


def post(
    url: str,
    body: dict,
    seconds: int,
    headers: dict[str, str] | None = None,
    connections: int = CONNECTIONS,
    most_refused: float = 0.0,
) -> Load:
    """Posts the body for some seconds; fails where more than a share of the requests is refused."""
    require_wrk()
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "30s", "-s", "bench/post.lua"]
    for name, value in (headers or {}).items():
        command += ["-H", f"{name}: {value}"]
    said = subprocess.run([*command, url, "--", json.dumps(body)], capture_output=True, text=True, check=True).stdout
    load = understood(said, connections)
    if "Socket errors" in said or load.refused > most_refused * load.requests:
        raise Failed(f"wrk met errors:\n{said}")
    return load


def understood(said: str, connections: int) -> Load:
    """The numbers in what wrk prints."""

    def number(pattern: str, default: str | None = None) -> str:
        found = re.search(pattern, said)
        if found is None and default is None:
            raise Failed(f"wrk said something else:\n{said}")
        return found.group(1) if found else default

    def milliseconds(share: int) -> float:
        value, unit = re.fullmatch(r"([\d.]+)(\w+)", number(rf"{share}%\s+(\S+)")).groups()
        return float(value) * MILLISECONDS[unit]

    return Load(
        connections=connections,
        requests=int(number(r"(\d+) requests in")),
        refused=int(number(r"Non-2xx or 3xx responses: (\d+)", "0")),
        per_second=float(number(r"Requests/sec:\s+([\d.]+)")),
        p50_ms=milliseconds(50),
        p99_ms=milliseconds(99),
    )


def median_rate(loads: list[Load]) -> float:
    """The median rate of the requests that were carried out."""
    return statistics.median(load.accepted_per_second() for load in loads)


def describe(loads: list[Load]) -> str:
    """Each repetition's rate and delays."""
    rates = ", ".join(f"{load.accepted_per_second():,.0f}" for load in loads)
    delays = ", ".join(f"{load.p50_ms:,.1f}/{load.p99_ms:,.1f}" for load in loads)
    refused = sum(load.refused for load in loads)
    return f"runs: {rates} requests/s; p50/p99 {delays} ms" + (f"; {refused:,} refused" if refused else "")


def require_wrk() -> None:
    """Installs wrk where that is allowed."""
    if shutil.which("wrk"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Skipped("wrk is not installed")
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "wrk"]):
        subprocess.run(command, capture_output=True, check=False)
    if not shutil.which("wrk"):
        raise Skipped("wrk could not be installed")

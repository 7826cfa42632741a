"""The server under measurement: a process of its own on a fresh home and a free port, called with the key of its first start."""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request

import harness
from harness import Bench, Failed, Skipped

START_SECONDS = 30.0
STOP_SECONDS = 60.0
POLL_SECONDS = 0.05


@dataclasses.dataclass
class Server:
    """A server that answers."""

    process: subprocess.Popen
    home: pathlib.Path
    url: str
    key: str

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def call(self, method: str, path: str, body: dict | None = None) -> dict:
        """One request; anything but success fails the measurement."""
        data = json.dumps(body).encode() if body is not None else None
        headers = {**self.headers(), "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            raise Failed(f"{method} {path}: {error.code} {error.read()[:500]!r}") from error

    def upload(self, file: pathlib.Path, limit_seconds: float = 900.0) -> tuple[dict, float, float]:
        """Makes a data set of a file. Gives its valid version, and the seconds of the upload and of the validation."""
        if shutil.which("curl") is None:
            raise Skipped("curl is not installed")
        dataset = self.call("POST", "/v1/datasets", {"name": file.stem, "type": "EVALUATION"})["dataset_id"]
        versions = f"/v1/datasets/{dataset}/versions"
        started = time.perf_counter()
        command = ["curl", "-sS", "--fail-with-body", "-H", f"Authorization: Bearer {self.key}", "-F", f"file=@{file}"]
        sent = subprocess.run([*command, self.url + versions], capture_output=True, text=True, check=False)
        uploaded = time.perf_counter()
        if sent.returncode != 0:
            raise Failed(f"the upload failed: {sent.stderr} {sent.stdout}")
        version = self.wait(f"{versions}/1", lambda version: version["validation_status"] != "PENDING", limit_seconds)
        if version["validation_status"] != "VALID":
            raise Failed(f"the upload is not valid: {version}")
        return version, uploaded - started, time.perf_counter() - uploaded

    def wait(self, path: str, done, limit_seconds: float) -> dict:
        """What there is at a path once it is done."""
        deadline = time.monotonic() + limit_seconds
        while not done(found := self.call("GET", path)):
            if time.monotonic() > deadline:
                raise Failed(f"{path} after {limit_seconds:.0f} s: {found}")
            time.sleep(POLL_SECONDS)
        return found

    def memory_mb(self, name: str) -> float:
        """A line of the process's status, `VmRSS` or `VmHWM`, in megabytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE).group(1)) * 1024 / 1e6

    def cpu_seconds(self) -> float:
        """What the process has used so far, in itself and in the kernel."""
        after_name = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")

    def rows(self, *tables: str) -> list[int]:
        """Rows of each table at one moment, read beside the server."""
        return rows(self.home / "fullbench.db", *tables)


def rows(database: pathlib.Path, *tables: str) -> list[int]:
    """Rows of each table at one moment."""
    counts = ", ".join(f"(SELECT count(*) FROM {table})" for table in tables)
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as connection:
        return list(connection.execute(f"SELECT {counts}").fetchone())


@contextlib.contextmanager
def serving(bench: Bench):
    """A server on a fresh home; stopped afterwards, which must go well."""
    with harness.temporary_folder() as folder:
        home = folder / "home"
        command = [bench.fullbench(), "--home", str(home), "serve", "--listen", "127.0.0.1:0"]
        # What is measured is the server, not the limit it keeps.
        command += ["--requests-per-minute", "0"]
        started = time.perf_counter()
        process = harness.start(command, folder)
        try:
            yield Server(process, home, *address_and_key(process, folder / "stderr.log"))
            process.send_signal(signal.SIGTERM)
            stopped = harness.finish(process, folder, started, STOP_SECONDS)
            harness.check(stopped.code == 0, "the server did not stop well", stopped)
        finally:
            if process.returncode is None:
                process.kill()
                process.wait()


def address_and_key(process: subprocess.Popen, log: pathlib.Path) -> tuple[str, str]:
    """What the first start says."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        said = log.read_text()
        if found := re.search(r"^serving (http://\S+) ", said, re.MULTILINE):
            return found.group(1), re.search(r"^  (fb_\w+)$", said, re.MULTILINE).group(1)
        if process.poll() is not None or time.monotonic() > deadline:
            raise Failed(f"the server did not start: {said[-1500:]}")
        time.sleep(POLL_SECONDS)

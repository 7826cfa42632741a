"""A real server for the tests, from the binary that `FULLBENCH_BIN` names, with a home and a port of its own."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from proxy import Proxy

from fullbench import Client, RetryPolicy

QUICK = RetryPolicy(first_pause=0.02, longest_pause=1.0)
STARTED = re.compile(r"serving (http://\S+)")
KEY = re.compile(r"^ +(fb_\w+)$")


@dataclass
class Server:
    """A server that can be stopped and started again on the same home and port."""

    binary: Path
    home: Path
    arguments: list[str] = field(default_factory=list)
    url: str = ""
    api_key: str = ""
    _process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        listen = self.url.removeprefix("http://") or "127.0.0.1:0"
        command = [str(self.binary), "--home", str(self.home), "serve", "--listen", listen, *self.arguments]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FULLBENCH_")}
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        assert self._process.stderr is not None
        said = ""
        for line in self._process.stderr:
            said += line
            if key := KEY.match(line):
                self.api_key = key[1]
            if started := STARTED.search(line):
                self.url = started[1]
                return
        raise RuntimeError(f"the server did not start:\n{said}")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.communicate(timeout=30)
            self._process = None


@pytest.fixture(scope="session")
def binary() -> Path:
    named = os.environ.get("FULLBENCH_BIN")
    if not named:
        pytest.exit("FULLBENCH_BIN names no binary; run scripts/test-sdk", returncode=2)
    return Path(named).resolve()


@pytest.fixture(scope="session")
def models_url(binary: Path) -> Iterator[str]:
    """A simulated provider."""
    command = [str(binary.with_name("simllm")), "--latency-ms", "20"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.terminate()


@pytest.fixture(scope="session")
def server(binary: Path, models_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server that most tests share."""
    arguments = ["--allow-model-url", f"{models_url}/v1", "--allow-private-webhooks"]
    server = Server(binary, tmp_path_factory.mktemp("home"), arguments)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def own_server(binary: Path, tmp_path: Path) -> Iterator[Server]:
    """A server for one test."""
    server = Server(binary, tmp_path / "home")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, server.api_key, retry=QUICK) as client:
        yield client


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    proxy = Proxy(server.url)
    yield proxy
    proxy.close()


@pytest.fixture
def proxied(proxy: Proxy, server: Server) -> Iterator[Client]:
    """A client whose connections go through the proxy."""
    with Client(proxy.url, server.api_key, retry=QUICK) as client:
        yield client


@pytest.fixture
def model(models_url: str) -> dict[str, str]:
    """A model that the server may ask."""
    return {"provider": "openai", "model": "sim", "name": "sim", "base_url": f"{models_url}/v1"}

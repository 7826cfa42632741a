"""A client that keeps to a timetable: requests are due at fixed times, however slow the answers are, and each delay counts
from when the request was due. A slow answer cannot hide those that had to wait behind it."""

import asyncio
import collections
import dataclasses
import math
import urllib.parse
from collections.abc import Callable

from harness import Failed

HEAD_END = b"\r\n\r\n"
PATIENCE_SECONDS = 60.0


@dataclasses.dataclass
class Paced:
    """The delay of every request, and how many were sent too late because no connection was free."""

    delays_ms: list[float]
    waited: int

    def quantile(self, share: float) -> float:
        """The smallest delay that this share of the requests does not exceed."""
        return sorted(self.delays_ms)[math.ceil(share * len(self.delays_ms)) - 1]


def post(url: str, body: Callable[[int], bytes], rate: int, seconds: int, connections: int, headers: dict[str, str]) -> Paced:
    """Posts `rate` bodies a second over connections that stay open; anything but success fails."""
    address = urllib.parse.urlsplit(url)
    lines = [f"POST {address.path} HTTP/1.1", f"Host: {address.netloc}", "Content-Type: application/json"]
    head = "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "Content-Length: "]).encode()

    def request(index: int) -> bytes:
        content = body(index)
        return head + str(len(content)).encode() + HEAD_END + content

    timetable = Timetable(rate, rate * seconds, request)
    return asyncio.run(timetable.run(address.hostname, address.port, connections))


class Timetable:
    """Which request is due when, and the connections that are free for it."""

    def __init__(self, rate: int, count: int, request: Callable[[int], bytes]):
        self.rate, self.count, self.request = rate, count, request
        self.free: collections.deque[Connection] = collections.deque()
        self.overdue: collections.deque[int] = collections.deque()
        self.delays_ms: list[float] = []
        self.waited = 0

    async def run(self, host: str, port: int, connections: int) -> Paced:
        self.loop = asyncio.get_running_loop()
        self.ended = self.loop.create_future()
        for _ in range(connections):
            await self.loop.create_connection(lambda: Connection(self), host, port)
        self.began = self.loop.time()
        for index in range(self.count):
            if (early := self.due(index) - self.loop.time()) > 0:
                await asyncio.sleep(early)
            if self.free:
                self.free.popleft().send(index)
            else:
                self.waited += 1
                self.overdue.append(index)
        try:
            await asyncio.wait_for(self.ended, PATIENCE_SECONDS)
        except TimeoutError as error:
            answered = len(self.delays_ms)
            raise Failed(f"{answered} of {self.count} requests were answered {PATIENCE_SECONDS:.0f} s after the last") from error
        return Paced(self.delays_ms, self.waited)

    def due(self, index: int) -> float:
        return self.began + index / self.rate

    def answered(self, connection: "Connection", index: int) -> None:
        """Notes the delay; the connection takes what waits longest."""
        self.delays_ms.append((self.loop.time() - self.due(index)) * 1_000)
        if self.overdue:
            connection.send(self.overdue.popleft())
        else:
            self.free.append(connection)
        if len(self.delays_ms) == self.count:
            self.ended.set_result(None)

    def failed(self, reason: str) -> None:
        if not self.ended.done():
            self.ended.set_exception(Failed(reason))


class Connection(asyncio.Protocol):
    """One connection, with one request at a time."""

    def __init__(self, timetable: Timetable):
        self.timetable = timetable
        self.received = b""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self.timetable.free.append(self)

    def send(self, index: int) -> None:
        self.index = index
        self.transport.write(self.timetable.request(index))

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, end, content = self.received.partition(HEAD_END)
        if not end:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(content) < length:
            return
        if not head.startswith(b"HTTP/1.1 2"):
            self.timetable.failed(f"a request was refused: {self.received[:500]!r}")
        self.received = b""
        self.timetable.answered(self, self.index)

    def connection_lost(self, error: Exception | None) -> None:
        self.timetable.failed(f"a connection was closed: {error}")

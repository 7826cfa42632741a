"""Ten thousand open event streams: how long it takes until an event has reached the last of them."""

import dataclasses
import http.client
import json
import re
import resource
import select
import socket
import time
import urllib.parse

import serve
import server
from harness import Bench, Failed, Measurement, Skipped
from server import Server

STREAMS = 10_000
EVENTS = 5
TARGET_SECONDS = 1.0
PATIENCE_SECONDS = 30.0
# Files that the processes need besides their streams.
OTHER_FILES = 500
# Connections that are asked for before the answers of the first of them are read.
OPENED_TOGETHER = 500
READ_BYTES = 65_536
# How a stream begins that waits for events.
BEGUN = b"retry: "
EVENT_ID = re.compile(rb"^id: (\d+)\nevent: \S+$", re.MULTILINE)


@dataclasses.dataclass
class Stream:
    """A connection that events come over, and what has been read of it."""

    connection: socket.socket
    received: bytes = b""
    told: list[int] = dataclasses.field(default_factory=list)


class Readers:
    """Many streams, read as soon as something comes. Plain epoll, so that the reading itself costs little."""

    def __init__(self, served: Server):
        address = urllib.parse.urlsplit(served.url)
        self.address = (address.hostname, address.port)
        head = ["GET /v1/events HTTP/1.1", f"Host: {address.netloc}", f"Authorization: Bearer {served.key}", "", ""]
        self.request = "\r\n".join(head).encode()
        self.poll = select.epoll()
        self.streams: dict[int, Stream] = {}

    def open(self, count: int) -> None:
        """Opens streams until there are so many, and waits until each has begun."""
        while len(self.streams) < count:
            for _ in range(min(OPENED_TOGETHER, count - len(self.streams))):
                connection = socket.create_connection(self.address, timeout=PATIENCE_SECONDS)
                connection.sendall(self.request)
                connection.setblocking(False)
                self.streams[connection.fileno()] = Stream(connection)
                self.poll.register(connection.fileno(), select.EPOLLIN)
            self.read_until(lambda stream: BEGUN in stream.received, "did not begin")

    def read_until(self, reached, what: str) -> float:
        """Reads until every stream has reached something; gives the time of the last."""
        missing = {number for number, stream in self.streams.items() if not reached(stream)}
        last = time.perf_counter()
        deadline = last + PATIENCE_SECONDS
        while missing:
            for number, _ in self.poll.poll(1.0):
                self.read(self.streams[number])
                if number in missing and reached(self.streams[number]):
                    missing.discard(number)
            last = time.perf_counter()
            if last > deadline:
                raise Failed(f"{len(missing)} of {len(self.streams)} streams {what} in {PATIENCE_SECONDS:.0f} s")
        return last

    def read(self, stream: Stream) -> None:
        """Takes what is there, and notes the events that are whole."""
        data = stream.connection.recv(READ_BYTES)
        if not data:
            raise Failed(f"a stream was closed after {stream.received[-300:]!r}")
        stream.received += data
        begun, end, _ = stream.received.rpartition(b"\n\n")
        if end and b"\nevent: " in begun:
            stream.told += [int(event[1]) for event in EVENT_ID.finditer(begun)]
            stream.received = stream.received[len(begun) :]

    def close(self) -> None:
        for stream in self.streams.values():
            stream.connection.close()
        self.poll.close()


def events(bench: Bench) -> list[Measurement]:
    """From the sending of a request to the last stream that has its event; the slowest of several counts."""
    count = bench.size(STREAMS, 1_000)
    raise_file_limit(count + OTHER_FILES)
    with server.serving(bench) as served:
        before = served.memory_mb("VmRSS")
        readers = Readers(served)
        try:
            started = time.perf_counter()
            readers.open(count)
            opened = time.perf_counter() - started
            memory = served.memory_mb("VmRSS")
            times = [time_of_event(served, readers, number) for number in range(1, EVENTS + 1)]
        finally:
            readers.close()
        peak = served.memory_mb("VmHWM")
    slowest = max(times)
    return [
        Measurement(
            name="serve-events",
            what=f"{count:,} open event streams: from the sending of an evaluation to the last stream that has its event, "
            f"the slowest of {EVENTS}",
            target=f"< {TARGET_SECONDS:.0f} s",
            measured=f"{slowest:.2f} s",
            ratio=TARGET_SECONDS / slowest,
            met=slowest < TARGET_SECONDS,
            detail=f"seconds of each event: {', '.join(f'{seconds:.3f}' for seconds in times)}, the client's reading among them; "
            f"every stream had every event once and in order; opened in {opened:.1f} s; "
            f"server: {before:.0f} MB before, {memory:.0f} MB with the streams, {peak:.0f} MB peak",
        )
    ]


def time_of_event(served: Server, readers: Readers, number: int) -> float:
    """Evaluates an answer, and waits until its event is everywhere."""
    address = urllib.parse.urlsplit(served.url)
    connection = http.client.HTTPConnection(address.netloc, timeout=PATIENCE_SECONDS)
    connection.connect()
    body = json.dumps(serve.answer(str(number)))
    sent = time.perf_counter()
    connection.request("POST", "/v1/evaluations", body, {**served.headers(), "Content-Type": "application/json"})
    reached = readers.read_until(lambda stream: bool(stream.told) and stream.told[-1] >= number, "were not told")
    reply = connection.getresponse()
    if reply.status != 201:
        raise Failed(f"the evaluation was answered by {reply.status}: {reply.read()[:300]!r}")
    connection.close()
    expected = list(range(1, number + 1))
    for stream in readers.streams.values():
        if stream.told != expected:
            raise Failed(f"a stream was told {stream.told}, not {expected}")
    return reached - sent


def raise_file_limit(needed: int) -> None:
    """Lets this process, and those that it starts, open as many files as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < needed:
        raise Skipped(f"{needed} open files are needed, {most} are allowed: ulimit -Hn")
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed if most == resource.RLIM_INFINITY else most, most))

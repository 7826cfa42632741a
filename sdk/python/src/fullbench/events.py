"""Server-sent events: what they are, how they are read from bytes, and where a broken stream goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx
from pydantic import BaseModel, ValidationError

from .api import operations
from .calls import Download
from .errors import ConnectionFailed, FullbenchError, UnexpectedAnswer, error_of
from .flows import pause_before
from .settings import RetryPolicy

ENDS_OF_RUNS = ("run.completed", "run.incomplete", "run.cancelled", "run.failed")
SILENCE_SECONDS = 45.0
"""The server says something at least every 15 seconds: a stream that is silent for longer is broken."""


class Event(BaseModel):
    """Something that happened."""

    event_id: int
    """Its number: greater than that of every event before it in the organization."""
    type: str
    """What happened, such as `run.results` or `dataset.validated`."""
    run_id: UUID | None = None
    created_at: datetime
    data: dict[str, Any]

    @property
    def ends_run(self) -> bool:
        """Whether a run came to an end by it, for good or until it is resumed."""
        return self.type in ENDS_OF_RUNS


@dataclass
class EventReader:
    """Reads events from the bytes of a stream, and remembers what was read across streams."""

    last_id: int | None = None
    retry_seconds: float = 1.0
    failures: int = 0
    """Connections in a row that brought nothing."""
    _rest: bytes = b""
    _data: list[str] = field(default_factory=list)
    _id: int | None = None

    def connect(self, run: object | None) -> Download:
        """The request for what comes after the last event. What a broken stream left half is given anew."""
        self._rest, self._data, self._id = b"", [], None
        last = None if self.last_id is None else str(self.last_id)
        if run is None:
            return operations.stream_events(last_event_id=last)
        return operations.stream_run_events(str(run), last_event_id=last)

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Events that end in this chunk. Only line feeds end lines, unlike in Python's texts."""
        self.failures = 0
        lines = (self._rest + chunk).replace(b"\r\n", b"\n").split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            event = self._take(line.decode("utf-8", "replace"))
            if event is not None:
                yield event

    @staticmethod
    def refusal(response: httpx.Response) -> FullbenchError:
        """Why there is no stream; raised unless asking again may help."""
        error = error_of(response)
        if response.status_code < 500 and response.status_code != 429:
            raise error
        return error

    def lost(self, policy: RetryPolicy, cause: Exception | None) -> float:
        """Seconds until the next connection; raises after too many that brought nothing."""
        self.failures += 1
        if self.failures >= 2 * policy.attempts:
            raise ConnectionFailed(f"the stream of events cannot be had: {cause or 'it ends at once'}") from cause
        if self.failures == 1:
            return min(self.retry_seconds, policy.longest_pause)
        return pause_before(self.failures, policy)

    def _take(self, line: str) -> Event | None:
        if not line:
            return self._end_of_event()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id" and value.isdigit():
            self._id = int(value)
        elif name == "retry" and value.isdigit():
            self.retry_seconds = int(value) / 1000
        return None

    def _end_of_event(self) -> Event | None:
        data, number = "\n".join(self._data), self._id
        self._data, self._id = [], None
        is_known = number is not None and self.last_id is not None and number <= self.last_id
        if number is not None and not is_known:
            self.last_id = number
        if not data or is_known:
            return None
        try:
            return Event.model_validate_json(data)
        except ValidationError as error:
            raise UnexpectedAnswer("an event cannot be read; is this package as old as the server?") from error

"""What a client does, without the doing: generators that yield steps and are given what came of them.

The blocking and the asynchronous client share every flow; each has its own way to take a step.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar, cast

import httpx
from pydantic import BaseModel, ValidationError

from .calls import Answer, Call, Download, Request
from .errors import ConnectionFailed, FullbenchError, UnexpectedAnswer, WaitExpired, error_of
from .settings import RetryPolicy

Result = TypeVar("Result")

IN_PROGRESS = "request_in_progress"
IN_PROGRESS_SECONDS = 60.0
"""How long an earlier attempt that is still being carried out is waited for."""


@dataclass(frozen=True)
class Attempt:
    """Send a request once; gives the response. A body that is wanted goes to the sink."""

    request: Request
    key: str | None
    sink: BinaryIO | None = None

    def restart(self) -> None:
        """Empties the sink of what an attempt before it left there."""
        if self.sink is not None:
            self.sink.seek(0)
            self.sink.truncate()


@dataclass(frozen=True)
class Pause:
    """Wait."""

    seconds: float


Step: TypeAlias = "Attempt | Pause | Call[Any]"
Flow: TypeAlias = Generator[Step, Any, Result]


def ask(call: Call[Answer]) -> Flow[Answer]:
    """Sends a call, with retries."""
    answer: Answer = yield call
    return answer


def answered(call: Call[Answer], policy: RetryPolicy) -> Flow[Answer]:
    """Sends a call until it is answered, and reads the answer."""
    response = yield from delivered(call, policy)
    kind: Any = call.answer
    if not issubclass(kind, BaseModel):
        return cast(Answer, None)
    try:
        return cast(Answer, kind.model_validate_json(response.content))
    except ValidationError as error:
        problem = f"the answer to {call.method} {call.path} is no {kind.__name__}: {error.errors()[0]['msg']}"
        raise UnexpectedAnswer(f"{problem}; is this package as old as the server?") from error


def delivered(request: Request, policy: RetryPolicy, sink: BinaryIO | None = None) -> Flow[httpx.Response]:
    """Sends a request until the server carries it out or refuses it."""
    key = (request.idempotency_key or str(uuid.uuid4())) if request.takes_key else None
    start, attempt = time.monotonic(), 0
    while True:
        attempt += 1
        error: FullbenchError
        asked_pause: float | None = None
        try:
            response: httpx.Response = yield Attempt(request, key, sink)
        except httpx.TransportError as cause:
            error = ConnectionFailed(f"no answer to {request.method} {request.path}: {cause or type(cause).__name__}")
            error.__cause__ = cause
            # What never reached the server was not carried out.
            may_repeat = request.is_repeatable or isinstance(cause, (httpx.ConnectError, httpx.ConnectTimeout))
        else:
            if response.is_success:
                return response
            asked_pause = seconds_of(response.headers.get("retry-after"))
            error = error_of(response, asked_pause)
            may_repeat = is_passing(response.status_code, request)
            is_early = time.monotonic() - start < IN_PROGRESS_SECONDS + request.patience
            if getattr(error, "code", "") == IN_PROGRESS and is_early:
                # An attempt whose answer got lost is still being carried out: its end is waited for.
                attempt -= 1
                yield Pause(policy.first_pause)
                continue
        if not may_repeat or attempt >= policy.attempts:
            raise error
        pause = asked_pause if asked_pause is not None else pause_before(attempt + 1, policy)
        if pause > policy.longest_pause:
            raise error
        yield Pause(pause)


def saved(request: Download, path: Path, policy: RetryPolicy) -> Flow[None]:
    """Writes what is downloaded to a file, which is there whole or not at all."""
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with part.open("wb") as sink:
            yield from delivered(request, policy, sink)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def is_passing(status: int, request: Request) -> bool:
    """Whether a refusal may be gone a moment later, and asking again is safe."""
    return status in (429, 503) or (status in (502, 504) and request.is_repeatable)


def pause_before(attempt: int, policy: RetryPolicy) -> float:
    """Seconds before an attempt: twice as many each time, less a random part."""
    return min(policy.longest_pause, policy.first_pause * 2.0 ** (attempt - 2)) * random.uniform(0.5, 1.0)


def seconds_of(retry_after: str | None) -> float | None:
    """What `Retry-After` asks for: seconds, or a date."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None


def until(
    call: Call[Answer],
    is_done: Callable[[Answer], bool],
    *,
    what: str,
    timeout: float | None,
    seen: Callable[[Answer], None] = lambda _: None,
    longest_pause: float = 2.0,
) -> Flow[Answer]:
    """Asks again and again until it is done, and tells what was seen each time."""
    start = time.monotonic()
    pause = 0.05
    while True:
        asked = time.monotonic()
        answer = yield from ask(call)
        seen(answer)
        if is_done(answer):
            return answer
        now = time.monotonic()
        if timeout is not None and now - start >= timeout:
            raise WaitExpired(f"{what} is not done after {timeout:g} seconds; it goes on")
        # A server that takes long to answer is asked less often.
        pause = max(min(longest_pause, pause * 1.5), 4 * (now - asked))
        yield Pause(pause if timeout is None else min(pause, max(0.0, timeout - (now - start))))

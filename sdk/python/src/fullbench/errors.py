"""Everything that this package raises by itself is a `FullbenchError`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import httpx
from pydantic import ValidationError

from .api.models import DatasetVersion, FieldProblem, Problem

if TYPE_CHECKING:
    from .api.models import RowProblem

SHOWN_ROWS = 10


class FullbenchError(Exception):
    """The base of all."""


class ConfigurationError(FullbenchError):
    """The client, or what it was given, cannot be used as it is."""


class ConnectionFailed(FullbenchError):
    """No answer came, after all attempts."""


class UnexpectedAnswer(FullbenchError):
    """What answered is not this API, or a version of it that this package does not know."""


class WaitExpired(FullbenchError):
    """Something was not done by the time it was waited for. It goes on; only the waiting has ended."""


class WebhookRejected(FullbenchError):
    """A message is not from the server, has been changed, or is too old."""


class InvalidDataset(FullbenchError):
    """Rows of a data set are not cases."""

    def __init__(self, version: DatasetVersion) -> None:
        self.version = version
        self.problems: Sequence[RowProblem] = version.validation_errors
        lines = [row_line(problem) for problem in self.problems[:SHOWN_ROWS]]
        if version.error_count > len(lines):
            lines.append(f"… {version.error_count - len(lines)} more")
        count = f"{version.error_count} problem{'' if version.error_count == 1 else 's'}"
        super().__init__("\n  ".join([f"the data set has {count}:", *lines]))


class ApiError(FullbenchError):
    """The server refused, as a problem document (RFC 9457)."""

    def __init__(self, problem: Problem, *, retry_after: float | None = None) -> None:
        self.status = problem.status
        self.code = problem.code
        """A word for programs: it never changes its meaning."""
        self.title = problem.title
        self.detail = problem.detail
        self.hint = problem.hint
        self.fields: Sequence[FieldProblem] = problem.errors or []
        self.request_id = problem.request_id
        self.retry_after = retry_after
        """Seconds after which the server wants to be asked again, where it says so."""
        super().__init__(message_of(problem))


class Unauthorized(ApiError):
    """401 or 403: the key is missing or unknown, or may not do this."""


class NotFound(ApiError):
    """404: there is no such thing."""


class Conflict(ApiError):
    """409 or 412: something is in the way, or was changed meanwhile."""


class InvalidRequest(ApiError):
    """400, 413, 415 or 422: `fields` says what is wrong."""


class RateLimited(ApiError):
    """429: too much at once, still after all attempts."""


class ServerFault(ApiError):
    """500 and above: the fault is the server's; its log has the `request_id`."""


BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    401: Unauthorized,
    403: Unauthorized,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    413: InvalidRequest,
    415: InvalidRequest,
    422: InvalidRequest,
    429: RateLimited,
}


def error_of(response: httpx.Response, retry_after: float | None = None) -> FullbenchError:
    """The error that a response is; its body must have been read."""
    status = response.status_code
    if status < 400:
        return UnexpectedAnswer(f"{response.request.url} answered with status {status}; is this a Fullbench server?")
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        problem = Problem(
            type="about:blank",
            title=response.reason_phrase,
            status=status,
            code=f"http_{status}",
            detail=f"{response.request.url.host} answered with status {status} and no problem document",
            request_id=response.headers.get("x-request-id"),
        )
    kind = BY_STATUS.get(status, ServerFault if status >= 500 else ApiError)
    return kind(problem, retry_after=retry_after)


def message_of(problem: Problem) -> str:
    """What went wrong, what to do about it, and how to find it in the server's log."""
    lines = [f"{problem.detail} ({problem.status} {problem.code})"]
    for error in problem.errors or []:
        if error.message not in problem.detail:
            lines.append(f"{error.field}: {error.message}")
    if problem.hint:
        lines.append(f"hint: {problem.hint}")
    if problem.request_id:
        lines.append(f"request: {problem.request_id}")
    return "\n  ".join(lines)


def row_line(problem: RowProblem) -> str:
    """A problem of a row in one line."""
    place = "the file" if problem.row is None else f"row {problem.row}"
    if problem.line is not None:
        place += f" (line {problem.line})"
    if problem.column is not None:
        place += f", column `{problem.column}`"
    hint = f"; {problem.hint}" if problem.hint else ""
    return f"{place}: {problem.message}{hint}"

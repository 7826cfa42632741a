"""Requests as values: what is asked, and the type of the answer. Making one sends nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx
from pydantic import BaseModel

Answer = TypeVar("Answer", bound="BaseModel | None")


@dataclass(frozen=True)
class Upload:
    """A file to be sent: its name, and its content or where it is."""

    name: str
    content: bytes | Path = field(repr=False)


@dataclass(frozen=True)
class Form:
    """A form with a file; fields that are None are left out."""

    file: Upload
    fields: Mapping[str, str | Sequence[str] | None] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a request may have beside its method and path."""

    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: BaseModel | Mapping[str, Any] | None = None
    form: Form | None = None
    takes_key: bool = False
    """Whether the server carries it out once, however often it is sent with the same `Idempotency-Key`."""
    idempotency_key: str | None = None
    """The key; one is drawn when the request is sent, unless it is given."""
    patience: float = 0.0
    """Seconds that the server may take beyond the client's timeout, because it was asked to wait."""


@dataclass(frozen=True)
class Request(Options):
    """A request to the API."""

    method: str
    path: str

    @property
    def is_repeatable(self) -> bool:
        """Whether sending it twice does the same as sending it once."""
        if self.method == "PUT":
            return not self.headers.get("If-Match")
        return self.method == "GET" or self.takes_key


@dataclass(frozen=True)
class Call(Request, Generic[Answer]):
    """A request whose answer is read into a type."""

    answer: type[Answer]


@dataclass(frozen=True)
class Download(Request):
    """A request whose answer is a file or a stream."""


@contextmanager
def http_request(
    client: httpx.Client | httpx.AsyncClient, request: Request, key: str | None, timeout: httpx.Timeout
) -> Iterator[httpx.Request]:
    """The request as HTTP, with the files it sends open for as long as it is being sent."""
    headers = {name: value for name, value in request.headers.items() if value is not None}
    if key is not None:
        headers["Idempotency-Key"] = key
    query = {name: text_of(value) for name, value in request.query.items() if value is not None}
    with ExitStack() as stack:
        content: dict[str, Any] = {}
        if request.body is not None:
            content["json"] = plain(request.body)
        if request.form is not None:
            file = request.form.file
            data = stack.enter_context(file.content.open("rb")) if isinstance(file.content, Path) else file.content
            content["files"] = {"file": (file.name, data, "application/octet-stream")}
            content["data"] = {name: value for name, value in request.form.fields.items() if value is not None}
        yield client.build_request(
            request.method, request.path, params=query, headers=headers, timeout=timeout, **content
        )


def path_of(template: str, **parts: object) -> str:
    """The path with its parts filled in; a part never becomes more than one segment."""
    return template.format(**{name: quote(str(part), safe="") for name, part in parts.items()})


def text_of(value: object) -> str:
    """A parameter of a query as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime) else str(value)


def plain(value: Any) -> Any:
    """A body as plain data: of models only what was set, so that the server's defaults are its own."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [plain(part) for part in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value

"""What can be evaluated: a data set of the server, a file, or rows in memory."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast
from uuid import UUID

from .api.models import Dataset, DatasetVersion, UploadFormat
from .calls import Upload
from .errors import ConfigurationError

DatasetSource: TypeAlias = "str | os.PathLike[str] | UUID | Dataset | DatasetVersion | Sequence[Mapping[str, Any]]"
"""A data set by id or name, a version, a file (CSV, JSON, JSON Lines, Parquet), or rows."""

FORMATS: dict[str, UploadFormat] = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".parquet": "parquet"}


@dataclass(frozen=True)
class Columns:
    """Which columns are what; the server finds those with usual names by itself."""

    input: str | None = None
    reference: Sequence[str] = ()
    id: str | None = None


@dataclass(frozen=True)
class Stored:
    """A data set that the server has, by its id or its name."""

    id: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class Rows:
    """Rows to be uploaded."""

    name: str
    """What their data set is called."""
    upload: Upload
    format: UploadFormat
    columns: Columns
    fingerprint: str
    """Tells whether the same rows, read in the same way, are there already."""

    @property
    def description(self) -> str:
        """What the version says of itself."""
        return f"{self.upload.name}, uploaded by the Python client ({self.fingerprint})"


def source_of(dataset: DatasetSource, name: str | None, columns: Columns) -> Stored | Rows | DatasetVersion:
    """What was meant."""
    if isinstance(dataset, DatasetVersion):
        return dataset
    if isinstance(dataset, Dataset):
        return Stored(id=str(dataset.dataset_id))
    if isinstance(dataset, UUID):
        return Stored(id=str(dataset))
    if isinstance(dataset, os.PathLike):
        return rows_of_file(Path(dataset), name, columns)
    if isinstance(dataset, str):
        if Path(dataset).suffix.lower() in FORMATS:
            return rows_of_file(Path(dataset), name, columns)
        return Stored(id=dataset) if is_uuid(dataset) else Stored(name=dataset)
    return rows_in_memory(dataset, name, columns)


def rows_of_file(path: Path, name: str | None, columns: Columns) -> Rows:
    """A file with cases."""
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise ConfigurationError(f"{path}: the ending says no format; use one of {', '.join(FORMATS)}")
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    mark = fingerprint(digest.hexdigest(), kind, columns)
    return Rows(name or path.stem, Upload(path.name, path), kind, columns, mark)


def rows_in_memory(rows: Sequence[Mapping[str, Any]], name: str | None, columns: Columns) -> Rows:
    """Rows as JSON Lines."""
    if not rows:
        raise ConfigurationError("the data set has no rows")
    lines: list[str] = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(cast(object, row), Mapping):
            raise ConfigurationError(f"row {number} is a {type(row).__name__}; rows are dicts")
        try:
            lines.append(json.dumps(dict(row), ensure_ascii=False, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise ConfigurationError(f"row {number} cannot be written as JSON: {error}") from error
    content = "".join(line + "\n" for line in lines).encode()
    mark = fingerprint(hashlib.sha256(content).hexdigest(), "jsonl", columns)
    return Rows(name or f"rows-{mark[:12]}", Upload("rows.jsonl", content), "jsonl", columns, mark)


def fingerprint(content: str, kind: str, columns: Columns) -> str:
    """A hash of what the rows are and of how they are read."""
    reading = [content, kind, columns.input, list(columns.reference), columns.id]
    return hashlib.sha256(json.dumps(reading).encode()).hexdigest()[:32]


def is_uuid(text: str) -> bool:
    """Whether a text is an id."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True

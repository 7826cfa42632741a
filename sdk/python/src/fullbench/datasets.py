"""From rows to a published version of a data set."""

from __future__ import annotations

from collections.abc import Iterator

from .api import operations
from .api.models import Dataset, DatasetVersion
from .errors import ConfigurationError, Conflict, InvalidDataset
from .flows import Flow, ask, until
from .sources import Rows, Stored

PAGE = 100


def published_version(source: Stored | Rows | DatasetVersion, timeout: float | None) -> Flow[DatasetVersion]:
    """The version that is meant, uploaded and published first where it is not there yet."""
    if isinstance(source, DatasetVersion):
        return source
    if isinstance(source, Rows):
        return (yield from published_rows(source, timeout))
    dataset = yield from stored_dataset(source)
    version = yield from newest_published(dataset)
    if version is None:
        raise ConfigurationError(f"the data set {dataset.name} has no published version; publish one first")
    return version


def published_rows(rows: Rows, timeout: float | None) -> Flow[DatasetVersion]:
    """The published version with these rows; they are uploaded unless they were before."""
    dataset = yield from dataset_named(rows.name)
    if dataset is None:
        dataset = yield from new_dataset(rows.name)
    else:
        version = yield from newest_published(dataset, fingerprint=rows.fingerprint)
        if version is not None:
            return version
    uploaded = yield from ask(
        operations.upload_dataset_version(
            dataset.dataset_id,
            rows.upload,
            description=rows.description,
            format=rows.format,
            input=rows.columns.input,
            reference=list(rows.columns.reference) or None,
            id=rows.columns.id,
        )
    )
    number = uploaded.version_number
    version = yield from until(
        operations.get_dataset_version(dataset.dataset_id, number),
        lambda version: version.validation_status != "PENDING",
        what=f"looking at the rows of {rows.name}",
        timeout=timeout,
    )
    if version.validation_status == "INVALID":
        raise InvalidDataset(version)
    return (yield from ask(operations.publish_dataset_version(dataset.dataset_id, number)))


def stored_dataset(source: Stored) -> Flow[Dataset]:
    """A data set that the server has."""
    if source.id is not None:
        return (yield from ask(operations.get_dataset(source.id)))
    dataset = yield from dataset_named(source.name or "")
    if dataset is None:
        raise ConfigurationError(
            f"there is no data set {source.name!r}; give the name or id of one, a file "
            "ending in .csv, .json, .jsonl or .parquet, or a list of rows"
        )
    return dataset


def new_dataset(name: str) -> Flow[Dataset]:
    """A data set with this name, made now or by somebody else at the same moment."""
    try:
        return (yield from ask(operations.create_dataset({"name": name, "type": "EVALUATION"})))
    except Conflict:
        dataset = yield from dataset_named(name)
        if dataset is None:
            raise
        return dataset


def dataset_named(name: str) -> Flow[Dataset | None]:
    """The data set with exactly this name."""
    for offset in pages():
        page = yield from ask(operations.list_datasets(name=name, limit=PAGE, offset=offset))
        for dataset in page.datasets:
            if dataset.name == name:
                return dataset
        if not page.has_more:
            break
    return None


def newest_published(dataset: Dataset, fingerprint: str | None = None) -> Flow[DatasetVersion | None]:
    """The newest published version; with a fingerprint, the newest with those rows."""
    for offset in pages():
        page = yield from ask(operations.list_dataset_versions(dataset.dataset_id, limit=PAGE, offset=offset))
        for version in page.versions:
            is_meant = fingerprint is None or (version.description or "").endswith(f"({fingerprint})")
            if version.status == "PUBLISHED" and is_meant:
                return version
        if not page.has_more:
            break
    return None


def pages() -> Iterator[int]:
    """Offsets of pages."""
    offset = 0
    while True:
        yield offset
        offset += PAGE

"""Data sets: from rows and files to published versions, and what is said of rows that are wrong."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from rows import sums

from fullbench import Client, Columns, ConfigurationError, FullbenchError, InvalidDataset, models, operations


def test_rows_are_uploaded_once_however_often_they_are_evaluated(client: Client) -> None:
    rows = sums(8, tag="once ")
    first = client.evaluate_dataset(rows, ["exact_match"])
    second = client.evaluate_dataset(rows, ["exact_match"])
    assert first.state.dataset_version_id == second.state.dataset_version_id
    assert first.summary["exact_match"].mean == 0.75
    changed = client.evaluate_dataset([*rows, {"input": "x", "id": "x"}], ["exact_match"])
    assert changed.state.dataset_version_id != first.state.dataset_version_id


def test_a_csv_file_with_columns_of_its_own(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "own-columns.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["frage", "antwort", "output"], ["1+1?", "2", "2"], ["2+2?", "4", "five"]])
    columns = Columns(input="frage", reference=["antwort"])
    batch = client.evaluate_dataset(path, ["exact_match"], columns=columns)
    assert batch.state.name == "own-columns v1"
    assert batch.summary["exact_match"].mean == 0.5
    # Read in another way the same bytes are other cases.
    with pytest.raises(InvalidDataset):
        client.upload_dataset(path)
    again = client.upload_dataset(str(path), columns=columns)
    assert again.version_id == batch.state.dataset_version_id


def test_every_format_gives_the_same_numbers(client: Client, tmp_path: Path) -> None:
    version = client.upload_dataset(sums(20, tag="formats "), name="formats")
    for ending in ("csv", "json", "jsonl", "parquet"):
        path = tmp_path / f"formats-{ending}.{ending}"
        request = operations.download_dataset_version(
            version.dataset_id,
            version.version_number,
            format=ending,
        )
        client.download(request, path)
        batch = client.evaluate_dataset(path, ["exact_match"])
        assert batch.summary["exact_match"].mean == 0.75, ending
        assert batch.progress.total == 20, ending


def test_a_data_set_of_the_server_by_name_id_and_version(client: Client) -> None:
    version = client.upload_dataset(sums(4, tag="named "), name="by name")
    sources: list[str | UUID | models.DatasetVersion]
    sources = ["by name", version.dataset_id, str(version.dataset_id), version]
    for dataset in sources:
        batch = client.evaluate_dataset(dataset, ["exact_match"])
        assert batch.state.dataset_version_id == version.version_id


def test_the_newest_published_version_is_meant_by_a_name(client: Client) -> None:
    client.upload_dataset(sums(4, tag="a "), name="grows")
    second = client.upload_dataset(sums(6, tag="b "), name="grows")
    assert second.version_number == 2
    assert client.evaluate_dataset("grows", ["exact_match"]).progress.total == 6


def test_rows_that_are_no_cases_are_told_by_row_and_column(client: Client) -> None:
    rows: list[dict[str, Any]] = [{"id": "1", "input": "a"}, {"id": "2", "question": 3}, {"id": "1", "input": "c"}]
    with pytest.raises(InvalidDataset) as raised:
        client.evaluate_dataset(rows, ["exact_match"])
    problems = [(problem.row, problem.column) for problem in raised.value.problems]
    assert (2, "input") in problems and (3, "id") in problems
    assert "row 2 (line 2), column `input`" in str(raised.value)


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        ("no such data set", "there is no data set 'no such data set'"),
        ("missing.csv", "missing.csv cannot be read"),
        (Path("cases.xlsx"), "use one of .csv, .json, .jsonl, .parquet"),
        ([], "has no rows"),
        ([{"input": float("nan")}], "row 1 cannot be written as JSON"),
        ([{"input": "a"}, "b"], "row 2 is a str"),
    ],
)
def test_what_is_no_data_set_is_said_before_anything_is_made(client: Client, dataset: object, said: str) -> None:
    before = client.send(operations.list_datasets()).total
    with pytest.raises(FullbenchError, match=said):
        client.evaluate_dataset(dataset, ["exact_match"])  # type: ignore[arg-type]
    assert client.send(operations.list_datasets()).total == before


def test_a_data_set_without_published_version_says_what_to_do(client: Client) -> None:
    client.send(operations.create_dataset({"name": "empty", "type": "EVALUATION"}))
    with pytest.raises(ConfigurationError, match="publish one first"):
        client.evaluate_dataset("empty", ["exact_match"])

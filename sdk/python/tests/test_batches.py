"""Batches: progress, numbers, results, files, verdicts, and giving up."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from rows import sums

from fullbench import Client, ConfigurationError, InvalidRequest, WaitExpired, models


def test_progress_is_told_until_all_is_done(client: Client, model: dict[str, Any]) -> None:
    seen: list[models.BatchEvaluation] = []
    batch = client.evaluate_dataset(
        sums(60, tag="progress "), ["exact_match"], models=[model], parallelism=2, cache=False, on_progress=seen.append
    )
    completed = [state.progress.completed for state in seen]
    assert completed == sorted(completed)
    assert completed[-1] == batch.progress.total == 60
    assert any(0 < count < 60 for count in completed)
    assert seen[-1].status == batch.status == "completed"
    assert [numbers.model for numbers in batch.models] == ["sim"]


def test_all_pages_of_results_come_in_order_and_once(client: Client) -> None:
    batch = client.evaluate_dataset(sums(1201, tag="pages "), ["exact_match"])
    results = list(batch.results())
    assert [result.case_index for result in results] == list(range(1201))
    assert len({result.case_key for result in results}) == 1201
    passed = sum(result.scores["exact_match"].value == 1.0 for result in results)
    numbers = batch.summary["exact_match"]
    assert passed == numbers.passed == 1201 - 301
    assert numbers.mean == pytest.approx(passed / 1201)
    assert numbers.low is not None and numbers.high is not None
    assert numbers.low < passed / 1201 < numbers.high


def test_results_are_written_to_files_whole(client: Client, tmp_path: Path) -> None:
    batch = client.evaluate_dataset(sums(40, tag="files "), ["exact_match"])
    with batch.export(tmp_path / "results.csv").open(newline="") as file:
        values = [float(row["exact_match.value"]) for row in csv.DictReader(file)]
    assert sum(values) == 30
    lines = batch.export(tmp_path / "results.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 40 and json.loads(lines[1])["output"] == "2"
    assert batch.export(tmp_path / "plain", format="parquet").read_bytes().startswith(b"PAR1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain", "results.csv", "results.jsonl"]
    with pytest.raises(ConfigurationError, match="says no format"):
        batch.export(tmp_path / "results.xlsx")


def test_a_sample_is_the_same_for_the_same_seed(client: Client) -> None:
    rows = sums(100, tag="sample ")
    drawn = [
        {result.case_key for result in client.evaluate_dataset(rows, ["exact_match"], sample=0.2, seed=seed).results()}
        for seed in (1, 1, 2)
    ]
    assert len(drawn[0]) == 20
    assert drawn[0] == drawn[1] != drawn[2]
    halves = client.evaluate_dataset(rows, ["exact_match"], sample=0.2, stratify_by="parity")
    assert halves.progress.total == 20


def test_the_verdict_tells_which_gate_does_not_hold(client: Client) -> None:
    gates = ["exact_match.mean >= 0.7", "exact_match.mean >= 0.9"]
    batch = client.evaluate_dataset(sums(40, tag="gates "), ["exact_match"], gates=gates)
    verdict = batch.verdict()
    assert not verdict.passed
    assert [gate.passed for gate in batch.gates] == [True, False]
    assert "exact_match.mean >= 0.9" in verdict.reasons[0]
    assert "FAILS  exact_match.mean >= 0.9" in str(batch)


def test_two_batches_are_compared_case_by_case(client: Client) -> None:
    before = client.evaluate_dataset(sums(200, tag="compare "), ["exact_match"])
    after = client.evaluate_dataset(sums(200, wrong_every=2, tag="compare "), ["exact_match"])
    comparison = after.compare(before.job_id)
    assert comparison.scores[0].verdict == "worse"
    assert comparison.scores[0].difference == pytest.approx(-0.25)


def test_waiting_ends_but_the_batch_goes_on_until_it_is_cancelled(client: Client, model: dict[str, Any]) -> None:
    batch = client.evaluate_dataset(
        sums(2000, tag="long "), ["exact_match"], models=[model], parallelism=1, cache=False, wait=False
    )
    with pytest.raises(WaitExpired, match="it goes on"):
        batch.wait(timeout=0.3)
    assert not batch.is_ended
    batch.cancel()
    assert [event.type for event in batch.events()][-1] == "run.cancelled"
    assert batch.status == client.batch(batch.job_id).status == "cancelled"
    assert repr(batch).startswith("Batch('rows-")


def test_a_metric_that_is_not_there_is_refused_with_its_field(client: Client) -> None:
    with pytest.raises(InvalidRequest) as raised:
        client.evaluate_dataset(sums(2), ["exact_match", "exact_mtch"])
    assert raised.value.fields[0].field == "metrics[1]"
    assert raised.value.hint == "did you mean `exact_match`?"

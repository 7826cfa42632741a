"""A batch: a data set being evaluated, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from .api import operations
from .api.models import (
    BatchEvaluation,
    BatchProgress,
    BatchVerdict,
    Comparison,
    EvaluationResult,
    EvaluationResults,
    ExportFormat,
    Gate,
    JobStatus,
    ModelNumbers,
    ScoreNumbers,
)
from .calls import Call, Download
from .errors import ConfigurationError
from .evaluations import Progress, ended_batch, is_ended
from .events import Event

if TYPE_CHECKING:
    from .client import Client

RESULTS_PAGE = 500
EXPORTS: dict[str, ExportFormat] = {".jsonl": "jsonl", ".csv": "csv", ".parquet": "parquet"}


class BatchState:
    """A batch as it was last seen; `refresh` and `wait` look again."""

    def __init__(self, state: BatchEvaluation) -> None:
        self.state = state
        """Everything that the server says of it."""

    @property
    def job_id(self) -> UUID:
        return self.state.job_id

    @property
    def status(self) -> JobStatus:
        return self.state.status

    @property
    def is_ended(self) -> bool:
        """Whether nothing more is done for it, unless it is resumed."""
        return is_ended(self.state)

    @property
    def progress(self) -> BatchProgress:
        """How far it is, in units: cases × models × repetitions."""
        return self.state.progress

    @property
    def summary(self) -> dict[str, ScoreNumbers]:
        """The numbers of each score; of the first model where there are several."""
        return self.state.summary_scores

    @property
    def models(self) -> list[ModelNumbers]:
        """The numbers of every model."""
        return self.state.models

    @property
    def gates(self) -> list[Gate]:
        """The conditions, judged."""
        return self.state.gates

    def __repr__(self) -> str:
        progress = self.progress
        done = f"{progress.completed}/{progress.total}"
        return f"{type(self).__name__}({self.state.name!r}, {self.status}, {done}, job_id='{self.job_id}')"

    def __str__(self) -> str:
        """A table of the scores."""
        rows = [("model", "score", "mean", "95% interval", "values", "unscored")]
        for model in self.models:
            rows += [score_row(model.model, name, numbers) for name, numbers in model.scores.items()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        progress = self.progress
        head = f"{self.state.name}: {self.status}, {progress.completed} of {progress.total} done"
        head += f", {progress.failed} failed" if progress.failed else ""
        for gate in self.gates:
            lines.append(f"{'holds' if gate.passed else 'FAILS'}  {gate.gate} ({gate.model}): {gate.detail}")
        return "\n".join([head, *lines, *self.state.notes])

    def _is_last(self, event: Event) -> bool:
        """Whether nothing follows an event, as the batch was last seen. One that was resumed has several ends."""
        ended = self.state.completed_at
        return event.ends_run and self.is_ended and (ended is None or event.created_at >= ended)

    def _results_call(self, cursor: str | None) -> Call[EvaluationResults]:
        return operations.list_batch_results(self.job_id, limit=RESULTS_PAGE, cursor=cursor)

    def _verdict_call(self, wait_seconds: int) -> Call[BatchVerdict]:
        call = operations.judge_batch(self.job_id, wait_seconds=wait_seconds or None)
        return replace(call, patience=float(wait_seconds))

    def _export_call(self, path: Path, format: ExportFormat | None) -> Download:
        kind = format or EXPORTS.get(path.suffix.lower())
        if kind is None:
            raise ConfigurationError(f"{path}: the ending says no format; use one of {', '.join(EXPORTS)}, or format=")
        return operations.export_batch_results(self.job_id, format=kind)


class Batch(BatchState):
    """A batch, for blocking code."""

    def __init__(self, client: Client, state: BatchEvaluation) -> None:
        super().__init__(state)
        self._client = client

    def refresh(self) -> Batch:
        """Looks how far it is."""
        self.state = self._client.send(operations.get_batch_evaluation(self.job_id))
        return self

    def wait(self, timeout: float | None = None, on_progress: Progress | None = None) -> Batch:
        """Waits for its end, and calls `on_progress` with what it sees meanwhile.

        Raises `WaitExpired` after `timeout` seconds; the batch goes on.
        """

        def seen(state: BatchEvaluation) -> None:
            self.state = state
            if on_progress is not None:
                on_progress(state)

        self._client._run(ended_batch(self.job_id, timeout, seen))
        return self

    def results(self) -> Iterator[EvaluationResult]:
        """Every result, by case, model and repetition; pages are fetched as they are needed."""
        cursor: str | None = None
        while True:
            page = self._client.send(self._results_call(cursor))
            yield from page.results
            cursor = page.next_cursor
            if not page.has_more or cursor is None:
                return

    def export(self, path: str | Path, format: ExportFormat | None = None) -> Path:
        """Writes every result to a file: JSON Lines, CSV or Parquet, by its ending unless `format` is given."""
        target = Path(path)
        self._client.download(self._export_call(target, format), target)
        return target

    def verdict(self, wait_seconds: int = 0) -> BatchVerdict:
        """Whether it passes, and why: every gate holds, and nothing is worse than in the baseline."""
        return self._client.send(self._verdict_call(wait_seconds))

    def compare(self, with_: str | UUID | None = None, *, margin: float | None = None) -> Comparison:
        """Compares it with a baseline by its name or another batch by its id, case by case."""
        other = None if with_ is None else str(with_)
        return self._client.send(operations.compare_batch(self.job_id, with_=other, margin=margin))

    def cancel(self) -> Batch:
        """Gives it up; results that are there stay."""
        self.state = self._client.send(operations.cancel_batch_evaluation(self.job_id))
        return self

    def resume(self) -> Batch:
        """Asks again for what is missing."""
        self.state = self._client.send(operations.resume_batch_evaluation(self.job_id))
        return self

    def events(self, after: int | None = None) -> Iterator[Event]:
        """What happens in it, from its beginning or after an event, until its end."""
        for event in self._client.events(run=self.job_id, after=after):
            yield event
            if event.ends_run and self.refresh()._is_last(event):
                return


def score_row(model: str, score: str, numbers: ScoreNumbers) -> tuple[str, str, str, str, str, str]:
    """A score as cells of a table."""
    mean = "–" if numbers.mean is None else f"{numbers.mean:.3f}"
    has_interval = numbers.low is not None and numbers.high is not None
    interval = f"{numbers.low:.3f} to {numbers.high:.3f}" if has_interval else "–"
    unscored = ", ".join(f"{count} {reason}" for reason, count in numbers.unscored.items())
    return model, score, mean, interval, str(numbers.count), unscored or "0"

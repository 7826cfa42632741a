"""A batch for asynchronous code: the same as the blocking one, awaited."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from .api import operations
from .api.models import BatchEvaluation, BatchVerdict, Comparison, EvaluationResult, ExportFormat
from .batch import BatchState
from .evaluations import Progress, ended_batch
from .events import Event

if TYPE_CHECKING:
    from .async_client import AsyncClient


class AsyncBatch(BatchState):
    """A batch, for asynchronous code."""

    def __init__(self, client: AsyncClient, state: BatchEvaluation) -> None:
        super().__init__(state)
        self._client = client

    async def refresh(self) -> AsyncBatch:
        """Looks how far it is."""
        self.state = await self._client.send(operations.get_batch_evaluation(self.job_id))
        return self

    async def wait(self, timeout: float | None = None, on_progress: Progress | None = None) -> AsyncBatch:
        """Waits for its end, and calls `on_progress` with what it sees meanwhile.

        Raises `WaitExpired` after `timeout` seconds; the batch goes on.
        """

        def seen(state: BatchEvaluation) -> None:
            self.state = state
            if on_progress is not None:
                on_progress(state)

        await self._client._run(ended_batch(self.job_id, timeout, seen))
        return self

    async def results(self) -> AsyncIterator[EvaluationResult]:
        """Every result, by case, model and repetition; pages are fetched as they are needed."""
        cursor: str | None = None
        while True:
            page = await self._client.send(self._results_call(cursor))
            for result in page.results:
                yield result
            cursor = page.next_cursor
            if not page.has_more or cursor is None:
                return

    async def export(self, path: str | Path, format: ExportFormat | None = None) -> Path:
        """Writes every result to a file: JSON Lines, CSV or Parquet, by its ending unless `format` is given."""
        target = Path(path)
        await self._client.download(self._export_call(target, format), target)
        return target

    async def verdict(self, wait_seconds: int = 0) -> BatchVerdict:
        """Whether it passes, and why: every gate holds, and nothing is worse than in the baseline."""
        return await self._client.send(self._verdict_call(wait_seconds))

    async def compare(self, with_: str | UUID | None = None, *, margin: float | None = None) -> Comparison:
        """Compares it with a baseline by its name or another batch by its id, case by case."""
        other = None if with_ is None else str(with_)
        return await self._client.send(operations.compare_batch(self.job_id, with_=other, margin=margin))

    async def cancel(self) -> AsyncBatch:
        """Gives it up; results that are there stay."""
        self.state = await self._client.send(operations.cancel_batch_evaluation(self.job_id))
        return self

    async def resume(self) -> AsyncBatch:
        """Asks again for what is missing."""
        self.state = await self._client.send(operations.resume_batch_evaluation(self.job_id))
        return self

    async def events(self, after: int | None = None) -> AsyncIterator[Event]:
        """What happens in it, from its beginning or after an event, until its end."""
        async for event in self._client.events(run=self.job_id, after=after):
            yield event
            if event.ends_run and (await self.refresh())._is_last(event):
                return

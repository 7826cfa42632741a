"""The client for blocking code."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import httpx
from typing_extensions import Self, Unpack

from .api import operations
from .api.models import DatasetVersion, Evaluation, Execution, ExecutionScore
from .batch import Batch
from .calls import Answer, Call, Download, http_request
from .datasets import published_version
from .evaluations import (
    BatchOptions,
    EvaluateOptions,
    ExecuteOptions,
    Input,
    Metric,
    Model,
    Progress,
    ScoreOptions,
    ended_execution,
    evaluation_call,
    score_call,
    scored_evaluation,
    started_batch,
    started_execution,
)
from .events import SILENCE_SECONDS, Event, EventReader
from .flows import Attempt, Flow, Pause, Result, Step, answered, saved
from .settings import RetryPolicy, Settings
from .sources import Columns, DatasetSource, source_of


class Client:
    """A client of a Fullbench server.

    url: where it is; `FULLBENCH_URL`, or this machine's port 8787, unless given.
    api_key: what opens it; `FULLBENCH_API_KEY` unless given.
    timeout: seconds to wait for an answer that the server was not asked to take its time for.
    retry: how often requests are sent again. Those that create something have a key, so that they do it once.
    transport: how requests are carried, for proxies and certificates of your own.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        retry: RetryPolicy | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._settings = Settings.of(url, api_key, timeout, retry)
        headers = self._settings.headers()
        self._http = httpx.Client(base_url=self._settings.url, headers=headers, transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={self._settings.url!r})"

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def send(self, call: Call[Answer]) -> Answer:
        """Sends any request of the API: `client.send(operations.list_judges())`."""
        return self._run(answered(call, self._settings.retry))

    def download(self, request: Download, path: str | Path) -> None:
        """Writes what a request gives to a file, which is there whole or not at all."""
        self._run(saved(request, Path(path), self._settings.retry))

    def evaluate(self, *, output: str, input: Input, **options: Unpack[EvaluateOptions]) -> Evaluation:
        """Scores one answer, and keeps the result."""
        return self.send(evaluation_call(output, input, options))

    def wait_for_evaluation(self, evaluation_id: UUID | str, timeout: float | None = None) -> Evaluation:
        """Waits for an evaluation in the background."""
        return self._run(scored_evaluation(evaluation_id, timeout))

    def evaluate_dataset(
        self,
        dataset: DatasetSource,
        metrics: Sequence[Metric],
        *,
        wait: bool = True,
        timeout: float | None = None,
        on_progress: Progress | None = None,
        **options: Unpack[BatchOptions],
    ) -> Batch:
        """Evaluates a data set: one of the server by its name or id, a file, or a list of rows.

        Files and rows are uploaded, checked and published first, unless the same rows were before.
        With `wait` it returns when the batch has ended, and raises `WaitExpired` after `timeout` seconds.
        """
        batch = Batch(self, self._run(started_batch(dataset, metrics, options, timeout)))
        return batch.wait(timeout, on_progress) if wait else batch

    def batch(self, job_id: UUID | str) -> Batch:
        """A batch that was started before."""
        return Batch(self, self.send(operations.get_batch_evaluation(job_id)))

    def upload_dataset(
        self,
        dataset: DatasetSource,
        *,
        name: str | None = None,
        columns: Columns | None = None,
        timeout: float | None = None,
    ) -> DatasetVersion:
        """Uploads, checks and publishes a file or a list of rows, unless the same rows were before."""
        return self._run(published_version(source_of(dataset, name, columns or Columns()), timeout))

    def execute(
        self,
        *,
        input: Input,
        model: Model,
        wait: bool = True,
        timeout: float | None = None,
        **options: Unpack[ExecuteOptions],
    ) -> Execution:
        """Has a model do one task; the answer is in `response`, or the reason that there is none in `error`."""
        execution = self._run(started_execution(input, model, options))
        return self.wait_for_execution(execution.execution_id, timeout) if wait else execution

    def wait_for_execution(self, execution_id: UUID | str, timeout: float | None = None) -> Execution:
        """Waits for the end of an execution."""
        return self._run(ended_execution(execution_id, timeout))

    def score_execution(
        self,
        execution_id: UUID | str,
        metrics: Sequence[Metric],
        **options: Unpack[ScoreOptions],
    ) -> ExecutionScore:
        """Scores the answer of an execution."""
        return self.send(score_call(execution_id, metrics, options))

    def events(self, *, run: UUID | str | None = None, after: int | None = None) -> Iterator[Event]:
        """What happens in the organization from now on, or in a run from its beginning; or all after an event.

        It never ends by itself, and goes on where it was when the connection is lost.
        """
        reader = EventReader(last_id=after)
        timeout = httpx.Timeout(SILENCE_SECONDS, connect=10.0)
        while True:
            cause: Exception | None = None
            try:
                with http_request(self._http, reader.connect(run), None, timeout) as request:
                    response = self._http.send(request, stream=True)
                try:
                    if not response.is_success:
                        response.read()
                        cause = reader.refusal(response)
                    else:
                        for chunk in response.iter_raw():
                            yield from reader.feed(chunk)
                finally:
                    response.close()
            except httpx.TransportError as error:
                cause = error
            time.sleep(reader.lost(self._settings.retry, cause))

    def _run(self, flow: Flow[Result]) -> Result:
        try:
            step = next(flow)
            while True:
                try:
                    taken = self._take(step)
                except Exception as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(taken)
        except StopIteration as end:
            return cast(Result, end.value)

    def _take(self, step: Step) -> Any:
        if isinstance(step, Call):
            return self.send(step)
        if isinstance(step, Pause):
            return time.sleep(step.seconds)
        return self._attempt(step)

    def _attempt(self, attempt: Attempt) -> httpx.Response:
        timeout = self._settings.patience(attempt.request.patience)
        with http_request(self._http, attempt.request, attempt.key, timeout) as request:
            response = self._http.send(request, stream=True)
            try:
                if attempt.sink is None or not response.is_success:
                    response.read()
                else:
                    attempt.restart()
                    for chunk in response.iter_bytes():
                        attempt.sink.write(chunk)
            finally:
                response.close()
            return response

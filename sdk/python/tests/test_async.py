"""The asynchronous client does what the blocking one does."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

from conftest import QUICK, Server
from rows import sums

from fullbench import AsyncBatch, AsyncClient, Batch, Client, operations


def test_both_clients_offer_the_same() -> None:
    for blocking, asynchronous in ((Client, AsyncClient), (Batch, AsyncBatch)):
        for name, method in inspect.getmembers(blocking, inspect.isfunction):
            if not name.startswith("_"):
                twin = getattr(asynchronous, name)
                assert list(inspect.signature(method).parameters) == list(inspect.signature(twin).parameters), name
                assert method.__doc__ == twin.__doc__ or name == "send", name


def test_a_data_set_from_rows_to_files(server: Server, tmp_path: Path) -> None:
    async def evaluated() -> AsyncBatch:
        async with AsyncClient(server.url, server.api_key, retry=QUICK) as client:
            seen: list[int] = []
            batch = await client.evaluate_dataset(
                sums(620, tag="async "),
                ["exact_match"],
                on_progress=lambda state: seen.append(state.progress.completed),
            )
            assert seen[-1] == 620
            results = [result async for result in batch.results()]
            assert [result.case_index for result in results] == list(range(620))
            assert (await batch.verdict()).passed
            await batch.export(tmp_path / "results.jsonl")
            assert [event.type async for event in batch.events()][-1] == "run.completed"
            assert (await client.batch(batch.job_id)).summary == batch.summary
            return batch

    batch = asyncio.run(evaluated())
    assert batch.summary["exact_match"].mean == 0.75
    assert len((tmp_path / "results.jsonl").read_bytes().splitlines()) == 620


def test_many_requests_at_once(server: Server, model: dict[str, Any]) -> None:
    async def evaluated() -> list[float | None]:
        async with AsyncClient(server.url, server.api_key, retry=QUICK) as client:
            singles = [
                client.evaluate(input="a", output=str(n % 2), expected_output="1", metrics=["exact_match"])
                for n in range(40)
            ]
            execution = client.execute(input="Say hello.", model=model, timeout=30)
            evaluations, done = await asyncio.gather(asyncio.gather(*singles), execution)
            assert done.status == "completed"
            assert (await client.send(operations.get_health())).status == "ok"
            return [evaluation.scores["exact_match"] for evaluation in evaluations]

    assert asyncio.run(evaluated()) == [0.0, 1.0] * 20

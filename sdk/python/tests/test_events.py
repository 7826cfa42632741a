"""Events: none is missed or told twice, whatever happens to the connection."""

from __future__ import annotations

import asyncio
from itertools import islice

import pytest
from conftest import QUICK, Server
from proxy import Proxy
from rows import sums

from fullbench import AsyncClient, Client, Event, NotFound
from fullbench.events import EventReader


def evaluate(client: Client) -> None:
    client.evaluate(input="2+2?", output="4", expected_output="4", metrics=["exact_match"])


def test_a_stream_that_is_cut_goes_on_without_a_gap(client: Client, proxied: Client, proxy: Proxy) -> None:
    evaluate(client)
    ids: list[int] = []
    for event in proxied.events(after=0):
        ids.append(event.event_id)
        if len(ids) >= 12:
            break
        # What happens while nobody listens is told after the next connection.
        if len(ids) % 3 == 0:
            proxy.cut()
        evaluate(client)
    assert ids == list(range(1, len(ids) + 1))


def test_a_stream_goes_on_after_the_server_was_started_again(own_server: Server) -> None:
    with Client(own_server.url, own_server.api_key, retry=QUICK) as client:
        evaluate(client)
        events = client.events(after=0)
        assert next(events).event_id == 1
        own_server.stop()
        own_server.start()
        evaluate(client)
        assert next(events).event_id == 2


def test_a_batch_tells_everything_from_its_beginning_to_its_end(client: Client) -> None:
    batch = client.evaluate_dataset(sums(30, tag="events "), ["exact_match"])
    events = list(batch.events())
    assert events[0].type == "run.started" and events[-1].type == "run.completed"
    told = [unit for event in events if event.type == "run.results" for unit in event.data["results"]]
    assert len(told) == 30
    assert {event.run_id for event in events} == {batch.job_id}
    after = list(batch.events(after=events[0].event_id))
    assert [event.event_id for event in after] == [event.event_id for event in events[1:]]


def test_the_asynchronous_client_reads_the_same(client: Client, server: Server, proxy: Proxy) -> None:
    async def told() -> list[int]:
        async with AsyncClient(proxy.url, server.api_key, retry=QUICK) as watching:
            ids: list[int] = []
            async for event in watching.events(after=0):
                ids.append(event.event_id)
                if len(ids) == 2:
                    proxy.cut()
                if len(ids) == 4:
                    break
            return ids

    for _ in range(4):
        evaluate(client)
    assert asyncio.run(told()) == [event.event_id for event in islice(client.events(after=0), 4)]


def test_events_of_a_run_that_is_not_there_are_refused(client: Client) -> None:
    with pytest.raises(NotFound):
        next(client.events(run="0" * 32))


def written(number: int, text: str) -> bytes:
    data = f'{{"event_id": {number}, "type": "t", "created_at": "2026-01-01T00:00:00Z", "data": {{"text": "{text}"}}}}'
    return f"id: {number}\nevent: t\ndata: {data}\n\n".encode()


def read(reader: EventReader, stream: bytes, size: int) -> list[Event]:
    return [event for at in range(0, len(stream), size) for event in reader.feed(stream[at : at + size])]


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_events_are_read_from_pieces_of_any_size(size: int) -> None:
    # Python would end a line at these characters; a stream of events does not.
    texts = ["plain", "line\u2028separator", "next\x85line", "ünï", ""]
    stream = b"retry: 250\n\n: \n\n" + b"".join(written(number, text) for number, text in enumerate(texts, 1))
    reader = EventReader()
    assert [event.data["text"] for event in read(reader, stream, size)] == texts
    assert (reader.last_id, reader.retry_seconds) == (5, 0.25)


def test_half_an_event_is_forgotten_and_a_known_one_is_not_told_again() -> None:
    reader = EventReader()
    assert len(read(reader, written(1, "a") + written(2, "b")[:-1], 10_000)) == 1
    assert reader.connect(None).headers == {"Last-Event-ID": "1"}
    assert [event.event_id for event in read(reader, written(1, "a") + written(2, "b"), 10_000)] == [2]
    assert read(reader, b"id: 9\n\n", 10_000) == [] and reader.last_id == 9

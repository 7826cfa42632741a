"""Requests that get lost, and servers that are busy: nothing is done twice, nothing is given up too soon."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import httpx
import pytest
from conftest import QUICK, Server
from proxy import Proxy
from rows import sums

from fullbench import (
    AsyncClient,
    Client,
    ConnectionFailed,
    NotFound,
    RateLimited,
    RetryPolicy,
    ServerFault,
    Upload,
    operations,
)

Reply: TypeAlias = Callable[[httpx.Request], httpx.Response]


def test_an_evaluation_whose_reply_is_lost_is_made_once(client: Client, proxied: Client, proxy: Proxy) -> None:
    before = client.send(operations.list_evaluations()).total
    proxy.replies_to_lose = 2
    evaluation = proxied.evaluate(input="2+2?", output="4", expected_output="4", metrics=["exact_match"])
    assert evaluation.scores == {"exact_match": 1.0}
    assert proxy.lost_replies == 2
    assert client.send(operations.list_evaluations()).total == before + 1


def test_the_asynchronous_client_repeats_just_so(client: Client, proxy: Proxy, server: Server) -> None:
    async def evaluated() -> float | None:
        async with AsyncClient(proxy.url, server.api_key, retry=QUICK) as lossy:
            proxy.replies_to_lose = 1
            evaluation = await lossy.evaluate(input="2+2?", output="4", expected_output="4", metrics=["exact_match"])
            return evaluation.scores["exact_match"]

    before = client.send(operations.list_evaluations()).total
    assert asyncio.run(evaluated()) == 1.0
    assert client.send(operations.list_evaluations()).total == before + 1


def test_an_upload_whose_reply_is_lost_is_one_version(
    client: Client, proxied: Client, proxy: Proxy, tmp_path: Path
) -> None:
    dataset = client.send(operations.create_dataset({"name": "uploaded once", "type": "EVALUATION"}))
    path = tmp_path / "cases.jsonl"
    path.write_text('{"input": "a", "output": "b"}\n' * 20_000)
    proxy.replies_to_lose = 1
    proxied.send(operations.upload_dataset_version(dataset.dataset_id, Upload("cases.jsonl", path)))
    assert proxy.lost_replies == 1
    assert client.send(operations.list_dataset_versions(dataset.dataset_id)).total == 1


def test_every_step_of_a_batch_survives_a_lost_reply(proxied: Client, proxy: Proxy) -> None:
    class Losing(Client):
        def send(self, call):  # type: ignore[no-untyped-def]
            proxy.replies_to_lose = 1
            return super().send(call)

    with Losing(proxy.url, proxied._settings.api_key, retry=QUICK) as losing:
        batch = losing.evaluate_dataset(sums(12, tag="lossy "), ["exact_match"])
        assert batch.summary["exact_match"].mean == 0.75
        assert len(list(batch.results())) == 12
    assert proxy.lost_replies >= 6


def test_a_server_that_is_not_there_is_said_after_all_attempts() -> None:
    client = Client("http://127.0.0.1:9", "fb_none", retry=RetryPolicy(3, 0.01))
    with client, pytest.raises(ConnectionFailed, match="GET /healthz"):
        client.send(operations.get_health())


def replies(
    *responses: httpx.Response | Exception,
) -> tuple[Reply, list[httpx.Request]]:
    """A server that gives these, one after the other, and the requests it got."""
    requests: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        response = responses[len(requests) - 1]
        if isinstance(response, Exception):
            raise response
        return response

    return reply, requests


def client_of(reply: Reply) -> Client:
    return Client("http://server", "fb_key", retry=QUICK, transport=httpx.MockTransport(reply))


def test_a_busy_server_is_asked_again_with_the_same_key() -> None:
    made = {"dataset_id": "0" * 32, "name": "n", "type": "EVALUATION", "tags": [], "created_at": "2026-01-01T00:00:00Z"}
    done = httpx.Response(201, json={**made, "updated_at": "2026-01-01T00:00:00Z"})
    in_progress = {"type": "/", "title": "t", "status": 409, "code": "request_in_progress", "detail": "d"}
    reply, requests = replies(
        httpx.Response(429, headers={"retry-after": "0.01"}),
        httpx.Response(503),
        *[httpx.Response(409, json=in_progress)] * 10,
        httpx.ReadError("cut"),
        done,
    )
    client_of(reply).send(operations.create_dataset({"name": "n", "type": "EVALUATION"}))
    keys = {request.headers["idempotency-key"] for request in requests}
    assert len(requests) == 14 and len(keys) == 1


def test_each_request_has_a_key_of_its_own() -> None:
    reply, requests = replies(httpx.Response(404), httpx.Response(404))
    client = client_of(reply)
    for _ in range(2):
        with pytest.raises(NotFound):
            client.send(operations.create_dataset({"name": "n", "type": "EVALUATION"}))
    assert requests[0].headers["idempotency-key"] != requests[1].headers["idempotency-key"]


def test_a_server_that_stays_busy_is_given_up() -> None:
    reply, requests = replies(*[httpx.Response(429)] * 9)
    with pytest.raises(RateLimited) as raised:
        client_of(reply).send(operations.get_health())
    assert len(requests) == QUICK.attempts and raised.value.status == 429


def test_a_pause_that_is_too_long_is_told_instead_of_taken() -> None:
    reply, requests = replies(httpx.Response(503, headers={"retry-after": "3600"}))
    with pytest.raises(ServerFault) as raised:
        client_of(reply).send(operations.get_health())
    assert len(requests) == 1 and raised.value.retry_after == 3600


@pytest.mark.parametrize("lost", [httpx.ReadError("cut"), httpx.ReadTimeout("late"), httpx.Response(502)])
def test_what_may_have_been_done_and_has_no_key_is_not_repeated(lost: httpx.Response | Exception) -> None:
    reply, requests = replies(lost)
    with pytest.raises((ConnectionFailed, ServerFault)):
        client_of(reply).send(operations.delete_dataset("0" * 32))
    assert len(requests) == 1


def test_what_never_reached_the_server_is_repeated() -> None:
    reply, requests = replies(httpx.ConnectError("refused"), httpx.Response(204))
    client_of(reply).send(operations.delete_dataset("0" * 32))
    assert len(requests) == 2


def test_a_download_that_breaks_off_begins_anew(tmp_path: Path) -> None:
    class BreaksOff(httpx.SyncByteStream):
        def __iter__(self):  # type: ignore[no-untyped-def]
            yield b"half of"
            raise httpx.RemoteProtocolError("cut")

    reply, requests = replies(httpx.Response(200, stream=BreaksOff()), httpx.Response(200, content=b"all of it"))
    client_of(reply).download(operations.export_batch_results("0" * 32, format="csv"), tmp_path / "file.csv")
    assert (tmp_path / "file.csv").read_bytes() == b"all of it" and len(requests) == 2


def test_a_download_that_fails_leaves_no_file(tmp_path: Path) -> None:
    reply, _ = replies(httpx.Response(404))
    with pytest.raises(NotFound):
        client_of(reply).download(operations.export_batch_results("0" * 32), tmp_path / "file.csv")
    assert list(tmp_path.iterdir()) == []

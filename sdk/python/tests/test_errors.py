"""Errors, secrets and settings."""

from __future__ import annotations

import asyncio
import traceback

import httpx
import pytest
from conftest import Server

from fullbench import (
    ApiError,
    AsyncClient,
    Client,
    ConfigurationError,
    Conflict,
    FullbenchError,
    InvalidRequest,
    NotFound,
    RetryPolicy,
    Unauthorized,
    UnexpectedAnswer,
    operations,
)

SECRET = "fb_secret0secret0secret0"


def test_a_problem_is_an_exception_with_everything_the_server_said(client: Client) -> None:
    with pytest.raises(InvalidRequest) as raised:
        client.send(operations.create_evaluation({"input": "a", "output": "b", "metrics": ["exact_match"], "extra": 1}))
    error = raised.value
    assert (error.status, error.code) == (422, "invalid_input")
    assert "extra" in error.detail
    assert error.request_id and error.request_id in str(error)


def test_kinds_of_refusals_are_kinds_of_exceptions(client: Client, server: Server) -> None:
    with pytest.raises(NotFound) as missing:
        client.batch("00000000-0000-7000-8000-000000000000")
    assert missing.value.code == "not_found"
    dataset = client.send(operations.create_dataset({"name": "twice", "type": "EVALUATION"}))
    with pytest.raises(Conflict):
        client.send(operations.create_dataset({"name": "twice", "type": "EVALUATION"}))
    with pytest.raises(Conflict) as changed:
        client.send(operations.change_dataset(dataset.dataset_id, {"description": "new"}, if_match='"77"'))
    assert changed.value.status == 412
    with Client(server.url, SECRET) as stranger, pytest.raises(Unauthorized):
        stranger.evaluate(input="a", output="b", metrics=["exact_match"])
    for kind in (NotFound, Conflict, Unauthorized, InvalidRequest):
        assert issubclass(kind, ApiError) and issubclass(kind, FullbenchError)


def test_nothing_shows_the_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLBENCH_URL", server.url)
    monkeypatch.setenv("FULLBENCH_API_KEY", SECRET)
    shown: list[str] = []
    with Client() as client:
        shown += [repr(client), str(client), repr(client._settings), repr(client._http.headers)]
        try:
            client.send(operations.get_organization())
        except Unauthorized as error:
            shown += [repr(error), str(error), "".join(traceback.format_exception(error))]
    with Client("http://127.0.0.1:9", retry=RetryPolicy(1)) as client, pytest.raises(FullbenchError) as raised:
        client.send(operations.get_organization())
    shown += [repr(AsyncClient()), "".join(traceback.format_exception(raised.value)), repr(raised.value.__cause__)]
    assert not [text for text in shown if SECRET in text]


def test_a_new_key_is_shown_only_when_asked_for(client: Client) -> None:
    created = client.send(operations.create_api_key({"name": "for a test"}))
    assert created.key is not None
    key = created.key.get_secret_value()
    assert key.startswith("fb_") and key not in repr(created) + str(created) + created.model_dump_json()
    client.send(operations.revoke_api_key(created.api_key_id))


@pytest.mark.parametrize(
    ("url", "key", "said"),
    [
        ("127.0.0.1:8787", "fb_a", "is no address"),
        ("http://user:password@host", "fb_a", "must not have a password"),
        (None, "fb_a\nX-Other: 1", "copy it again"),
        (None, "fb_ü", "copy it again"),
    ],
)
def test_settings_that_cannot_be_are_refused_without_showing_secrets(url: str | None, key: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as raised:
        Client(url, key)
    assert "password@" not in str(raised.value) and key not in str(raised.value)


def test_the_environment_names_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLBENCH_URL", "https://bench.example/")
    assert repr(Client()) == "Client(url='https://bench.example')"
    monkeypatch.delenv("FULLBENCH_URL")
    assert repr(AsyncClient()) == "AsyncClient(url='http://127.0.0.1:8787')"


@pytest.mark.parametrize(("status", "body"), [(200, "<html>"), (302, ""), (200, "{}")])
def test_something_that_is_no_fullbench_is_said(status: int, body: str) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(status, text=body))
    with Client("http://server", transport=transport) as client, pytest.raises(UnexpectedAnswer):
        client.send(operations.get_health())


def test_a_name_in_a_path_stays_one_part_of_it(client: Client) -> None:
    call = operations.get_criterion("../judges?x=1#y")
    assert call.path == "/v1/criteria/..%2Fjudges%3Fx%3D1%23y"
    with pytest.raises(ApiError) as raised:
        client.send(call)
    assert raised.value.status in (404, 422)


def test_the_asynchronous_client_raises_the_same(server: Server) -> None:
    async def refused() -> None:
        async with AsyncClient(server.url, server.api_key) as client:
            await client.evaluate(input="a", output="b", metrics=["exact_mtch"])

    with pytest.raises(InvalidRequest, match="did you mean `exact_match`"):
        asyncio.run(refused())

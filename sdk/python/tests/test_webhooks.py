"""Webhooks: what is genuine passes, everything else does not."""

from __future__ import annotations

import base64
import hashlib
import hmac
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue
from typing import ClassVar

import pytest

from fullbench import Client, ConfigurationError, WebhookRejected, operations, verify_webhook

SECRET = "whsec_" + base64.b64encode(b"a key of at least 24 bytes").decode()
BODY = b'{"type": "run.completed"}'


def signed(body: bytes = BODY, *, at: float | None = None, secret: str = SECRET) -> dict[str, str]:
    """The headers of a message, by the scheme and not by the package."""
    timestamp = str(int(time.time() if at is None else at))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, b"msg_1." + timestamp.encode() + b"." + body, hashlib.sha256).digest()
    signature = "v1," + base64.b64encode(digest).decode()
    return {"Webhook-Id": "msg_1", "Webhook-Timestamp": timestamp, "Webhook-Signature": signature}


def test_a_message_of_the_server_passes() -> None:
    verify_webhook(signed(), BODY, SECRET)
    verify_webhook(signed(), BODY.decode(), SECRET)
    headers = signed()
    verify_webhook({**headers, "Webhook-Signature": f"v1,AAAA v2,x {headers['Webhook-Signature']}"}, BODY, SECRET)


def test_the_published_example_of_the_scheme_passes() -> None:
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    verify_webhook(headers, '{"test": 2432232314}', "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", tolerance=1e10)


class Receiver(BaseHTTPRequestHandler):
    """Keeps what it is sent."""

    received: ClassVar[Queue[tuple[dict[str, str], bytes]]] = Queue()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.received.put((dict(self.headers.items()), body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing."""


def test_what_the_server_sends_passes_with_its_secret_and_with_no_other(client: Client) -> None:
    with HTTPServer(("127.0.0.1", 0), Receiver) as receiver:
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{receiver.server_port}/events"
        webhook = client.send(operations.create_webhook({"url": url}))
        secret = client.send(operations.get_webhook_secret(webhook.webhook_id)).secret
        client.send(operations.test_webhook(webhook.webhook_id))
        headers, body = Receiver.received.get(timeout=30)
        receiver.shutdown()
        client.send(operations.delete_webhook(webhook.webhook_id))
    verify_webhook(headers, body, secret)
    with pytest.raises(WebhookRejected):
        verify_webhook(headers, body, OTHER)
    assert "whsec_" not in repr(secret) + str(secret)


OTHER = "whsec_" + base64.b64encode(b"another key, just as long").decode()


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (signed(), BODY + b" "),
        (signed(secret=OTHER), BODY),
        ({**signed(), "Webhook-Id": "msg_2"}, BODY),
        ({**signed(), "Webhook-Signature": "v1,"}, BODY),
        ({**signed(), "Webhook-Signature": "v1,not base64!"}, BODY),
        ({**signed(), "Webhook-Signature": signed()["Webhook-Signature"].replace("v1,", "v1a,")}, BODY),
        ({**signed(), "Webhook-Timestamp": "soon"}, BODY),
        ({"Webhook-Id": "msg_1"}, BODY),
        (signed(at=time.time() - 400), BODY),
        (signed(at=time.time() + 400), BODY),
    ],
)
def test_anything_else_is_rejected(headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(WebhookRejected):
        verify_webhook(headers, body, SECRET)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_not base64"])
def test_a_secret_that_is_none_is_said_without_showing_it(secret: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        verify_webhook(signed(), BODY, secret)
    assert "not base64" not in str(raised.value)

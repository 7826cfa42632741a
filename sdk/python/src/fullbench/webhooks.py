"""Messages that the server sends are signed by the Standard Webhooks scheme; this checks them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping

from pydantic import SecretStr

from .errors import ConfigurationError, WebhookRejected

PREFIX = "whsec_"
TOLERANCE_SECONDS = 300


def verify_webhook(
    headers: Mapping[str, str], body: bytes | str, secret: str | SecretStr, *, tolerance: float = TOLERANCE_SECONDS
) -> None:
    """Raises `WebhookRejected` unless the message was signed with the secret at most `tolerance` seconds ago.

    headers: those of the request, of which `webhook-id`, `webhook-timestamp` and `webhook-signature` are read.
    body: the body exactly as it was received. Parsed and written again it would be another text.
    secret: `whsec_…`, as `operations.get_webhook_secret` gives it.
    """
    values = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in ("webhook-id", "webhook-timestamp", "webhook-signature") if not values.get(name)]
    if missing:
        raise WebhookRejected(f"the header {missing[0]} is missing")
    check_time(values["webhook-timestamp"], tolerance)
    content = body.encode() if isinstance(body, str) else body
    signed = f"{values['webhook-id']}.{values['webhook-timestamp']}.".encode() + content
    text = secret.get_secret_value() if isinstance(secret, SecretStr) else secret
    expected = hmac.new(key_of(text), signed, hashlib.sha256).digest()
    # While a secret is being replaced a message has a signature for each.
    matches = [
        hmac.compare_digest(expected, signature)
        for signature in map(signature_of, values["webhook-signature"].split())
        if signature is not None
    ]
    if not any(matches):
        raise WebhookRejected("no signature of the message is right")


def check_time(timestamp: str, tolerance: float) -> None:
    """A message that is old may be one that somebody sends again."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise WebhookRejected("the header webhook-timestamp is no number of seconds")
    if abs(time.time() - int(timestamp)) > tolerance:
        raise WebhookRejected(f"the message is more than {tolerance:g} seconds away from now")


def key_of(secret: str) -> bytes:
    """The key that a secret stands for."""
    try:
        key = base64.b64decode(secret.strip().removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise ConfigurationError(f"the secret of a webhook is {PREFIX} and base64; copy it again")
    return key


def signature_of(text: str) -> bytes | None:
    """One signature of a message; none where it is of a kind that is not known."""
    version, _, encoded = text.partition(",")
    if version != "v1":
        return None
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None

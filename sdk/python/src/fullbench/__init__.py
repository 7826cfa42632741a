"""A client of Fullbench, which evaluates language models.

    from fullbench import Client

    with Client() as client:
        evaluation = client.evaluate(input="2+2?", output="4", expected_output="4", metrics=["exact_match"])
        batch = client.evaluate_dataset("questions.csv", ["exact_match", "token_f1"])
        print(batch)

`fullbench.operations` has every request of the API, for `client.send`; `fullbench.models` the types of what is sent and
answered.
"""

from .api import models, operations
from .async_batch import AsyncBatch
from .async_client import AsyncClient
from .batch import Batch
from .calls import Call, Download, Upload
from .client import Client
from .errors import (
    ApiError,
    ConfigurationError,
    Conflict,
    ConnectionFailed,
    FullbenchError,
    InvalidDataset,
    InvalidRequest,
    NotFound,
    RateLimited,
    ServerFault,
    Unauthorized,
    UnexpectedAnswer,
    WaitExpired,
    WebhookRejected,
)
from .events import Event
from .settings import RetryPolicy
from .sources import Columns
from .webhooks import verify_webhook

__all__ = [
    "ApiError",
    "AsyncBatch",
    "AsyncClient",
    "Batch",
    "Call",
    "Client",
    "Columns",
    "ConfigurationError",
    "Conflict",
    "ConnectionFailed",
    "Download",
    "Event",
    "FullbenchError",
    "InvalidDataset",
    "InvalidRequest",
    "NotFound",
    "RateLimited",
    "RetryPolicy",
    "ServerFault",
    "Unauthorized",
    "UnexpectedAnswer",
    "Upload",
    "WaitExpired",
    "WebhookRejected",
    "models",
    "operations",
    "verify_webhook",
]

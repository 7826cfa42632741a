"""Where the server is, what opens it, and how patient a client is."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import httpx

from .errors import ConfigurationError

DEFAULT_URL = "http://127.0.0.1:8787"
USER_AGENT = "fullbench-python"


@dataclass(frozen=True)
class RetryPolicy:
    """How often and after which pauses a request is sent again, where that is safe."""

    attempts: int = 5
    """Times a request is sent at most."""
    first_pause: float = 0.5
    """Seconds before the second attempt; they double from there, and a random part is taken off."""
    longest_pause: float = 30.0
    """Seconds of a pause at most. A server that asks for more is not waited for."""

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.first_pause < 0 or self.longest_pause < self.first_pause:
            raise ConfigurationError("a retry policy has at least 1 attempt, and pauses that are not below 0")


@dataclass(frozen=True)
class Settings:
    """All that a client is given."""

    url: str
    api_key: str | None = field(repr=False)
    timeout: float
    retry: RetryPolicy

    @classmethod
    def of(cls, url: str | None, api_key: str | None, timeout: float, retry: RetryPolicy | None) -> Settings:
        """What was given, and the environment for the rest."""
        url = url or os.environ.get("FULLBENCH_URL") or DEFAULT_URL
        if not url.startswith(("http://", "https://")):
            raise ConfigurationError(f"{url!r} is no address; use one such as {DEFAULT_URL}")
        if httpx.URL(url).userinfo:
            raise ConfigurationError("the address must not have a password in it; keys are given as api_key")
        api_key = (api_key or os.environ.get("FULLBENCH_API_KEY") or "").strip() or None
        if api_key is not None and not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
            raise ConfigurationError("the API key has characters that no key has; copy it again")
        if not timeout > 0:
            raise ConfigurationError("timeout: use seconds above 0")
        return cls(url.rstrip("/"), api_key, timeout, retry or RetryPolicy())

    def headers(self) -> dict[str, str]:
        """What every request says."""
        headers = {"User-Agent": USER_AGENT, "Accept": "application/json, application/problem+json;q=0.9, */*;q=0.1"}
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return headers

    def patience(self, extra: float = 0.0) -> httpx.Timeout:
        """How long to wait for a connection, and for each part of an answer."""
        return httpx.Timeout(self.timeout + extra, connect=min(self.timeout, 10.0))

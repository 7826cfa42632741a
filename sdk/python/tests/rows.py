"""Cases whose scores are known."""

from __future__ import annotations

from typing import Any


def sums(count: int, *, wrong_every: int = 4, tag: str = "") -> list[dict[str, Any]]:
    """Sums with recorded answers, of which every so many-th, from the first one on, is wrong."""
    return [
        {
            "id": f"sum-{number}",
            "input": f"{tag}{number} + 1?",
            "output": "wrong" if number % wrong_every == 0 else str(number + 1),
            "expected_output": str(number + 1),
            "parity": "even" if number % 2 == 0 else "odd",
        }
        for number in range(count)
    ]

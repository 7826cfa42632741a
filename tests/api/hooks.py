"""Has generated requests name what is there: three of four that would name something unknown.

Read by Schemathesis. FULLBENCH_API_KNOWN names the file that `seed.py` wrote. Values that break the rules of the
document stay as they are, since they are there to be refused.
"""

from __future__ import annotations

import copy
import json
import os
import re
import zlib
from pathlib import Path
from typing import Any

import schemathesis

KNOWN: dict[str, list[Any]] = json.loads(Path(os.environ["FULLBENCH_API_KNOWN"]).read_text("utf-8"))
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# What is refused unless it is known, and cannot be made here.
REFUSED = ("custom_rubrics", "emails", "experiment_id", "slack_url", "variant_id", "webhook_url")
# What a request needs although the document, which knows each field by itself, cannot say so.
NEEDED: dict[str, dict[str, Any]] = {
    "/v1/evaluations": {"metrics": ["exact_match"]},
    "/v1/executions": {"task": {"input": "Name a city."}},
    "/v1/models": {"model": "sim"},
    "/v1/prompts/{prompt_id}/versions": {"template": "{{ input }}"},
}


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case, **_: Any) -> None:
    # What is removed or withdrawn cannot be used any more.
    if case.method.upper() == "DELETE" or case.path.endswith("/deprecate"):
        return
    # An organization that may call or spend little would answer everything else alike.
    if case.path == "/v1/organization" and isinstance(case.body, dict):
        case.body.pop("settings", None)
    # A key that was used before would end the request before it begins. Requests that are to be refused keep their
    # headers, among which one may be missing on purpose.
    is_right = case.meta is not None and case.meta.generation.mode.is_positive
    if is_right and case.headers and draw(case.body) % 4 != 0:
        case.headers.pop("Idempotency-Key", None)
    if isinstance(case.body, dict) and draw(case.body) % 4 != 0:
        for name, value in NEEDED.get(case.path, {}).items():
            if case.body.get(name) is None:
                case.body[name] = copy.deepcopy(value)
    for part in (case.path_parameters, case.query, case.body):
        if isinstance(part, dict):
            name_known(part)


def name_known(part: dict[str, Any]) -> None:
    """Puts names and ids that are there in place of others of the same kind."""
    for name, value in list(part.items()):
        if name in REFUSED and draw(value) % 4 != 0:
            del part[name]
        elif name in KNOWN and "provider" not in part:
            part[name] = known_or(value, KNOWN[name])
        elif isinstance(value, dict):
            name_known(value)


def known_or(value: Any, known: list[Any]) -> Any:
    """A known value, or now and then the one that is there; of lists the first known ones, as many as there are."""
    choice = draw(value)
    if choice % 4 == 0:
        return value
    if isinstance(value, list) and all(isinstance(one, (str, dict)) for one in value):
        return copy.deepcopy(known[: len(value)])
    return copy.deepcopy(known[choice // 4 % len(known)]) if is_of_kind(value, known[0]) else value


def draw(value: Any) -> int:
    """The same number for the same value."""
    return zlib.crc32(repr(value).encode("utf-8", "replace"))


def is_of_kind(value: Any, known: Any) -> bool:
    """Whether a value keeps the rules that a known one keeps."""
    if isinstance(known, int):
        number = value if isinstance(value, int) else int(value) if str(value).isascii() and str(value).isdigit() else 0
        return not isinstance(value, bool) and 1 <= number <= 2**31 - 1
    if isinstance(known, str) and UUID.fullmatch(known):
        return isinstance(value, str) and UUID.fullmatch(value) is not None
    return isinstance(value, str) and value != ""

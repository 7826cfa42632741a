"""Writes `operations.py`: a function for each operation of the API, which gives the request and sends nothing."""

from __future__ import annotations

import keyword
from typing import Any

IMPORTS = """
from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from ..calls import Call, Download, Form, Upload, path_of
from . import models
"""

PLAIN_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
FORMATS = {"uuid": "UUID | str", "date-time": "datetime | str"}
METHODS = ("get", "post", "put", "patch", "delete")


def written_operations(document: dict[str, Any]) -> str:
    """The module's text."""
    functions = [
        written_function(method, path, operation, document["components"]["schemas"])
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in METHODS and is_for_programs(operation)
    ]
    return IMPORTS + "\n\n" + "\n\n\n".join(functions) + "\n"


def is_for_programs(operation: dict[str, Any]) -> bool:
    """Whether it answers, and does not only send a browser elsewhere."""
    return any(status.startswith("2") for status in operation["responses"])


def written_function(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    parameters = operation.get("parameters", [])
    by_place = {place: [one for one in parameters if one["in"] == place] for place in ("path", "query", "header")}
    positional = [f"{python_name(one['name'])}: {python_type(one['schema'])}" for one in by_place["path"]]
    named: list[str] = []
    arguments = [repr(method.upper()), written_path(path, by_place["path"])]

    answer = json_answer(operation)
    if answer is not None:
        arguments.append(answer)
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        positional.append(f"body: {python_type(content['application/json']['schema'])} | Mapping[str, Any]")
        arguments.append("body=body")
    elif "multipart/form-data" in content:
        fields = form_fields(content["multipart/form-data"]["schema"], schemas)
        positional.append("file: Upload")
        named += [f"{python_name(name)}: {python_type(field)} | None = None" for name, field in fields.items()]
        arguments.append(f"form=Form(file, {written_mapping(list(fields))})")
    for one in sorted(by_place["query"], key=lambda one: not one["required"]):
        kind = python_type(one["schema"])
        default = "" if one["required"] else " | None = None"
        named.append(f"{python_name(one['name'])}: {kind}{default}")
    if by_place["query"]:
        arguments.append(f"query={written_mapping([one['name'] for one in by_place['query']])}")
    headers = [one["name"] for one in by_place["header"]]
    named += [f"{python_name(name)}: str | None = None" for name in headers]
    if "Idempotency-Key" in headers:
        headers.remove("Idempotency-Key")
        arguments.append("takes_key=True, idempotency_key=idempotency_key")
    if headers:
        arguments.append(f"headers={written_mapping(headers)}")

    signature = ", ".join([*positional, *(["*", *named] if named else [])])
    kind = "Download" if answer is None else f"Call[{'None' if answer == 'type(None)' else answer}]"
    return (
        f"def {operation['operationId']}({signature}) -> {kind}:\n"
        f'    """{documentation(operation)}"""\n'
        f"    return {kind.split('[')[0]}({', '.join(arguments)})"
    )


def json_answer(operation: dict[str, Any]) -> str | None:
    """The type of the answer: `type(None)` where there is none, nothing where it is a file or a stream."""
    kinds: set[str] = set()
    for status, response in operation["responses"].items():
        if not status.startswith("2"):
            continue
        content = response.get("content", {})
        if not content:
            kinds.add("type(None)")
        elif "schema" in content.get("application/json", {}):
            kinds.add(python_type(content["application/json"]["schema"]))
        else:
            return None
    if len(kinds) != 1:
        raise SystemExit(f"error: {operation['operationId']} answers with {sorted(kinds)}; one type is expected")
    return kinds.pop()


def python_type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return f"models.{schema['$ref'].rsplit('/', 1)[-1]}"
    kind = schema.get("type")
    if kind == "string":
        return FORMATS.get(schema.get("format", ""), "str")
    if kind == "array":
        return f"Sequence[{python_type(schema['items'])}]"
    return PLAIN_TYPES.get(kind, "Any") if isinstance(kind, str) else "Any"


def form_fields(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """The fields of a form beside its file: texts, or lists of them."""
    form = schemas[schema["$ref"].rsplit("/", 1)[-1]]
    return {name: field for name, field in form["properties"].items() if name != "file"}


def written_path(path: str, parameters: list[dict[str, Any]]) -> str:
    if not parameters:
        return repr(path)
    names = ", ".join(f"{one['name']}={python_name(one['name'])}" for one in parameters)
    return f"path_of({path!r}, {names})"


def written_mapping(names: list[str]) -> str:
    return "{" + ", ".join(f"{name!r}: {python_name(name)}" for name in names) + "}"


def python_name(name: str) -> str:
    word = name.lower().replace("-", "_")
    return word + "_" if keyword.iskeyword(word) else word


def documentation(operation: dict[str, Any]) -> str:
    text: str = operation["summary"].rstrip(".") + "."
    described = operation.get("description", "")
    parameters = [one for one in operation.get("parameters", []) if "description" in one]
    if described:
        text += f"\n\n    {described}"
    if parameters:
        lines = [f"    {python_name(one['name'])}: {one['description']}" for one in parameters]
        text += "\n\n" + "\n".join(lines)
    return (text + ("\n    " if "\n" in text else "")).replace("\\", "\\\\")

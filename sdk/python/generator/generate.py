"""Writes the generated half of the package, `fullbench.api`, from the OpenAPI document of the server.

`models.py` is made by datamodel-code-generator, `operations.py` by `operations.py` beside this file.
Called by `scripts/sdk-python`, with the Python that has `requirements.txt` installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from operations import written_operations

HEADER = '"""Generated from schema/openapi.json by scripts/sdk-python; changes made here are lost."""\n'
# Defaults that are objects are written as what they are made of.
DEFAULTS = "# mypy: disable-error-code=assignment\n"
# Fields whose values must not be seen in a traceback or a notebook, by schema.
SECRETS = {"CreatedApiKey": ["key"], "WebhookSecret": ["secret"]}
MODEL_OPTIONS = [
    *("--input-file-type", "openapi", "--target-python-version", "3.10"),
    *("--output-model-type", "pydantic_v2.BaseModel", "--enum-field-as-literal", "all"),
    *("--use-standard-collections", "--use-union-operator", "--use-annotated", "--use-type-alias"),
    *("--use-schema-description", "--use-field-description", "--use-single-line-docstring"),
    *("--disable-timestamp", "--formatters", "builtin"),
]


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: generate.py OPENAPI_FILE TARGET_FOLDER", file=sys.stderr)
        return 2
    document = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    mark_secrets(document["components"]["schemas"])
    document = with_used_schemas(document)
    target = Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    (target / "__init__.py").write_text(HEADER, "utf-8")
    (target / "operations.py").write_text(HEADER + written_operations(document), "utf-8")
    (target / "models.py").write_text(HEADER + DEFAULTS + written_models(document), "utf-8")
    files = [str(path) for path in sorted(target.glob("*.py"))]
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run(
        [*ruff, "check", "--isolated", "--no-cache", "--quiet", "--select", "I,F401,UP", "--fix", *files], check=True
    )
    subprocess.run([*ruff, "format", "--isolated", "--no-cache", "--quiet", "--line-length", "120", *files], check=True)
    return 0


def written_models(document: dict[str, Any]) -> str:
    """The types of bodies and answers."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "openapi.json", Path(folder) / "models.py"
        source.write_text(json.dumps(document), "utf-8")
        command = [sys.executable, "-W", "ignore", "-m", "datamodel_code_generator", *MODEL_OPTIONS]
        subprocess.run([*command, "--input", str(source), "--output", str(output)], check=True)
        lines = output.read_text("utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("#"))


def mark_secrets(schemas: dict[str, Any]) -> None:
    """Has secrets become types that do not show them."""
    for schema, fields in SECRETS.items():
        for field in fields:
            schemas[schema]["properties"][field]["format"] = "password"


def with_used_schemas(document: dict[str, Any]) -> dict[str, Any]:
    """The document without schemas that no operation names: those that only describe the parameters of a query."""
    schemas = document["components"]["schemas"]
    used: set[str] = set()
    open_names = referenced(document["paths"])
    while open_names:
        used |= open_names
        open_names = set().union(*(referenced(schemas[name]) for name in open_names)) - used
    kept = {name: schema for name, schema in schemas.items() if name in used}
    return {**document, "components": {**document["components"], "schemas": kept}}


def referenced(part: Any) -> set[str]:
    """The schemas that a part of the document refers to."""
    if isinstance(part, dict):
        own = {part["$ref"].rsplit("/", 1)[-1]} if isinstance(part.get("$ref"), str) else set()
        return own.union(*(referenced(value) for value in part.values()))
    if isinstance(part, list):
        return set().union(*(referenced(value) for value in part))
    return set()


if __name__ == "__main__":
    sys.exit(main())

"""The work that is measured: data sets with a distinct prompt for each unit, and the evaluation files over them.

Fullbench and its peers get the same questions, the same simulated model and the same check: does the answer
contain the reference?
"""

import json
import pathlib

MODEL = "sim-95"
CONCURRENCY = 100


def question(index: int) -> tuple[str, str]:
    """A question no other index has, and its answer."""
    left, right = 1_000 + index, 7 + index * 13 % 997
    return f"What is {left} + {right}?", str(left + right)


def call(number: str) -> dict:
    """A call of the simulated model that no other number makes."""
    prompt = {"role": "user", "content": f"What is {number} + 17?"}
    return {"model": MODEL, "messages": [prompt], "temperature": 0}


def write_questions(path: pathlib.Path, units: int) -> None:
    """One line of JSON for each question."""
    with path.open("w") as lines:
        for index in range(units):
            text, reference = question(index)
            lines.write(json.dumps({"id": f"q{index}", "input": text, "reference": reference}) + "\n")


def write_live_evaluation(folder: pathlib.Path, units: int, simulator_url: str) -> None:
    """An evaluation of one simulated model in `folder`."""
    write_questions(folder / "questions.jsonl", units)
    model = {
        "name": "simulated",
        "provider": "openai",
        "model": MODEL,
        "base_url": f"{simulator_url}/v1",
        "temperature": 0,
    }
    evaluation = {
        "name": "live",
        "dataset": "questions.jsonl",
        "prompt": "prompt.md",
        "models": [model],
        "scorers": ["contains"],
        "limits": {"concurrency": CONCURRENCY},
    }
    (folder / "prompt.md").write_text("{{ input }}")
    write_evaluation(folder, evaluation)


def write_recorded_evaluation(folder: pathlib.Path, units: int) -> None:
    """An evaluation of answers that are in the data already, nine in ten of them right."""
    with (folder / "recorded.jsonl").open("w") as lines:
        for index in range(units):
            text, reference = question(index)
            output = reference if index % 10 else f"about {reference}"
            case = {"id": f"q{index}", "input": text, "reference": reference, "output": output}
            lines.write(json.dumps(case) + "\n")
    evaluation = {
        "name": "recorded",
        "dataset": "recorded.jsonl",
        "models": ["recorded"],
        "scorers": ["exact_match", {"type": "regex", "patterns": [r"^\d+$"]}],
    }
    write_evaluation(folder, evaluation)


def write_evaluation(folder: pathlib.Path, evaluation: dict) -> None:
    """JSON is YAML."""
    (folder / "fullbench.yaml").write_text(json.dumps(evaluation, indent=2))

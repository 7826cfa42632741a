"""The questions as an Inspect AI task: one user message, one answer, does it contain the reference?

Read by `inspect eval` inside the environment that `peers.py` makes, in a folder with `questions.jsonl`.
"""

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


@task
def questions() -> Task:
    """The same data and check as the Fullbench evaluation."""
    fields = FieldSpec(id="id", input="input", target="reference")
    return Task(dataset=json_dataset("questions.jsonl", fields), solver=generate(), scorer=includes(ignore_case=False))

"""Evaluations as requests: what `evaluate`, `evaluate_dataset` and `execute` take, and what they send."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from typing_extensions import TypedDict

from .api import operations
from .api.models import (
    BatchEvaluation,
    DatasetVersion,
    Evaluation,
    Execution,
    ExecutionScore,
    ModelConfig,
    Priority,
    Scorer,
)
from .calls import Call
from .datasets import published_version
from .flows import Flow, ask, until
from .sources import Columns, DatasetSource, source_of

Metric: TypeAlias = "str | Mapping[str, Any] | Scorer"
"""The name of a scorer, of a stored judge or of a criterion; or a scorer with its parameters."""
Model: TypeAlias = "str | Mapping[str, Any] | ModelConfig"
"""`provider:model`, or an object with parameters."""
Input: TypeAlias = "str | Mapping[str, Any] | Sequence[Any]"
"""Text, an object, or a conversation as a list of messages."""
Progress: TypeAlias = Callable[[BatchEvaluation], None]
"""What is told how far a batch is."""

JUDGE_SECONDS = 30.0
"""How long the server waits for judges, unless it is told otherwise."""
SCORING_SECONDS = 120.0
"""How long scoring an execution may take beyond the client's timeout."""


class EvaluateOptions(TypedDict, total=False):
    """What `evaluate` can be told beside the answer."""

    expected_output: str | Sequence[str]
    """The accepted answer, or several, of which the best match counts."""
    context: str | Sequence[str]
    """What the answer should rest on."""
    metrics: Sequence[Metric]
    """What to score by. Default: the organization's own metrics."""
    evaluator_model: Model
    """The model that judges."""
    custom_rubrics: Mapping[str, Any]
    """Criteria of your own by metric."""
    timeout_ms: int
    """How long to wait for judges; what is there by then is given, the rest follows later."""
    background: bool
    """Put it into the queue instead of waiting for the scores."""
    priority: Priority
    """How soon an evaluation in the background should be done."""
    metadata: Mapping[str, Any]
    """Anything to find it by."""


class BatchOptions(TypedDict, total=False):
    """What `evaluate_dataset` can be told beside the data set and the metrics."""

    models: Sequence[Model]
    """The models that answer. Default: the answers that the rows have in their field `output`."""
    sample: float
    """The share of the cases to run, above 0 and up to 1."""
    seed: int
    """The same seed gives the same sample."""
    stratify_by: str
    """Draw the sample of every value of this field, in proportion."""
    prompt: str
    """The prompt as a Jinja template over the fields of a case. Default: the case's input."""
    messages: Sequence[Any]
    """The prompt as messages, instead of `prompt`."""
    gates: Sequence[str]
    """Conditions that must hold, for example `exact_match.mean >= 0.8`."""
    baseline: str
    """A baseline by its name, to compare with."""
    budget_usd: float
    """What it may spend."""
    evaluator_model: Model
    custom_rubrics: Mapping[str, Any]
    repetitions: int
    """How often each model answers each case."""
    parallelism: int
    """Calls to a provider at the same time."""
    cache: bool
    """Whether replies of providers are kept and served."""
    name: str
    """What the batch is called."""
    priority: Priority
    webhook_url: str
    """Who is told when it ends."""
    metadata: Mapping[str, Any]
    dataset_name: str
    """What the data set of uploaded rows is called. Default: the name of the file, or `rows-…`."""
    columns: Columns
    """Which columns of uploaded rows are what, where their names do not say it."""


class ExecuteOptions(TypedDict, total=False):
    """What `execute` can be told beside the input and the model."""

    system_prompt: str
    expected_output: str | Sequence[str]
    context: str | Sequence[str]
    config: Mapping[str, Any]
    """Parameters of the call: `temperature`, `max_tokens` and so on."""
    priority: Priority
    timeout_ms: int
    """How long the call may take."""
    metadata: Mapping[str, Any]


class ScoreOptions(TypedDict, total=False):
    """What `score_execution` can be told beside the metrics."""

    evaluator_model: Model
    """The model that judges."""
    custom_rubrics: Mapping[str, Any]
    """Criteria of your own by metric."""


JUDGING = ("evaluator_model", "custom_rubrics")
CONFIG_OF_BATCH = ("seed", "stratify_by", "gates", "budget_usd", "repetitions", "parallelism", "cache", *JUDGING)
BODY_OF_BATCH = ("models", "prompt", "messages", "baseline", "name", "priority", "webhook_url", "metadata")


def evaluation_call(output: str, input: Input, options: EvaluateOptions) -> Call[Evaluation]:
    """The request of `evaluate`."""
    config = picked(options, (*JUDGING, "timeout_ms", "priority"))
    is_background = options.get("background", False)
    if is_background:
        config["sync"] = False
    body = {"input": input, "output": output, **picked(options, ("expected_output", "context", "metrics", "metadata"))}
    if config:
        body["config"] = config
    waited = options.get("timeout_ms", JUDGE_SECONDS * 1000) / 1000
    return replace(operations.create_evaluation(body), patience=0.0 if is_background else waited)


def started_batch(
    dataset: DatasetSource, metrics: Sequence[Metric], options: BatchOptions, timeout: float | None
) -> Flow[BatchEvaluation]:
    """Has a data set evaluated: uploads it where needed, and starts the batch."""
    source = source_of(dataset, options.get("dataset_name"), options.get("columns", Columns()))
    version = yield from published_version(source, timeout)
    started = yield from ask(operations.create_batch_evaluation(batch_body(version, metrics, options)))
    return (yield from ask(operations.get_batch_evaluation(started.job_id)))


def batch_body(version: DatasetVersion, metrics: Sequence[Metric], options: BatchOptions) -> dict[str, Any]:
    """The body of the request that starts a batch."""
    config = picked(options, CONFIG_OF_BATCH)
    if "sample" in options:
        config["sample_rate"] = options["sample"]
    if "stratify_by" in options:
        config["sample_strategy"] = "stratified"
    body = {"dataset_version_id": version.version_id, "metrics": metrics, **picked(options, BODY_OF_BATCH)}
    return {**body, "config": config} if config else body


def ended_batch(job_id: object, timeout: float | None, seen: Progress) -> Flow[BatchEvaluation]:
    """A batch, once nothing more is done for it."""
    return until(
        operations.get_batch_evaluation(str(job_id)), is_ended, what=f"the batch {job_id}", timeout=timeout, seen=seen
    )


def is_ended(batch: BatchEvaluation) -> bool:
    """Whether nothing more is done for a batch unless somebody asks for it."""
    return batch.status not in ("queued", "running")


def scored_evaluation(evaluation_id: object, timeout: float | None) -> Flow[Evaluation]:
    """An evaluation in the background, once it is done."""
    return until(
        operations.get_evaluation(str(evaluation_id)),
        lambda evaluation: evaluation.status != "pending",
        what=f"the evaluation {evaluation_id}",
        timeout=timeout,
    )


def started_execution(input: Input, model: Model, options: ExecuteOptions) -> Flow[Execution]:
    """Has a model do one task."""
    task = {"input": input, **picked(options, ("system_prompt", "expected_output", "context"))}
    body = {"task": task, "model": model, **picked(options, ("config", "priority", "timeout_ms", "metadata"))}
    return ask(operations.create_execution(body))


def ended_execution(execution_id: object, timeout: float | None) -> Flow[Execution]:
    """An execution, once the model has answered or failed."""
    return until(
        operations.get_execution(str(execution_id)),
        lambda execution: execution.status not in ("pending", "running"),
        what=f"the execution {execution_id}",
        timeout=timeout,
    )


def score_call(execution_id: object, metrics: Sequence[Metric], options: ScoreOptions) -> Call[ExecutionScore]:
    """The request of `score_execution`; the server answers when all judges have."""
    body = {"metrics": metrics, **picked(options, JUDGING)}
    return replace(operations.score_execution(str(execution_id), body), patience=SCORING_SECONDS)


def picked(options: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The options of these names that were given; None is the same as not given."""
    return {name: options[name] for name in names if options.get(name) is not None}

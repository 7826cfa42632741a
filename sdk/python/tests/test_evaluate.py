"""Single answers: what is scored, kept and told."""

from __future__ import annotations

from typing import Any

import pytest

from fullbench import Client, operations


def test_scores_and_their_signatures_come_back_typed(client: Client) -> None:
    evaluation = client.evaluate(
        input="capital of France?",
        output="It is Paris",
        expected_output=["Paris", "paris"],
        metrics=["exact_match", "token_f1", {"type": "contains", "name": "names_it", "values": ["Paris"]}],
        metadata={"build": 7},
    )
    assert evaluation.status == "completed"
    assert evaluation.scores["exact_match"] == 0.0
    assert evaluation.scores["names_it"] == 1.0
    assert evaluation.scores["token_f1"] == pytest.approx(0.5)
    assert evaluation.results["token_f1"].signature.startswith("token_f1")
    assert evaluation.metadata == {"build": 7}
    assert client.send(operations.get_evaluation(evaluation.evaluation_id)).scores == evaluation.scores


def test_an_answer_without_reference_is_unscored_and_says_why(client: Client) -> None:
    evaluation = client.evaluate(input="2+2?", output="4", metrics=["exact_match"])
    assert evaluation.scores["exact_match"] is None
    assert evaluation.results["exact_match"].outcome == "unscored"
    assert evaluation.results["exact_match"].reason


def test_an_evaluation_in_the_background_is_waited_for(client: Client) -> None:
    queued = client.evaluate(
        input="2+2?", output="4", expected_output="4", metrics=["exact_match"], background=True, priority="high"
    )
    evaluation = client.wait_for_evaluation(queued.evaluation_id, timeout=30)
    assert evaluation.scores == {"exact_match": 1.0}


def test_a_judge_is_asked(client: Client, model: dict[str, Any]) -> None:
    evaluation = client.evaluate(
        input="Say hello.", output="Hello!", metrics=["coherence"], evaluator_model=model, timeout_ms=20_000
    )
    assert set(evaluation.results) == {"coherence"}
    assert "criterion:coherence" in evaluation.results["coherence"].signature


def test_a_task_is_executed_and_its_answer_scored(client: Client, model: dict[str, Any]) -> None:
    execution = client.execute(
        input="Name a city.", model=model, expected_output="Rome", config={"max_tokens": 20}, timeout=30
    )
    assert execution.status == "completed", execution.error
    assert execution.response is not None and execution.response.content
    score = client.score_execution(execution.execution_id, ["token_f1", {"type": "length", "max": 1000}])
    assert set(score.criterion_scores) == {"token_f1", "length"}
    assert score.criterion_scores["length"].outcome == "passed"

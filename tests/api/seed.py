"""Puts one of everything into a server, and writes the names and ids of it as JSON, by the parameter that they are for.

Usage: seed.py MODELS_URL >known.json, with FULLBENCH_URL and FULLBENCH_API_KEY.
Without it nearly every generated request would end at 404.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from fullbench import Client, operations

ROWS = [
    {"id": f"case-{n}", "input": f"{n} + 1?", "output": str(n + n % 2), "expected_output": str(n + 1), "parity": n % 2}
    for n in range(30)
]


def main(models_url: str) -> dict[str, list[Any]]:
    model = {"provider": "openai", "model": "sim", "name": "sim", "base_url": f"{models_url}/v1"}
    with Client() as client:
        first = client.upload_dataset(ROWS[:20], name="seeded")
        second = client.upload_dataset(ROWS, name="seeded")
        client.send(operations.deprecate_dataset_version(first.dataset_id, first.version_number))
        cases = client.send(operations.list_test_cases(second.dataset_id, second.version_number)).cases
        truth = {"value": {"answer": "1"}, "source": "EXPERT"}
        case = cases[0].test_case_id
        client.send(operations.add_ground_truth(second.dataset_id, second.version_number, case, truth))
        batches = [
            client.evaluate_dataset(second, ["exact_match"], gates=["exact_match.mean >= 0.1"]),
            client.evaluate_dataset(second, ["exact_match", "token_f1"], models=[model, "recorded"], repetitions=2),
        ]
        client.send(operations.set_baseline("seeded", {"run_id": batches[0].job_id}))
        single = client.evaluate(input="1?", output="2", expected_output="2", metrics=["exact_match"])
        execution = client.execute(input="Name a city.", model=model, expected_output="Rome", timeout=60)
        criterion = {"name": "seeded", "task_introduction": "An answer.", "evaluation_criteria": "It is polite."}
        client.send(operations.create_criterion(criterion))
        client.send(operations.create_threshold("seeded", {"score": 0.5}))
        stored = client.send(operations.create_model(model))
        judge = client.send(
            operations.create_judge({"name": "seeded", "criterion": "seeded", "method": "g_eval", "model": model})
        )
        document = client.send(operations.create_document({"input": "Hello?", "actual_output": "Hello!"}))
        judgement = client.send(
            operations.create_judgement({"judge_id": judge.judge_id, "document_id": document.document_id})
        )
        prompt = client.send(operations.create_prompt({"name": "seeded"}))
        client.send(operations.create_prompt_version(prompt.prompt_id, {"template": "{{ input }}"}))
        webhook = client.send(operations.create_webhook({"url": f"{models_url}/webhook", "events": ["run.results"]}))
        delivery = client.send(operations.test_webhook(webhook.webhook_id))
        alert = client.send(
            operations.create_alert({"name": "seeded", "kind": "error_rate", "threshold": 0.5})
        )
    jobs = [batch.job_id for batch in batches]
    return {
        "dataset_id": [second.dataset_id],
        "dataset_version_id": [second.version_id],
        "version_number": [1, 2],
        "case_id": [case, cases[1].test_case_id],
        "job_id": jobs,
        "run_id": jobs,
        "with": ["seeded", jobs[0]],
        "metrics": ["exact_match", "token_f1", "seeded", "coherence", {"type": "length", "max": 9}],
        "gates": ["exact_match.mean >= 0.5"],
        "models": [model, "recorded"],
        "model": [model],
        "evaluator_model": [model],
        "baseline": ["seeded"],
        "baseline_name": ["seeded"],
        "evaluation_id": [single.evaluation_id],
        "execution_id": [execution.execution_id],
        "criterion": ["seeded"],
        "criterion_name": ["seeded", "coherence"],
        "model_id": [stored.model_id],
        "judge": ["seeded"],
        "judge_id": [judge.judge_id],
        "successor_of": [judge.judge_id],
        "document_id": [document.document_id],
        "judgement_id": [judgement.judgement_id],
        "prompt_id": [prompt.prompt_id],
        "webhook_id": [webhook.webhook_id],
        "delivery_id": [delivery.delivery_id],
        "alert_id": [alert.alert_id],
    }


if __name__ == "__main__":
    json.dump(main(sys.argv[1]), sys.stdout, default=str)

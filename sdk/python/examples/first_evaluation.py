"""A first evaluation, cell by cell: run it as a script, or open it in an editor that knows `# %%` cells.

It needs a server (`fullbench serve`) and its key in `FULLBENCH_API_KEY`.
"""

# %% Connect
import tempfile
from pathlib import Path

from fullbench import Client, InvalidDataset, models, operations

client = Client()
health = client.send(operations.get_health())
print(f"{client} is {health.status}, version {health.version}")

# %% Score one answer
evaluation = client.evaluate(
    input="What is the capital of Australia?",
    output="It is Canberra.",
    expected_output=["Canberra"],
    metrics=["exact_match", "token_f1", {"type": "contains", "values": ["Canberra"]}],
)
for metric, score in evaluation.scores.items():
    print(f"{metric:12} {score}   {evaluation.results[metric].signature}")

# %% Answers of two versions of a model to the same questions, as a list of rows
QUESTIONS = [
    ("Which planet is the largest?", "Jupiter", "Jupiter", "Jupiter"),
    ("What is 17 + 26?", "43", "43", "42"),
    ("Who wrote Faust?", "Goethe", "Goethe", "Schiller"),
    ("What is the chemical sign of gold?", "Au", "Au", "Au"),
    ("How many legs has a spider?", "8", "8", "8"),
    ("In which year did the Berlin Wall fall?", "1989", "1989", "1989"),
    ("What is the square root of 144?", "12", "14", "12"),
    ("Which ocean is the largest?", "Pacific", "Pacific", "Atlantic"),
]


def answers_of(version: int) -> list[dict[str, str]]:
    return [
        {"id": f"question-{number}", "input": row[0], "expected_output": row[1], "output": row[1 + version]}
        for number, row in enumerate(QUESTIONS, 1)
    ]


# %% Evaluate the first version: rows are uploaded, checked, published and scored
def show_progress(batch: models.BatchEvaluation) -> None:
    print(f"  {batch.status}: {batch.progress.completed} of {batch.progress.total}")


first = client.evaluate_dataset(
    answers_of(1),
    ["exact_match", "token_f1"],
    dataset_name="general-knowledge",
    gates=["exact_match.mean >= 0.8"],
    on_progress=show_progress,
)
print(first)

# %% The verdict: what a pull request would be told
verdict = first.verdict()
print("passes" if verdict.passed else "does not pass", *verdict.reasons, sep="\n  ")

# %% Evaluate the second version, and compare: pairs of answers to the same question
second = client.evaluate_dataset(answers_of(2), ["exact_match", "token_f1"], dataset_name="general-knowledge")
comparison = second.compare(first.job_id)
for compared in comparison.scores:
    print(f"{compared.scorer}: {compared.before_mean} -> {compared.after_mean}, {compared.verdict}")
print(*comparison.conclusion, sep="\n")

# %% Look at what went wrong, one result at a time
for result in second.results():
    if result.scores["exact_match"].outcome == "failed":
        print(f"{result.case_key}: {result.output}")

# %% Take all results along
with tempfile.TemporaryDirectory() as folder:
    path = second.export(Path(folder) / "results.csv")
    print(path.read_text("utf-8").splitlines()[0])

# %% What happened, as the server told it
for event in second.events():
    print(f"event {event.event_id}: {event.type}")

# %% Rows that are no cases are told by row and column, and nothing is evaluated
try:
    client.evaluate_dataset([{"input": "a question"}, {"answer": "without a question"}], ["exact_match"])
except InvalidDataset as problem:
    print(problem)

client.close()

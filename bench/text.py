"""Text metrics beside sacreBLEU and rouge_score, on one thread: the speed on the same pairs, and that scores are equal."""

import json
import pathlib
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator

import harness
import peers
from harness import Bench, Failed, Measurement, Skipped

SACREBLEU_VERSION = "2.6.0"
ROUGE_SCORE_VERSION = "0.1.2"
PAIRS = 20_000
TOLERANCE = 1e-9

# For each metric: how it is called in the results, its peer, and how many times faster Fullbench is to be.
METRICS = {
    "bleu": ("sentence BLEU", f"sacreBLEU {SACREBLEU_VERSION}", 40),
    "chrf": ("sentence chrF", f"sacreBLEU {SACREBLEU_VERSION}", 15),
    "rouge_l": ("stemmed ROUGE-L", f"rouge-score {ROUGE_SCORE_VERSION}", 50),
}

SYLLABLES = "ba co di fe gu la me ni po ra se ti vo we za ble ing tion ment er ly ed s al ive".split()
MARKS = [",", ".", ";", "!", "?", ""]


def text(bench: Bench) -> list[Measurement]:
    """Pairs per second of both, in one run."""
    interpreter = install(bench)
    program = build()
    with harness.temporary_folder() as folder:
        count = bench.size(PAIRS, 2_000)
        write_pairs(folder / "pairs.jsonl", count)
        theirs, ours = measure_both(bench, folder, interpreter, program)
        check_equal(folder)
    return [measurement(name, count, ours, theirs) for name in METRICS]


def install(bench: Bench) -> pathlib.Path:
    """A virtual environment in the cache folder."""
    folder = bench.cache / f"text-{SACREBLEU_VERSION}-{ROUGE_SCORE_VERSION}"
    interpreter = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        harness.say(f"installing sacreBLEU {SACREBLEU_VERSION} and rouge-score {ROUGE_SCORE_VERSION}")
        peers.install([sys.executable, "-m", "venv", str(folder)])
        packages = [f"sacrebleu=={SACREBLEU_VERSION}", f"rouge-score=={ROUGE_SCORE_VERSION}"]
        peers.install([str(interpreter), "-m", "pip", "install", "--quiet", *packages])
        ready.touch()
    return interpreter


def build() -> pathlib.Path:
    """The example that times the metrics, which is no part of the binary."""
    command = ["cargo", "build", "--release", "--locked", "-p", "fullbench-text", "--example", "text_throughput"]
    run = subprocess.run([*command, "--message-format", "json"], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Failed(f"cargo build failed: {run.stderr[-800:]}")
    built = [json.loads(line).get("executable") for line in run.stdout.splitlines()]
    programs = [path for path in built if path and pathlib.Path(path).name.startswith("text_throughput")]
    if not programs:
        raise Skipped("cargo named no program")
    return pathlib.Path(programs[-1])


def write_pairs(path: pathlib.Path, count: int) -> None:
    """References of 8 to 40 words, and hypotheses in which a third of the words is changed; the same in every run."""
    generator = random.Random(20_000)
    words = ["".join(generator.choices(SYLLABLES, k=generator.choice([1, 1, 2, 2, 3, 4]))) for _ in range(4_000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    with path.open("w") as lines:
        for _ in range(count):
            reference = list(sentence(generator, words, weights))
            hypothesis = list(changed(generator, reference, words, weights))
            lines.write(json.dumps({"hypothesis": " ".join(hypothesis), "reference": " ".join(reference)}) + "\n")


def sentence(generator: random.Random, words: list[str], weights: list[float]) -> Iterator[str]:
    """Words as frequent as in a language, with marks, capitals and numbers between them."""
    for word in generator.choices(words, weights, k=generator.randint(8, 40)):
        chance = generator.random()
        if chance < 0.03:
            yield f"{generator.randint(1, 9_999_999):,}"
        elif chance < 0.12:
            yield word + generator.choice(MARKS)
        else:
            yield word.capitalize() if chance < 0.2 else word


def changed(generator: random.Random, reference: list[str], words: list[str], weights: list[float]) -> Iterator[str]:
    """A word is dropped, replaced or doubled now and then."""
    for word in reference:
        chance = generator.random()
        if chance < 0.25:
            yield generator.choices(words, weights)[0]
        elif chance < 0.31:
            yield from (word, word)
        elif chance < 0.37:
            continue
        else:
            yield word


def measure_both(
    bench: Bench, folder: pathlib.Path, interpreter: pathlib.Path, program: pathlib.Path
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Rates of each repetition, the peer and Fullbench in turn."""
    peer = [str(interpreter), str(pathlib.Path(__file__).with_name("text_peer.py").resolve()), "pairs.jsonl", "theirs.jsonl"]
    fullbench = [str(program), "pairs.jsonl", "ours.jsonl"]
    rates = ({name: [] for name in METRICS}, {name: [] for name in METRICS})
    for _ in range(bench.repetitions):
        for command, collected in zip((peer, fullbench), rates, strict=True):
            run = harness.timed(command, folder)
            harness.check(run.code == 0, f"{command[0]} failed", run)
            said = json.loads(run.stdout)
            for name in METRICS:
                collected[name].append(said[name])
    return rates


def check_equal(folder: pathlib.Path) -> None:
    """Speed counts only when the scores are the same."""
    with (folder / "ours.jsonl").open() as ours, (folder / "theirs.jsonl").open() as theirs:
        for number, (our_line, their_line) in enumerate(zip(ours, theirs, strict=True), 1):
            our_scores, their_scores = json.loads(our_line), json.loads(their_line)
            for name in METRICS:
                if abs(our_scores[name] - their_scores[name]) > TOLERANCE:
                    raise Failed(f"{name} of pair {number}: {our_scores[name]} and {their_scores[name]}")


def measurement(name: str, count: int, ours: dict[str, list[float]], theirs: dict[str, list[float]]) -> Measurement:
    """One line: pairs per second of both, and their ratio over the target."""
    title, peer, target = METRICS[name]
    our_rate, their_rate = statistics.median(ours[name]), statistics.median(theirs[name])
    times = our_rate / their_rate
    runs = [", ".join(f"{rate:,.0f}" for rate in rates[name]) for rates in (ours, theirs)]
    return Measurement(
        name=f"text-{name}",
        what=f"{title}, {count:,} pairs of 8 to 40 words, one thread: Fullbench beside {peer}",
        target=f"≥ {target} times",
        measured=f"{our_rate:,.0f} and {their_rate:,.0f} pairs/s: {times:.0f} times",
        ratio=times / target,
        met=times >= target,
        detail=f"all scores are equal to {TOLERANCE:g}; runs: {runs[0]} and {runs[1]}",
    )

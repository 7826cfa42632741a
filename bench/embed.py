"""Sentence embeddings beside sentence-transformers with PyTorch on the CPU, and what the similarity index finds.

Both embed the same 2,000 texts of 3 to 300 words with the same weights on all cores, and their cosines must be equal.
"""

import json
import math
import pathlib
import random
import statistics
import subprocess
import sys

import harness
import peers
from harness import Bench, Failed, Measurement, Skipped

PEER_VERSION = "6.2.0"
TORCH_VERSION = "2.15.0"
MODEL = "all-minilm-l6-v2"
TEXTS = 2_000
WORDS_FROM, WORDS_TO = 3, 300
COMPARED = 200
TOLERANCE = 1e-4
VECTORS, CENTRES, QUERIES = 100_000, 1_000, 2_000
RECALL_TARGET = 0.98

VOCABULARY = """the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were
her all she there would their we him been has when who will more no if out so said what up its about into than them can only other new some
could time these two may then do first any my now such like our over man me even most made after also did many before must through back years
where much your way well down should because each just those people how too little state good very make world still own see men work long get
here between both life being under never day same another know while last might us great old year off come since against go came right used take
three language model evaluation question answer river mountain electricity government parliament chemistry photosynthesis quarterly revenue
customer refund password algorithm temperature protein molecule democracy orchestra painting translation keyboard vaccine satellite""".split()


def embed(bench: Bench) -> list[Measurement]:
    """Texts per second of both."""
    program = built(bench, "embed_speed")
    model = weights(bench)
    python = install(bench)
    texts = "".join(json.dumps(text) + "\n" for text in mixed_texts(bench.size(TEXTS, 200)))
    count = texts.count("\n")
    peer = pathlib.Path(__file__).with_name("embed_peer.py")
    # One after the other and again, so that a slow minute of the machine meets both.
    ours, theirs = [], []
    for _ in range(bench.repetitions):
        their_seconds, their_vectors = embedded([str(python), str(peer), str(model), "1"], texts)
        our_seconds, our_vectors = embedded([str(program), str(model), "1"], texts)
        theirs.append(count / their_seconds)
        ours.append(count / our_seconds)
    difference = largest_difference(our_vectors, their_vectors)
    if difference > TOLERANCE:
        raise Failed(f"cosines differ by {difference:.2e}")
    ratio = statistics.median(ours) / statistics.median(theirs)
    rates = [", ".join(f"{rate:.0f}" for rate in side) for side in (ours, theirs)]
    return [
        Measurement(
            name="embed",
            what=f"{count:,} texts of {WORDS_FROM} to {WORDS_TO} words, all-MiniLM-L6-v2, all cores: "
            f"Fullbench beside sentence-transformers {PEER_VERSION} (PyTorch {TORCH_VERSION})",
            target="≥ 1 times",
            measured=f"{statistics.median(ours):.0f} and {statistics.median(theirs):.0f} texts/s: {ratio:.2f} times",
            ratio=ratio,
            met=ratio >= 1,
            detail=f"runs: {rates[0]} and {rates[1]}; the cosines of {COMPARED} texts differ by {difference:.1e} at most",
        )
    ]


def index(bench: Bench) -> list[Measurement]:
    """What the index finds of the ten nearest neighbours."""
    program = built(bench, "index_recall")
    vectors, centres = bench.size(VECTORS, 5_000), bench.size(CENTRES, 50)
    with harness.temporary_folder() as folder:
        said = harness.timed([str(program.resolve()), str(vectors), str(centres), str(bench.size(QUERIES, 200))], folder)
    harness.check(said.code == 0, "index_recall failed", said)
    report = json.loads(said.stdout)
    return [
        Measurement(
            name="index",
            what=f"similarity index, {vectors:,} vectors of 384 values around {centres:,} centres, saved and loaded: recall at 10",
            target=f"≥ {RECALL_TARGET}",
            measured=f"{report['recall']:.4f}",
            ratio=report["recall"] / RECALL_TARGET,
            met=report["recall"] >= RECALL_TARGET,
            detail=f"built in {report['build_seconds']:.0f} s on one core, saved in {report['save_seconds']:.1f} s, loaded in "
            f"{report['load_seconds']:.1f} s; {report['queries_per_second']:,.0f} queries/s; {said.peak_bytes / 1e6:.0f} MB peak",
        )
    ]


def built(bench: Bench, name: str) -> pathlib.Path:
    program = bench.binaries / "examples" / name
    if not program.exists():
        raise Skipped(f"{name} is not built: cargo build --release --workspace --examples")
    return program


def weights(bench: Bench) -> pathlib.Path:
    """The model, fetched by Fullbench itself."""
    run = subprocess.run([bench.fullbench(), "weights", "pull", MODEL], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Skipped(f"the weights cannot be fetched: {run.stderr[-400:]}")
    return pathlib.Path(run.stdout.strip())


def install(bench: Bench) -> pathlib.Path:
    """sentence-transformers in the cache folder; with PyTorch it takes some gigabytes."""
    folder = bench.cache / f"sentence-transformers-{PEER_VERSION}"
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        harness.say(f"installing sentence-transformers {PEER_VERSION} and PyTorch {TORCH_VERSION}")
        peers.install([sys.executable, "-m", "venv", str(folder)])
        packages = [f"sentence-transformers=={PEER_VERSION}", f"torch=={TORCH_VERSION}"]
        peers.install([str(python), "-m", "pip", "install", "--quiet", *packages])
        ready.touch()
    return python


def mixed_texts(count: int) -> list[str]:
    """Texts whose lengths spread evenly over the orders of magnitude; the same in every run."""
    generator = random.Random(2_000)
    lengths = [round(math.exp(generator.uniform(math.log(WORDS_FROM), math.log(WORDS_TO)))) for _ in range(count)]
    return [" ".join(generator.choices(VOCABULARY, k=length)) for length in lengths]


def embedded(command: list[str], texts: str) -> tuple[float, list[list[float]]]:
    """The seconds of one process, and its vectors."""
    run = subprocess.run(command, input=texts, capture_output=True, text=True, check=False, timeout=900)
    said = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if run.returncode != 0 or len(said) < 2:
        raise Failed(f"{command[0]} ended with {run.returncode}: {run.stderr[-800:]}")
    return said[0]["seconds"], said[-1]["vectors"]


def largest_difference(ours: list[list[float]], theirs: list[list[float]]) -> float:
    """Between the cosines of every pair of the first texts."""
    if len(ours) != len(theirs):
        raise Failed(f"{len(ours)} vectors here and {len(theirs)} there")
    ours, theirs = ([scaled(vector) for vector in side[:COMPARED]] for side in (ours, theirs))
    pairs = ((left, right) for left in range(len(ours)) for right in range(left))
    return max(abs(dot(ours[left], ours[right]) - dot(theirs[left], theirs[right])) for left, right in pairs)


def scaled(vector: list[float]) -> list[float]:
    length = math.sqrt(dot(vector, vector))
    return [value / length for value in vector]


def dot(left: list[float], right: list[float]) -> float:
    return sum(map(float.__mul__, left, right))

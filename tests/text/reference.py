"""Writes what sacreBLEU, rouge_score, NLTK and SQuAD's rules say about thousands of texts, for the tests of the crate `text`.

    reference.py FOLDER            everything, in FOLDER/reference.jsonl
    reference.py FOLDER --small    the few lines that are kept in the repository
"""

import argparse
import collections
import json
import logging
import multiprocessing
import os
import pathlib
import random
import re
import string
import unicodedata

import texts
from nltk.stem.porter import PorterStemmer
from rouge_score import rouge_scorer
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.bleu import _get_tokenizer
from sacrebleu.significance import PairedTest
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

logging.getLogger("sacrebleu").setLevel(logging.ERROR)

TOKENIZERS = ["13a", "intl", "char", "zh", "none"]
TOKENIZER = {name: _get_tokenizer(name)() for name in TOKENIZERS}
TER_FLAGS = ["normalized", "no_punctuation", "asian_support", "case_sensitive"]
TERCOM = [TercomTokenizer(*(bool(chosen >> bit & 1) for bit in range(4))) for chosen in (1, 3, 5, 7, 14)]
ROUGE_NAMES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_4": "rouge4", "rouge_l": "rougeL", "rouge_lsum": "rougeLsum"}

# Options as Fullbench writes them.
BLEU_OPTIONS = [
    *({"tokenizer": name, "lowercase": lower, "effective_order": True} for name in TOKENIZERS for lower in (False, True)),
    *({"smoothing": name, "effective_order": whole} for name in ("exp", "floor", "add-k", "none") for whole in (False, True)),
    {"smoothing": "floor", "smoothing_value": 0.01},
    {"smoothing": "add-k", "smoothing_value": 0.5, "tokenizer": "char"},
    {"max_order": 2, "effective_order": True},
]
CHRF_OPTIONS = [
    {},
    {"word_order": 2},
    {"lowercase": True, "beta": 1},
    {"whitespace": True, "word_order": 1, "beta": 3},
    {"eps_smoothing": True, "word_order": 2},
    {"char_order": 3, "word_order": 3, "whitespace": True, "lowercase": True},
    {"char_order": 9},
    {"char_order": 0, "word_order": 2},
]
TER_OPTIONS = [{flag: True for bit, flag in enumerate(TER_FLAGS) if chosen >> bit & 1} for chosen in range(16)]
ROUGE_OPTIONS = [{"kind": kind, "stemmer": stemmer} for kind in ROUGE_NAMES for stemmer in (False, True)]


def bleu(options: dict) -> BLEU:
    return BLEU(
        tokenize=options.get("tokenizer", "13a"),
        lowercase=options.get("lowercase", False),
        smooth_method=options.get("smoothing", "exp"),
        smooth_value=options.get("smoothing_value"),
        effective_order=options.get("effective_order", False),
        max_ngram_order=options.get("max_order", 4),
        force=True,
    )


def chrf(options: dict) -> CHRF:
    return CHRF(**options)


def ter(options: dict) -> TER:
    return TER(**{"no_punct" if flag == "no_punctuation" else flag: value for flag, value in options.items()})


METRICS = {"bleu": (bleu, BLEU_OPTIONS), "chrf": (chrf, CHRF_OPTIONS), "ter": (ter, TER_OPTIONS)}
MADE = {name: [make(options) for options in all_options] for name, (make, all_options) in METRICS.items()}
ROUGE = {stemmer: rouge_scorer.RougeScorer(list(ROUGE_NAMES.values()), use_stemmer=stemmer) for stemmer in (False, True)}


def squad_normalized(text: str) -> str:
    """The rules of SQuAD 1.1: small letters, no punctuation, no articles, single spaces."""
    bare = text.lower().translate({ord(mark): None for mark in string.punctuation})
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def squad(answer: str, references: list[str]) -> tuple[bool, float]:
    """Exact match and F1, each the best of all references."""
    best = 0.0
    words = collections.Counter(squad_normalized(answer).split())
    for reference in references:
        others = collections.Counter(squad_normalized(reference).split())
        same = (words & others).total()
        if same:
            precision, recall = same / words.total(), same / others.total()
            best = max(best, 2 * precision * recall / (precision + recall))
    return any(squad_normalized(answer) == squad_normalized(reference) for reference in references), best


def levenshtein(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for index, character in enumerate(left, 1):
        diagonal, row[0] = row[0], index
        for column, other in enumerate(right, 1):
            diagonal, row[column] = row[column], min(diagonal + (character != other), row[column] + 1, row[column - 1] + 1)
    return row[-1]


def segment(work: tuple[str, list[str], int]) -> dict:
    """All values of one hypothesis. sacreBLEU's TER takes seconds for some: it has only the first of its options."""
    hypothesis, references, ter_options = work
    line = {"kind": "segment", "hypothesis": hypothesis, "references": references}
    for name, metrics in MADE.items():
        chosen = metrics[:ter_options] if name == "ter" else metrics
        line[name] = [metric.sentence_score(hypothesis, references).score for metric in chosen]
    scores = {stemmer: scorer.score_multi(references, hypothesis) for stemmer, scorer in ROUGE.items()}
    line["rouge"] = [list(scores[options["stemmer"]][ROUGE_NAMES[options["kind"]]]) for options in ROUGE_OPTIONS]
    line["squad"] = list(squad(hypothesis, references))
    if len(hypothesis) <= 100:
        line["levenshtein"] = levenshtein(hypothesis, references[0])
    return line


def corpus(work: tuple[str, dict, list[list[str]], list[list[str]], int, int]) -> dict:
    """Scores, signatures, intervals and tests of several systems. `streams` is sacreBLEU's form: a list for each reference."""
    name, options, systems, streams, samples, trials = work
    make = METRICS[name][0]
    metric = make(options)
    scored = metric.corpus_score(systems[0], streams, n_bootstrap=samples)
    signature = str(metric.get_signature())
    named = [(f"system {index}", hypotheses) for index, hypotheses in enumerate(systems)]
    line = {"kind": "corpus", "metric": name, "options": options, "name": scored.name, "samples": samples, "trials": trials}
    line |= {"score": scored.score, "signature": signature, "mean": float(scored._mean), "half_width": float(scored._ci)}
    line |= {"systems": systems, "references": [[text for text in texts if text is not None] for texts in zip(*streams)]}
    tests = {"paired_bs": ("bs", samples, -1), "paired_ar": ("ar", trials, samples)}
    for key, (kind, count, confidence) in tests.items():
        signatures, results = PairedTest(named, {name: make(options)}, streams, kind, count, confidence)()
        line[key] = {"signature": str(signatures[scored.name]), "results": [numbers(result) for result in results[scored.name]]}
    return line


def numbers(result) -> dict:
    values = {"score": result.score, "p_value": result.p_value, "mean": result.mean, "half_width": result.ci}
    return {key: None if value is None else float(value) for key, value in values.items()}


def corpora(generator: random.Random, small: bool) -> list[tuple]:
    """Corpora with one, two and a varying number of references."""
    works = []
    chosen = [("bleu", {}), ("chrf", {"word_order": 2}), ("ter", {})]
    if not small:
        chosen += [("bleu", {"smoothing": "add-k", "lowercase": True}), ("bleu", {"smoothing": "floor", "tokenizer": "intl"})]
        chosen += [("chrf", {}), ("chrf", {"eps_smoothing": True}), ("ter", {"normalized": True})]
    for index, (name, options) in enumerate(chosen):
        for streams in (1,) if small else (1, 2, 3):
            brief = small or name == "ter"
            count = 12 if small else generator.choice([1, 2, 40] if brief else [1, 2, 40, 150])
            texts_of = [texts.english(generator, *((4, 9) if brief else (5, 30))) for _ in range(count)]
            references = [[text] + [texts.changed(generator, text, 0.2) for _ in range(streams - 1)] for text in texts_of]
            if streams == 3:
                references = [[*row[: generator.randint(1, 3)], None, None][:3] for row in references]
                references[0][1:] = [None, None]
            amounts = (0.3, 0.35, 0.3 if index % 2 else 0.6)
            systems = [[texts.changed(generator, text, amount) for text in texts_of] for amount in amounts]
            samples, trials = (100, 100) if small else (1000, 2000)
            works.append((name, options, systems, [list(stream) for stream in zip(*references)], samples, trials))
    return works


def characters(small: bool) -> list[str]:
    """Every assigned character among letters, digits and separators, and of the many ideographs some; the small form takes some of each
    category."""
    assigned = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")]
    many = {mark for mark in assigned if unicodedata.category(mark) == "Lo" and not (ord(mark) < 0x3400 or 0xF900 <= ord(mark) <= 0xFFFF)}
    assigned = [mark for mark in assigned if mark not in many or ord(mark) % 16 == 0]
    if small:
        of_category = collections.defaultdict(list)
        for character in assigned:
            of_category[unicodedata.category(character)].append(character)
        some = [mark for found in of_category.values() for mark in found[:: max(1, len(found) // 2)]]
        assigned = [chr(code) for code in range(128)] + some
    probes = [f"{mark}x{mark}1{mark}2.{mark},5{mark}-7 " for mark in assigned]
    size = 25
    return ["".join(probes[start : start + size]) for start in range(0, len(probes), size)]


def tokens(text: str) -> dict:
    line = {"kind": "tokens", "text": text}
    for name in TOKENIZERS:
        line[name] = " ".join(TOKENIZER[name](text.rstrip()).split())
    line["lowered"] = " ".join(text.lower().split())
    line["tercom"] = [tercom(text.rstrip()) for tercom in TERCOM]
    line["squad"] = squad_normalized(text)
    return line


def stems(generator: random.Random, count: int) -> dict:
    stemmer = PorterStemmer()
    words = sorted({texts.suffixed(generator) for _ in range(count)})
    return {"kind": "stems", "stems": {word: stemmer.stem(word) for word in words}}


def ter_options(index: int, hypothesis: str, references: list[str]) -> int:
    """With how many of its options TER is computed: all of them for short texts, few or none for long ones."""
    longest = max(len(text.split()) for text in (hypothesis, *references))
    if longest <= 7:
        return len(TER_OPTIONS)
    return 2 if longest <= 12 or index % 60 == 5 and longest <= 30 else 0


def recorded_answers() -> list[str]:
    """Real sentences, where there are some."""
    folder = pathlib.Path(os.environ.get("FULLBENCH_DATA", "../shared/data"))
    found = folder / "gsm8k" / "test.jsonl"
    return [json.loads(line)["answer"] for line in found.open(encoding="utf-8")][:60] if found.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    chosen = parser.parse_args()
    small = chosen.small
    generator = random.Random(20240229)

    pairs = texts.pairs(generator, 40 if small else 2000)
    if not small:
        pairs += [(texts.changed(generator, answer, 0.3), [answer]) for answer in recorded_answers()]
    works = [(*pair, ter_options(index, *pair)) for index, pair in enumerate(pairs)]
    plain = [text for hypothesis, references in pairs for text in (hypothesis, references[0])]

    chosen.folder.mkdir(parents=True, exist_ok=True)
    with (chosen.folder / "reference.jsonl").open("w", encoding="utf-8") as file, multiprocessing.Pool() as pool:
        header = {"kind": "options", "rouge": ROUGE_OPTIONS} | {name: all_options for name, (_, all_options) in METRICS.items()}
        lines = [[header, stems(generator, 500 if small else 40_000)]]
        lines.append(pool.imap(corpus, corpora(generator, small)))
        lines.append(pool.imap(tokens, characters(small) + (plain[:20] if small else plain), 50))
        lines.append(pool.imap(segment, works, 20))
        for line in (line for group in lines for line in group):
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()

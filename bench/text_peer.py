"""Times sacreBLEU and rouge_score on pairs of texts: `text_peer.py PAIRS.jsonl SCORES.jsonl`, in an environment that has both."""

import json
import sys
import time

from rouge_score import rouge_scorer
from sacrebleu.metrics import BLEU, CHRF


def main() -> None:
    pairs = [json.loads(line) for line in open(sys.argv[1])]
    bleu, chrf = BLEU(effective_order=True), CHRF()
    rouge = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=True)
    metrics = {
        "bleu": lambda hypothesis, reference: bleu.sentence_score(hypothesis, [reference]).score,
        "chrf": lambda hypothesis, reference: chrf.sentence_score(hypothesis, [reference]).score,
        "rouge_l": lambda hypothesis, reference: rouge.score(reference, hypothesis)["rougeL"].fmeasure,
    }
    scores, rates = [{} for _ in pairs], {}
    for name, metric in metrics.items():
        started = time.perf_counter()
        values = [metric(pair["hypothesis"], pair["reference"]) for pair in pairs]
        rates[name] = len(pairs) / (time.perf_counter() - started)
        for line, value in zip(scores, values, strict=True):
            line[name] = value
    with open(sys.argv[2], "w") as file:
        file.writelines(json.dumps(line) + "\n" for line in scores)
    print(json.dumps(rates))


if __name__ == "__main__":
    main()

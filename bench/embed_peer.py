"""sentence-transformers on the texts of `embed.py`. Started in its own environment.

Usage: embed_peer.py MODEL_FOLDER TIMES < TEXTS
Reads one text a line, as JSON; prints a line `{"seconds": ...}` for each time, and at last the vectors.
"""

import json
import sys
import time

from sentence_transformers import SentenceTransformer


def main() -> None:
    folder, times = sys.argv[1], int(sys.argv[2])
    texts = [json.loads(line) for line in sys.stdin]
    model = SentenceTransformer(folder, device="cpu")
    model.encode(texts[:64])
    vectors = []
    for _ in range(times):
        start = time.perf_counter()
        vectors = model.encode(texts)
        print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)
    print(json.dumps({"vectors": [[float(value) for value in vector] for vector in vectors]}))


if __name__ == "__main__":
    main()

"""llama.cpp through xllamacpp on the questions of `local.py`. Started in xllamacpp's own environment.

Usage: local_peer.py MODEL.gguf THREADS TOKENS < QUESTIONS
Reads one question a line, as JSON; prints one line of JSON for each: tokens and seconds as llama.cpp counts them.
"""

import json
import sys

import xllamacpp

CONTEXT_TOKENS = 4_096


def main() -> None:
    path, threads, tokens = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    settings = xllamacpp.CommonParams()
    settings.model.path = path
    settings.n_ctx = CONTEXT_TOKENS
    settings.n_parallel = 1
    settings.cpuparams.n_threads = threads
    settings.cpuparams_batch.n_threads = threads
    settings.warmup = True
    server = xllamacpp.Server(settings)
    for line in sys.stdin:
        request = {
            "messages": [{"role": "user", "content": json.loads(line)}],
            "temperature": 0,
            "max_tokens": tokens,
            "cache_prompt": False,
        }
        answer = server.handle_chat_completions(request)
        answer = json.loads(answer) if isinstance(answer, str | bytes) else answer
        timings = answer["timings"]
        print(
            json.dumps(
                {
                    "prompt_tokens": timings["prompt_n"],
                    "prompt_seconds": timings["prompt_ms"] / 1_000,
                    "tokens": timings["predicted_n"],
                    "seconds": timings["predicted_ms"] / 1_000,
                    "text": answer["choices"][0]["message"]["content"],
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()

"""The example does what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from conftest import Server

EXAMPLE = Path(__file__).parent.parent / "examples" / "first_evaluation.py"


def test_the_example_runs_from_start_to_end(own_server: Server) -> None:
    environment = {**os.environ, "FULLBENCH_URL": own_server.url, "FULLBENCH_API_KEY": own_server.api_key}
    done = subprocess.run([sys.executable, EXAMPLE], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line in (
        "recorded  exact_match  0.875  0.529 to 0.978  8       0",
        "exact_match: 0.875 -> 0.625, no_evidence",
        "question-3: Schiller",
        "row 2 (line 2), column `input`: the case has no `input`",
    ):
        assert line in done.stdout
    assert own_server.api_key not in done.stdout + done.stderr

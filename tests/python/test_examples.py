"""The examples run, as far as this machine has what they need."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(os.environ["COHORT_EXAMPLES_FOLDER"])
EXAMPLES = sorted(set(FOLDER.glob("*.py")) - {FOLDER / "serve.py"})


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.name)
def test_example(example):
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=120)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0 and done.stdout, done


def test_serve_measures_in_all_ways(tmp_path):
    done = subprocess.run([sys.executable, FOLDER / "serve.py", "--seconds", "0.3", "--json", tmp_path / "serve.json",
                           "--plot", tmp_path / "serve.png"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    result = json.loads((tmp_path / "serve.json").read_text())
    assert list(result["modes"]) == ["alone", "no lease", "lease", "tenant"]
    for row in result["modes"].values():
        assert row["requests"] > 0 and row["wrong"] == 0 and 0 < row["p50_ms"] <= row["p99_ms"] <= row["max_ms"]
    assert (tmp_path / "serve.png").exists() or "matplotlib is not installed" in done.stdout
    wrong = subprocess.run([sys.executable, FOLDER / "serve.py", "--modes", "lease,half"], capture_output=True, text=True, timeout=60)
    assert wrong.returncode == 2 and "half" in wrong.stderr

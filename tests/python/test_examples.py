"""The examples run, as far as this machine has what they need."""
import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = sorted(pathlib.Path(os.environ["COHORT_EXAMPLES_FOLDER"]).glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.name)
def test_example(example):
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=120)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0 and done.stdout, done

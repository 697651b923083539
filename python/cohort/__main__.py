"""python -m cohort: runs the cohort tool of this package, or the one installed on this machine."""
from __future__ import annotations

import os
import pathlib
import shutil
import sys


def main() -> None:
    own = pathlib.Path(__file__).parent / "bin" / "cohort"
    tool = str(own) if own.exists() else shutil.which("cohort")
    if tool is None:
        sys.exit("cohort: no tool in this package and none on PATH; install cohort, or a wheel that has the tool")
    os.execv(tool, ["cohort", *sys.argv[1:]])


if __name__ == "__main__":
    main()

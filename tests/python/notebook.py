"""Executes a notebook, with this interpreter as its kernel, and looks for the timeline in its outputs."""
import json
import os
import pathlib
import sys
import tempfile

import nbformat
from jupyter_client import kernelspec
from nbclient import NotebookClient

with tempfile.TemporaryDirectory() as folder:
    # Use the kernel of this virtual environment, even if others are installed.
    kernel = pathlib.Path(folder) / "kernels" / "python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps({
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python 3",
        "language": "python"}))
    os.environ["JUPYTER_PATH"] = folder
    os.environ["IPYTHONDIR"] = folder
    assert kernelspec.get_kernel_spec("python3").argv[0] == sys.executable
    notebook = nbformat.read(sys.argv[1], as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
text = [output["data"].get("text/plain", "") for output in outputs if "data" in output]
pages = [output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})]
assert any("finished" in each for each in text), outputs
assert pages and "frame" in pages[0] and "pagerank" in pages[0], [each[:200] for each in pages]
print(f"the timeline is a page of {len(pages[0]) // 1000} kB")

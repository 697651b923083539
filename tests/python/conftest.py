import pathlib
import subprocess
import sys

import cohort
import pytest

SOURCE = """
kernel void add(global int *a, global const int *b, int n) {
  transmit int i = 0;
  for (; i < n; i++) {
    if (get_global_id() == 0) a[i] = b[i] + 1;
    resizing_global_barrier();
  }
}
kernel void where(global ulong *address) {
  if (get_global_id() == 0) address[0] = (ulong)address;
}
kernel void endless(global uint *seen, global const uint *stop) {
  for (;;) {
    if (get_global_id() == 0) seen[0] = stop[0];
    resizing_global_barrier();
    uint end = seen[0];
    global_barrier();
    if (end) break;
  }
}
kernel void twice(global float *values, local float *tile) {
  size_t i = get_global_id(0);
  tile[get_local_id(0)] = values[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  values[i] = 2 * tile[get_local_id(0)];
}
"""


@pytest.fixture(scope="session")
def program():
    return cohort.Program(source=SOURCE, name="tests")


@pytest.fixture
def engine():
    with cohort.cpu.Engine(workers=4) as engine:
        yield engine


@pytest.fixture
def run():
    """Runs a program in another interpreter, in which `SOURCE` and cohort are available."""
    def run(text, timeout=120):
        head = f"import sys, threading, time, cohort\nsys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})\n"
        return subprocess.run([sys.executable, "-c", head + text], capture_output=True, text=True, timeout=timeout)
    return run

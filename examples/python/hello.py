"""A cooperative kernel, compiled now, adds one to an array of numpy while a task of Python takes a worker from it."""
import cohort
import numpy

SOURCE = """
kernel void increment(global int *numbers, int n) {
  transmit int round = 0;                     // a group that joins later receives it
  for (; round < 1000; round++) {
    for (int i = get_global_id(); i < n; i += get_global_size()) numbers[i]++;
    resizing_global_barrier();                // groups may leave or join here
  }
}
"""

numbers = numpy.zeros(10_000, numpy.int32)
with cohort.cpu.Engine(workers=4) as engine:
    kernel = cohort.Program(source=SOURCE, name="increment").kernel()
    job = kernel.launch(engine, numbers, len(numbers))  # in the array's own memory
    task = engine.submit(lambda group, groups: print(f"hello from group {group} of {groups}"), groups=2)
    task.wait()
    report = job.wait()
assert (numbers == 1000).all()
print(f"{report.status.name}: {report.joins} groups joined, {report.leaves} left")

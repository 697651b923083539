"""Programs, and kernels on memory of other objects."""
import array
import ctypes
import gc

import cohort
import numpy
import pytest


def test_a_kernel_runs_on_arrays(engine, program):
    a, b = numpy.zeros(50, numpy.int32), numpy.arange(50, dtype=numpy.int32)
    report = program.kernel("add").launch(engine, a, b, 50).wait()
    assert report.status is cohort.Status.finished and report.run_time > 0
    assert (a == b + 1).all()


@pytest.mark.parametrize("make, address", [
    (lambda: numpy.zeros(1, numpy.uint64), lambda value: value.ctypes.data),
    (lambda: array.array("L", [0]), lambda value: value.buffer_info()[0]),
    (lambda: (ctypes.c_uint64 * 1)(), ctypes.addressof),
])
def test_memory_is_used_in_place(engine, program, make, address):
    memory = make()
    program.kernel("where").launch(engine, memory).wait()
    assert memory[0] == address(memory)


class OnlyDLPack:
    """As a tensor of PyTorch: no buffer protocol."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **how):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_dlpack_is_used_in_place(engine, program):
    memory = numpy.zeros(1, numpy.uint64)
    program.kernel("where").launch(engine, OnlyDLPack(memory)).wait()
    assert memory[0] == memory.ctypes.data
    with pytest.raises(cohort.BadOptions, match="not contiguous"):
        program.kernel("where").launch(engine, OnlyDLPack(numpy.zeros(4, numpy.uint64)[::2]))


class OnGpu:
    __cuda_array_interface__ = {"shape": (1,), "typestr": "<u8", "data": (4096, False), "version": 3}


@pytest.mark.parametrize("value, why", [
    (numpy.zeros(4, numpy.int64), "elements of int32; it was given int64"),
    (numpy.zeros(4, numpy.float32), "it was given float32"),
    (numpy.zeros(4, numpy.uint32), "it was given uint32"),
    (numpy.zeros(4, ">i4"), "byte order"),
    (numpy.zeros(8, numpy.int32)[::2], "not contiguous"),
    (numpy.zeros((4, 4), numpy.int32).T[1:3], "not contiguous"),
    (numpy.zeros(0, numpy.int32), "not whole elements|null"),
    (numpy.broadcast_to(numpy.int32(1), (4,)), "not contiguous|read-only"),
    (memoryview(numpy.zeros(4, numpy.int32)).toreadonly(), "read-only"),
    (OnGpu(), "memory of a GPU"),
    (numpy.array([None, 1]), "Python objects"),
    ([1, 2], "no memory to share"),
    (None, "no memory to share"),
    (7, "no memory to share"),
    ("text", "no memory to share"),
])
def test_wrong_memory_is_refused(engine, program, value, why):
    with pytest.raises(cohort.BadOptions, match=why):
        program.kernel("add").launch(engine, value, numpy.zeros(4, numpy.int32), 4)


def test_read_only_memory_does_for_const_parameters(engine, program):
    b = numpy.arange(5, dtype=numpy.int32)
    b.flags.writeable = False
    a = numpy.zeros(5, numpy.int32)
    program.kernel("add").launch(engine, a, b, 5).wait()
    assert (a == b + 1).all()


@pytest.mark.parametrize("value", [1.5, "5", None, 2**31, -2**31 - 1, b"123"])
def test_wrong_values_are_refused(engine, program, value):
    with pytest.raises(cohort.BadOptions, match="parameter 'n'"):
        program.kernel("add").launch(engine, numpy.zeros(4, numpy.int32), numpy.zeros(4, numpy.int32), value)


def test_wrong_arguments_are_refused(engine, program):
    kernel, one = program.kernel("add"), numpy.zeros(1, numpy.int32)
    for arguments, named in [((one,), {}), ((one, one, 1, 2), {}), ((one, one, 1), {"n": 1}), ((one, one), {"m": 1})]:
        with pytest.raises(cohort.BadOptions):
            kernel.launch(engine, *arguments, named=named)
    kernel.launch(engine, one, named={"b": one, "n": 1}).wait()
    for options in [{"max_groups": 0}, {"max_groups": 5000}, {"max_groups": "2"}, {"local_size": 0}, {"weight": -1}, {"target": 9},
                    {"resizable": False, "target": 1}, {"range": ((4,), (4,))}, {"timeline": "a"}]:
        with pytest.raises(cohort.BadOptions):
            kernel.launch(engine, one, one, 1, **options)
    with pytest.raises(cohort.BadOptions, match="no kernel 'minus'"):
        program.kernel("minus")
    with pytest.raises(cohort.BadOptions, match="pass a cohort.cpu.Engine"):
        kernel.launch(4, one, one, 1)


def test_a_range_with_local_memory(engine, program):
    values = numpy.arange(64, dtype=numpy.float32)
    program.kernel("twice").launch(engine, values, cohort.Local(32), range=((64,), (8,))).wait()
    assert (values == 2 * numpy.arange(64)).all()
    for wrong in [((64,), (7,)), ((64,),), ((1, 1, 1, 1), (1,)), ((0,), (1,))]:
        with pytest.raises(cohort.BadOptions):
            program.kernel("twice").launch(engine, values, cohort.Local(32), range=wrong)
    with pytest.raises(cohort.BadOptions, match="local memory"):
        program.kernel("twice").launch(engine, values, values, range=((64,), (8,)))


def test_a_job_keeps_its_memory(engine, program):
    stop = numpy.zeros(1, numpy.uint32)
    memory = bytearray(4)
    steps = numpy.frombuffer(memory, numpy.uint32)
    job = program.kernel("endless").launch(engine, steps, stop)
    del steps
    gc.collect()
    with pytest.raises(BufferError):
        memory.extend(b"more")  # the memory must not move while the job runs
    stop[0] = 1
    job.wait()
    gc.collect()
    memory.extend(b"more")


def test_a_forgotten_job_keeps_its_memory(engine, program):
    stop, memory = numpy.zeros(1, numpy.uint32), bytearray(4)
    program.kernel("endless").launch(engine, memoryview(memory).cast("I"), stop)
    gc.collect()
    with pytest.raises(BufferError):
        memory.extend(b"more")
    stop[0] = 1


def test_buffers(engine, program):
    buffer = engine.buffer(8)
    program.kernel("where").launch(engine, buffer).wait()
    assert int.from_bytes(buffer.read(), "little") == buffer.address
    buffer.write(b"\1\2", 3)
    assert buffer.read()[3:5] == b"\1\2" and len(buffer) == 8
    for wrong in [lambda: buffer.write(b"123456789"), lambda: buffer.read(offset=9), lambda: buffer.read(bytes(2)),
                  lambda: engine.buffer(0), lambda: engine.buffer(-1), lambda: engine.buffer("a")]:
        with pytest.raises(cohort.Error):
            wrong()
    with pytest.raises(cohort.OutOfMemory):
        engine.buffer(2**60)
    stop = numpy.zeros(1, numpy.uint32)
    job = program.kernel("endless").launch(engine, buffer, stop)
    buffer.close()
    stop[0] = 1
    job.wait()
    with pytest.raises(cohort.BadHandle):
        buffer.read()


def test_suspend_and_resume(engine, program):
    steps, stop = numpy.zeros(1, numpy.uint32), numpy.zeros(1, numpy.uint32)
    job = program.kernel("endless").launch(engine, steps, stop, trace=True)
    with pytest.raises(cohort.TimedOut):
        job.wait(0.01)
    assert job.suspend() is cohort.Status.suspended
    assert job.wait().status is cohort.Status.suspended
    with pytest.raises(cohort.BadState, match="names no buffers|not started"):
        job.checkpoint("unused")
    job.set_target(2)
    job.set_target(None)
    job.resume()
    with pytest.raises(cohort.BadState):
        job.resume()
    stop[0] = 1
    assert job.wait().status is cohort.Status.finished
    assert job.timeline().data()["slices"]


def test_cancel(engine, program):
    stop = numpy.zeros(1, numpy.uint32)
    job = program.kernel("endless").launch(engine, numpy.zeros(1, numpy.uint32), stop)
    job.cancel()
    assert job.wait().status is cohort.Status.cancelled
    assert "cancelled" in repr(job)


def test_sources_that_do_not_compile():
    with pytest.raises(cohort.BadFile, match=r"wrong.cl:1:\d+: error"):
        cohort.Program(source="kernel void wrong(global int *a) { a[0] = ; }", name="wrong")
    with pytest.raises(cohort.BadOptions, match="no file"):
        cohort.Program("/no/such/file.cl")
    for wrong in [{}, {"file": "a", "source": "b"}, {"source": "", "name": "a/b"}, {"source": "", "defines": "A"},
                  {"source": "kernel void a(void) {}", "engine": "abacus"}, {"source": "a\0b"}]:
        with pytest.raises(cohort.Error):
            cohort.Program(**wrong)


def test_a_missing_compiler_is_said(run):
    done = run("import os\nos.environ['COHORT_CC'] = '/no/compiler'\n"
               "try: cohort.Program(source='kernel void a(void) {}')\nexcept cohort.Unsupported as error: print(error)")
    assert "cannot run /no/compiler" in done.stdout, done


def test_a_timeline_displays(engine, program, tmp_path):
    timeline = cohort.Timeline()
    program.kernel("add").launch(engine, numpy.zeros(9, numpy.int32), numpy.zeros(9, numpy.int32), 9, timeline=timeline).wait()
    engine.submit(lambda group, groups: None, groups=2, timeline=timeline, name="frame").wait()
    assert '"name":"frame"' in timeline.perfetto(tmp_path / "trace.json")
    assert (tmp_path / "trace.json").read_text().startswith("{")
    data = timeline.data()
    assert {"add", "frame"} <= set(data["names"]) and timeline.dropped == 0
    shown = timeline._repr_html_()
    assert shown is None or shown.startswith("<iframe srcdoc=")
    job = program.kernel("add").launch(engine, numpy.zeros(9, numpy.int32), numpy.zeros(9, numpy.int32), 9)
    with pytest.raises(cohort.BadState, match="trace=True"):
        job.timeline()

"""Engines and tasks: misuse raises, waits can be interrupted, and the interpreter exits while jobs and tasks run."""
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import cohort
import numpy
import pytest


def test_a_task_is_called_for_each_group(engine):
    seen = []
    report = engine.submit(lambda group, groups: seen.append((group, groups)), groups=3).wait()
    assert sorted(seen) == [(0, 3), (1, 3), (2, 3)] and report.status is cohort.Status.finished


def test_what_a_task_raises_is_raised_by_wait(engine):
    def fail(group, groups):
        if group == 1:
            raise KeyError("of group 1")
    task = engine.submit(fail, groups=2)
    for _ in range(2):
        with pytest.raises(KeyError, match="of group 1"):
            task.wait()
    assert task.report().status is cohort.Status.failed
    with pytest.raises(TypeError):
        engine.submit(lambda: None).wait()
    engine.submit(lambda group, groups: None).wait()


def test_waiting_leaves_other_threads_running(engine):
    go = threading.Event()
    task = engine.submit(lambda group, groups: go.wait())
    threading.Timer(0.05, go.set).start()
    task.wait()


def test_a_task_may_use_the_engine(engine):
    with pytest.raises(cohort.BadState, match="a task of the engine cannot close it"):
        engine.submit(lambda group, groups: engine.close()).wait()
    inner = []
    engine.submit(lambda group, groups: inner.append(engine.submit(lambda *_: inner.append(1)).wait())).wait()
    assert len(inner) == 2


def test_wrong_options_are_refused(engine):
    for wrong in [lambda: cohort.cpu.Engine(workers=0), lambda: cohort.cpu.Engine(workers=-1), lambda: cohort.cpu.Engine(workers="4"),
                  lambda: cohort.cpu.Engine(workers=10**9), lambda: engine.submit(print, groups=5), lambda: engine.submit(print, groups=0),
                  lambda: engine.submit(3), lambda: engine.submit(print, priority=2**40), lambda: setattr(engine, "capacity", 0),
                  lambda: setattr(engine, "capacity", None), lambda: engine.submit(print, name="a\0b")]:
        with pytest.raises(cohort.BadOptions):
            wrong()
    engine.capacity = 2
    assert engine.capacity == 2


def test_a_closed_engine_is_refused(program):
    engine = cohort.cpu.Engine(workers=2)
    stop = numpy.zeros(1, numpy.uint32)
    job = program.kernel("endless").launch(engine, numpy.zeros(1, numpy.uint32), stop)
    engine.close()
    engine.close()
    assert job.wait().status is cohort.Status.cancelled
    for use in [lambda: engine.capacity, lambda: engine.submit(print), lambda: engine.buffer(4), engine.__enter__,
                lambda: cohort.apps.bfs(engine, ([0, 0], [])),
                lambda: program.kernel("endless").launch(engine, numpy.zeros(1, numpy.uint32), stop)]:
        with pytest.raises(cohort.BadHandle):
            use()
    with pytest.raises(cohort.Error):
        job.resume()


def test_closing_gives_up_after_a_time(engine):
    started, go = threading.Event(), threading.Event()
    engine.submit(lambda group, groups: (started.set(), go.wait()))
    started.wait()
    with pytest.raises(cohort.TimedOut):
        engine.close(timeout=0.02)
    with pytest.raises(cohort.EngineGone):
        engine.capacity
    go.set()
    engine.close()


def test_engines_can_be_closed_by_several_threads(engine):
    started, go = threading.Event(), threading.Event()
    engine.submit(lambda group, groups: (started.set(), go.wait(60)))
    started.wait()
    closers = [threading.Thread(target=engine.close) for _ in range(2)]
    for each in closers:
        each.start()
    for _ in range(5):
        with pytest.raises(cohort.TimedOut):
            engine.close(timeout=0.02)
    go.set()
    for each in closers:
        each.join()


def test_an_engine_dropped_in_its_task_stays_until_the_jobs_have_ended(program):
    engine = cohort.cpu.Engine(workers=2)
    memory = numpy.zeros(1, numpy.uint32)
    seen, value = weakref.ref(memory), engine._handle.value
    program.kernel("endless").launch(engine, memory, numpy.zeros(1, numpy.uint32), max_groups=1)
    del memory
    # The garbage collector may make this call too.
    task = engine.submit(lambda group, groups: engine.__del__())
    task.wait()
    assert cohort._engine.Engine._open[value] and seen() is not None
    engine.close()
    assert value not in cohort._engine.Engine._open and seen() is None


def test_a_task_cannot_wait_for_itself(engine):
    tasks, ready = [], threading.Event()
    tasks.append(engine.submit(lambda *_: (ready.wait(), tasks[0].wait())))
    ready.set()
    with pytest.raises(cohort.BadState):
        tasks[0].wait(timeout=60)


def test_an_interrupted_launch_keeps_its_memory(engine, program, monkeypatch):
    memory = numpy.zeros(1, numpy.uint32)
    seen = weakref.ref(memory)
    call = cohort._library.call

    def interrupted(function, *arguments):
        call(function, *arguments)
        if function == "kernel_launch":
            raise KeyboardInterrupt
    monkeypatch.setattr(cohort._library, "call", interrupted)
    try:
        program.kernel("endless").launch(engine, memory, numpy.zeros(1, numpy.uint32))
    except KeyboardInterrupt:
        pass
    del memory
    gc.collect()
    assert seen() is not None
    engine.close()
    assert seen() is None


def test_an_interrupted_graph_keeps_its_arrays(monkeypatch):
    copies = []

    def interrupted(function):
        copies.append(function)
        raise KeyboardInterrupt
    offsets = numpy.array([0, 0], numpy.uint32)
    seen = weakref.ref(offsets)
    monkeypatch.setattr(cohort._library, "interruptible", interrupted)
    try:
        cohort.Graph((offsets, numpy.array([], numpy.uint32)))
    except KeyboardInterrupt:
        pass
    del offsets
    gc.collect()
    assert seen() is not None
    cohort._library.code("graph_destroy", copies.pop()())
    assert seen() is None


def test_dropped_engines_end(program):
    for _ in range(3):
        engine = cohort.cpu.Engine(workers=2)
        engine.submit(lambda *_: None)
        del engine
    gc.collect()


def test_errors_are_errors():
    for each in (cohort.BadOptions, cohort.BadState, cohort.TimedOut, cohort.BadHandle, cohort.Unsupported, cohort.OutOfMemory):
        assert issubclass(each, cohort.Error)
    assert issubclass(cohort.BadOptions, ValueError) and issubclass(cohort.TimedOut, TimeoutError)


def test_cuda_says_what_is_missing():
    if any(each["name"] == "cuda" and not each["lacking"] for each in cohort.about()["engines"]):
        pytest.skip("there is a GPU")
    with pytest.raises(cohort.Unsupported, match="cuda"):
        cohort.cuda.Engine()
    with pytest.raises(cohort.BadOptions):
        cohort.cuda.stream_address("stream")

    class Stream:
        def __cuda_stream__(self):
            return 0, 77
    assert cohort.cuda.stream_address(Stream()) == 77 and cohort.cuda.stream_address(5) == 5


def test_interrupts_end_waits():
    text = """
import sys, threading, cohort
engine, go = cohort.cpu.Engine(workers=2), threading.Event()
task = engine.submit(lambda *_: (print("waiting", flush=True), go.wait()))
try:
    task.wait()
except KeyboardInterrupt:
    go.set()
    print(task.wait().status.name)
"""
    child = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "waiting\n"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "finished\n" and child.returncode == 0


def test_interrupts_do_not_end_the_exit(run):
    text = """
import os, signal
engine = cohort.cpu.Engine(workers=2)
started, over = threading.Event(), threading.Event()
engine.submit(lambda *_: (started.set(), over.wait(60), print("end", flush=True)))
started.wait()
def interrupt():
    while not cohort._engine.Engine._exiting:
        time.sleep(0.01)
    for _ in range(2):
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)
    over.set()
threading.Thread(target=interrupt, daemon=True).start()
"""
    done = run(text)
    assert done.returncode == 0 and done.stdout == "end\n" and "Interrupt" not in done.stderr, done


ENDLESS = """
from conftest import SOURCE
import numpy
engine = cohort.cpu.Engine(workers=2)
program = cohort.Program(source=SOURCE, name="tests")
stop = numpy.zeros(1, numpy.uint32)
job = program.kernel("endless").launch(engine, numpy.zeros(1, numpy.uint32), stop)
"""


@pytest.mark.parametrize("text", [
    "",
    "threading.Thread(target=job.wait, daemon=True).start(); time.sleep(0.1)",
    "job.suspend()",
    "job.set_target(1); engine.submit(lambda *_: time.sleep(0.2))",
    "job.set_target(1); threading.Thread(target=lambda: [engine.submit(lambda *_: None) for _ in iter(int, 1)], daemon=True).start()",
    "import os; pid = os.fork(); pid and os.waitpid(pid, 0)",
    "del engine, job",
], ids=["job", "daemon_waits", "suspended", "task", "daemon_submits", "fork", "dropped"])
def test_the_interpreter_exits(run, text):
    done = run(ENDLESS + text + "\nprint('end')")
    assert done.returncode == 0 and done.stdout.startswith("end"), done
    assert "Fatal" not in done.stderr and "terminate" not in done.stderr, done


def test_the_interpreter_exits_when_tasks_do_not(run):
    text = """
import atexit
from cohort import _engine
_engine._GRACE, _engine._PATIENCE = 0.1, 0.3
engine = cohort.cpu.Engine(workers=2)
started = threading.Event()
def task(group, groups):
    started.set()
    {}
engine.submit(task)
started.wait()
"""
    polite = run(text.format("while True: time.sleep(0.01)"))
    assert polite.returncode == 0 and polite.stderr == "", polite
    stubborn = run(text.format("threading.Event().wait()"))
    assert stubborn.returncode == 1 and "does not end" in stubborn.stderr, stubborn


def test_a_child_process_cannot_use_the_engine(engine):
    pid = os.fork()
    if pid == 0:
        try:
            engine.submit(lambda *_: None)
        except cohort.EngineGone:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def test_the_tool_runs():
    done = subprocess.run([sys.executable, "-m", "cohort", "--version"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("cohort " + cohort.__version__), done


def test_many_threads_share_an_engine(engine):
    seen = []

    def use():
        for _ in range(20):
            engine.submit(lambda group, groups: seen.append(group), groups=2).wait()
    threads = [threading.Thread(target=use) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(seen) == 4 * 20 * 2

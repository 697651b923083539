"""Engines, jobs and tasks. Their interface is the same on every engine.

Invariant: the objects that a job or a task uses stay alive until it has ended, even without its handle."""
from __future__ import annotations

import atexit
import ctypes
import dataclasses
import enum
import json
import os
import sys
import threading
import time
from typing import Any, Callable, Optional

from . import _library, _tenant
from ._errors import BAD_HANDLE, OK, TIMED_OUT, BadHandle, BadOptions, BadState, EngineGone, Error
from ._memory import Buffer
from ._timeline import Timeline


class Status(enum.Enum):
    """The status of a job or task."""
    pending = 0
    running = 1
    finished = 2
    left = 3
    cancelled = 4
    suspended = 5
    failed = 6

    @property
    def over(self) -> bool:
        """Whether the job or task has ended for good."""
        return self not in (Status.pending, Status.running, Status.suspended)


@dataclasses.dataclass(frozen=True)
class Summary:
    """Durations, in seconds."""
    count: int
    p50: float
    p99: float
    max: float


@dataclasses.dataclass(frozen=True)
class Report:
    """Statistics of a job. Times are in seconds."""
    status: Status
    run_time: float
    start_groups: int
    joins: int
    leaves: int
    sizes: list[tuple[float, int]]  #: active groups from this time after the launch on
    gather: Summary
    offers: Summary
    error: str  #: why it failed
    numbers: dict[str, int]  #: results of an app


@dataclasses.dataclass(frozen=True)
class TaskReport:
    """Statistics of a task. Times are in seconds."""
    status: Status
    gather: float  #: from the submission to having all units
    run_time: float
    error: str


def _summary(json_object: dict[str, int]) -> Summary:
    return Summary(json_object["count"], *(json_object[each] / 1e9 for each in ("p50", "p99", "max")))


def launch_options(name: str, max_groups: Optional[int], start_groups: Optional[int], target: Optional[int],
                   local_size: Optional[int], weight: Optional[int], resizable: bool,
                   offer_wait: Optional[float], timeline: Optional[Timeline]) -> _library.LaunchOptions:
    """The C API's options of a launch. None stands for the default."""
    limited = _library.limited
    wait = 0 if offer_wait is None else int(offer_wait * 1e9) or -1
    return _library.LaunchOptions(
        max_groups=limited(max_groups, "max_groups"), start_groups=limited(start_groups, "start_groups"),
        target=limited(target, "target"), local_size=limited(local_size, "local_size"), weight=limited(weight, "weight"),
        fixed=not resizable, offer_wait_ns=wait, timeline=timeline_handle(timeline), name=_library.encoded(name, "name"))


def timeline_handle(timeline: Optional[Timeline]) -> Any:
    if timeline is not None and not isinstance(timeline, Timeline):
        raise BadOptions(f"timeline is a {type(timeline).__name__}; pass a cohort.Timeline")
    return None if timeline is None else timeline._handle


class _JobState:
    """A job's handle, and the objects that the job uses."""

    def __init__(self, keeps: Any) -> None:
        self.handle = _library.Handle()  # null until the kernel has been launched
        self.keeps = keeps

    def status(self) -> Status:
        status = ctypes.c_int()
        if not self.handle:
            return Status.pending
        _library.call("job_status", self.handle, ctypes.byref(status))
        return Status(status.value)

    def __del__(self) -> None:
        if self.handle:
            _library.code("job_destroy", self.handle)


class Job:
    """A launched kernel or app."""

    def __init__(self, engine: "Engine", keeps: Any, timeline: Optional[Timeline], function: str, *arguments: Any) -> None:
        """Launches the job with a function of the C API that returns the handle through its last parameter."""
        self._engine = engine
        self._state = _JobState(keeps)
        self._timeline = timeline
        # Before the wait, because a signal may raise an exception as soon as the job runs.
        engine._uses(self._state)
        try:
            _library.call(function, *arguments, ctypes.byref(self._state.handle))
        except BaseException:
            if not self._state.handle:
                engine._forgets(self._state)
            raise

    def wait(self, timeout: Optional[float] = None) -> Report:
        """Waits until the job is at rest: finished, left, cancelled or suspended. Raises the exception of a
        failed job, and TimedOut after `timeout` seconds."""
        _library.raise_code(_library.wait("job_wait", self._handle, timeout, None))
        report = self.report()
        if report.status.over:
            self._engine._forgets(self._state)
        return report

    @property
    def status(self) -> Status:
        """The current status."""
        return self._state.status()

    def cancel(self) -> None:
        """Ends the job: each group leaves at its next primitive. Returns at once."""
        _library.call("job_cancel", self._handle)

    def suspend(self) -> Status:
        """Removes all groups at their next resizing points, and waits until they are out."""
        status = ctypes.c_int()
        _library.interruptible(lambda: _library.call("job_suspend", self._handle, ctypes.byref(status)))
        return Status(status.value)

    def resume(self) -> None:
        """Continues a suspended job."""
        _library.call("job_resume", self._handle)

    def checkpoint(self, file: "str | os.PathLike[str]") -> None:
        """Writes a suspended job to a file. Only for apps that were launched with `movable`."""
        name = _library.encoded(file, "file")
        _library.interruptible(lambda: _library.call("job_checkpoint", self._handle, name))

    def set_target(self, groups: Optional[int]) -> None:
        """Fixes the number of groups that the job should have; None lets the engine decide again."""
        _library.call("job_set_target", self._handle, _library.limited(groups, "groups"))

    def report(self) -> Report:
        """Statistics so far."""
        found = json.loads(_library.text("job_report", self._handle))
        return Report(Status[found["status"]], found["run_time_ns"] / 1e9, found["start_groups"], found["joins"], found["leaves"],
                      [(time_ns / 1e9, groups) for time_ns, groups in found["sizes"]], _summary(found["gather"]),
                      _summary(found["offers"]), found["error"], found.get("numbers", {}))

    def timeline(self) -> Timeline:
        """The timeline with which the job was launched (`trace=True` or `timeline=`)."""
        if self._timeline is None:
            raise BadState("timeline: the job was launched without; launch it with trace=True")
        return self._timeline

    def result(self) -> Any:
        """The result of a finished app, with one value per node: a numpy array, or an array.array without numpy."""
        element, count = ctypes.c_char_p(), ctypes.c_uint64()
        _library.call("job_result_size", self._handle, ctypes.byref(element), ctypes.byref(count))
        name = (element.value or b"").decode()
        try:
            import numpy
        except ImportError:
            import array
            result: Any = array.array({"uint32": "I", "uint64": "Q", "float64": "d"}[name])
            result.frombytes(bytes(result.itemsize * count.value))
            address, size = result.buffer_info()[0], result.itemsize * count.value
        else:
            result = numpy.empty(count.value, name)
            address, size = result.ctypes.data, result.nbytes
        _library.call("job_result", self._handle, address, size)
        return result

    def verify(self) -> None:
        """Compares an app's result with a sequential computation. Raises Error with the first difference."""
        def wrong() -> str:
            right = ctypes.c_int32()
            _library.call("job_verify", self._handle, ctypes.byref(right))
            # The message belongs to this thread.
            return "" if right.value else _library.message() or "the result is wrong"

        if why := _library.interruptible(wrong):
            raise Error(why)

    @property
    def _handle(self) -> _library.Handle:
        return self._state.handle

    def __repr__(self) -> str:
        return f"<cohort.Job {self.status.name}>"


class Task:
    """A submitted function."""

    _all: "dict[int, Task]" = {}  # tasks whose functions may still be called, by number
    _made = 0
    # Reentrant, because the garbage collector may close an engine while this thread holds it.
    _lock = threading.RLock()
    running: "dict[int, int]" = {}  # for each thread that runs functions of tasks: how many it runs

    def __init__(self, engine: "Engine", function: Callable[..., Any], groups: int) -> None:
        self._engine = engine
        self._function = function
        self._left = groups
        self._error: Optional[BaseException] = None
        self._handle: Any = None
        with Task._lock:
            Task._made += 1
            self._number = Task._made
            Task._all[self._number] = self

    @staticmethod
    def _call(number: int, group: int, groups: int) -> None:
        """Called by threads of the engine. No exception leaves this function."""
        ident = threading.get_ident()
        task = None
        try:
            with Task._lock:
                task = Task._all[number]
                Task.running[ident] = Task.running.get(ident, 0) + 1
            try:
                task._function(group, groups)
            finally:
                with Task._lock:
                    Task.running[ident] -= 1
                    if not Task.running[ident]:
                        del Task.running[ident]
        except BaseException as error:
            if task is not None and task._error is None:
                task._error = error
        finally:
            if task is not None:
                with Task._lock:
                    task._left -= 1
                    done = task._left <= 0
                if done:
                    task._forget()

    def _forget(self) -> None:
        with Task._lock:
            Task._all.pop(self._number, None)

    def wait(self, timeout: Optional[float] = None) -> TaskReport:
        """Waits until the task is finished or cancelled. Raises the function's exception, and TimedOut after `timeout` seconds."""
        status = ctypes.c_int()
        found = _library.wait("task_wait", self._handle, timeout, ctypes.byref(status))
        if Status(status.value).over:
            self._forget()
            if self._error is not None:
                raise self._error
        _library.raise_code(found)
        return self.report()

    def cancel(self) -> None:
        """Withdraws a waiting task. A running function is not interrupted."""
        _library.call("task_cancel", self._handle)

    def report(self) -> TaskReport:
        """Statistics so far."""
        found = json.loads(_library.text("task_report", self._handle))
        status = Status[found["status"]]
        if self._error is not None and status is Status.finished:
            status = Status.failed
        return TaskReport(status, found["gather_ns"] / 1e9, found["run_time_ns"] / 1e9,
                          found["error"] or (repr(self._error) if self._error else ""))

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            _library.code("task_destroy", self._handle)


_CALL = _library.TASK_FUNCTION(Task._call)


class Engine:
    """Runs kernels. Make a cohort.cpu.Engine or cohort.cuda.Engine, and close it, or use it in a `with` statement."""

    kind = ""

    # Handles of engines that are not closed, in order; each with the objects that jobs of dropped
    # engines still use.
    _open: "dict[int, Any]" = {}
    _exiting = False

    def __init__(self, options: _library.EngineOptions) -> None:
        self._closed = True
        if Engine._exiting:
            raise EngineGone("the interpreter is exiting: no more engines")
        for value in [value for value, states in list(Engine._open.items()) if states is not None]:
            if Engine._gone(_library.code("engine_close", _library.Handle(value), 0)):
                Engine._open.pop(value, None)
        self._handle = _library.created("engine_create", self.kind.encode(), ctypes.byref(options))
        self._closed = False
        self._states: set[_JobState] = set()
        self._lock = threading.RLock()
        Engine._open[self._handle.value or 0] = None

    @property
    def capacity(self) -> int:
        """The number of units that can be in use at the same time. It can be changed while jobs run."""
        units = ctypes.c_uint32()
        _library.call("engine_capacity", self._handle, ctypes.byref(units))
        return units.value

    @capacity.setter
    def capacity(self, units: int) -> None:
        if units is None:
            raise BadOptions("capacity = None: pass a whole number")
        _library.call("engine_set_capacity", self._handle, _library.limited(units, "capacity"))

    def buffer(self, size: int) -> Buffer:
        """Allocates `size` bytes of the engine's memory, filled with zeros."""
        return Buffer(self, size)

    def submit(self, function: Callable[..., Any], groups: int = 1, priority: int = 0, timeline: Optional[Timeline] = None,
               name: str = "task") -> Task:
        """Calls `function(group, groups)` once for each of `groups` groups, on that many units at once. Jobs make room for the task."""
        if not callable(function):
            raise BadOptions(f"function is a {type(function).__name__}, which cannot be called")
        options = _library.TaskOptions(groups=_library.limited(groups, "groups"),
                                       priority=_library.limited(priority, "priority", 2**31 - 1, -2**31),
                                       timeline=timeline_handle(timeline), name=_library.encoded(name, "name"))
        task = Task(self, function, groups)
        try:
            task._handle = _library.created("task_submit", self._handle, _CALL, task._number, ctypes.byref(options))
        except BaseException:
            task._forget()
            raise
        return task

    def close(self, timeout: Optional[float] = None) -> None:
        """Cancels all jobs and tasks, waits until they have ended, and closes the engine. Raises TimedOut after `timeout` seconds;
        the engine can be closed again then."""
        if self._closed:
            return
        found = _library.wait("engine_close", self._handle, timeout)
        if not Engine._gone(found):
            _library.raise_code(found)
        self._ended()

    @staticmethod
    def _gone(found: int) -> bool:
        """Whether an engine is closed after a call of engine_close. For any other code, its work is still running."""
        return found in (OK, BAD_HANDLE)

    def _ended(self) -> None:
        self._closed = True
        Engine._open.pop(self._handle.value or 0, None)
        with self._lock:
            self._states.clear()
        with Task._lock:
            mine = [number for number, task in Task._all.items() if task._engine is self]
        for number in mine:
            with Task._lock:
                Task._all.pop(number, None)

    def _uses(self, state: _JobState) -> None:
        """Keeps the objects that a job uses, and drops the objects of ended jobs."""
        with self._lock:
            self._states = {each for each in self._states if not each.status().over}
            self._states.add(state)

    def _forgets(self, state: _JobState) -> None:
        with self._lock:
            self._states.discard(state)
        state.keeps = None

    def __enter__(self) -> "Engine":
        if self._closed:
            raise BadHandle("the engine has been closed")
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        # Cancels everything that still runs. Its memory stays until it has ended; the interpreter waits for that when
        # it exits.
        if getattr(self, "_closed", True):
            return
        if Engine._gone(_library.code("engine_close", self._handle, 0)):
            Engine._open.pop(self._handle.value or 0, None)
        else:
            Engine._open[self._handle.value or 0] = self._states


_GRACE = 2.0  # seconds in which functions of tasks can end by themselves when the interpreter exits
_PATIENCE = 3.0  # additional seconds after an exception has been raised in them


def _close_all() -> None:
    """Closes all tenants, then all engines, the youngest first, while threads can still run Python. A function of a task that does
    not end is interrupted by SystemExit. If that does not help either, the process exits without waiting for it."""
    Engine._exiting = True
    _tenant.close_all()  # a task may wait for a lease
    begun = time.monotonic()
    interrupted: set[int] = set()
    for value in reversed(list(Engine._open)):
        while value in Engine._open:
            try:
                if not _close_at_exit(value, begun, interrupted):
                    break
            except KeyboardInterrupt:  # running jobs and tasks still use memory of this interpreter
                pass


def _close_at_exit(value: int, begun: float, interrupted: "set[int]") -> bool:
    """Tries for a moment to close an engine. Returns False if it cannot be closed."""
    found = _library.code("engine_close", _library.Handle(value), int(_library.SLICE * 1e9))
    if Engine._gone(found):
        Engine._open.pop(value, None)
    if found != TIMED_OUT:
        return False
    waited = time.monotonic() - begun
    with Task._lock:
        threads = list(Task.running)
    if waited > _GRACE:
        for other in list(Engine._open):  # a function may be waiting for another engine's work
            _library.code("engine_close", _library.Handle(other), 0)
        for ident in threads:
            if ident not in interrupted:
                interrupted.add(ident)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(SystemExit))
    if waited > _GRACE + _PATIENCE and threads:
        sys.stderr.write("cohort: the function of a task does not end; the process exits without it\n")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)
    return True


atexit.register(_close_all)

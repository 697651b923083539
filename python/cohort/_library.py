"""libcohort.so by ctypes, which releases the interpreter's lock during every call.

Invariant: only this module knows the types of the C API's functions."""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
import threading
import time
from typing import Any, Callable, Optional

from . import _errors

Handle = ctypes.c_void_p
TASK_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
ABI = 1
#: The longest wait of the main thread, so that it notices Ctrl-C between two waits.
SLICE = 0.05


class Options(ctypes.Structure):
    """Options of the C API; the size is set by the constructor."""

    def __init__(self, **values: Any) -> None:
        super().__init__(ctypes.sizeof(type(self)), **values)


class EngineOptions(Options):
    _fields_ = [("size", ctypes.c_size_t), ("capacity", ctypes.c_uint32), ("pin_workers", ctypes.c_int32), ("device", ctypes.c_char_p),
                ("share", ctypes.c_char_p)]


class ProgramOptions(Options):
    _fields_ = [("size", ctypes.c_size_t), ("engine", ctypes.c_char_p), ("transmit", ctypes.c_char_p),
                ("max_local_size", ctypes.c_uint32), ("defines", ctypes.POINTER(ctypes.c_char_p)),
                ("include_paths", ctypes.POINTER(ctypes.c_char_p)), ("build_options", ctypes.POINTER(ctypes.c_char_p)),
                ("cache", ctypes.c_char_p)]


class LaunchOptions(Options):
    _fields_ = [("size", ctypes.c_size_t), ("max_groups", ctypes.c_uint32), ("start_groups", ctypes.c_uint32),
                ("target", ctypes.c_uint32), ("local_size", ctypes.c_uint32), ("weight", ctypes.c_uint32), ("fixed", ctypes.c_int32),
                ("offer_wait_ns", ctypes.c_int64), ("timeline", Handle), ("name", ctypes.c_char_p)]


class TaskOptions(Options):
    _fields_ = [("size", ctypes.c_size_t), ("groups", ctypes.c_uint32), ("priority", ctypes.c_int32), ("timeline", Handle),
                ("name", ctypes.c_char_p)]


class Csr(Options):
    _fields_ = [("size", ctypes.c_size_t), ("nodes", ctypes.c_uint64), ("edges", ctypes.c_uint64), ("offsets", ctypes.c_void_p),
                ("targets", ctypes.c_void_p), ("weights", ctypes.c_void_p), ("offset_bytes", ctypes.c_uint32),
                ("target_bytes", ctypes.c_uint32), ("weight_bytes", ctypes.c_uint32)]


class AppOptions(Options):
    _fields_ = [("size", ctypes.c_size_t), ("settings", ctypes.POINTER(ctypes.c_char_p)), ("input", ctypes.c_char_p),
                ("launch", ctypes.POINTER(LaunchOptions)), ("movable", ctypes.c_int32), ("restore", ctypes.c_char_p)]


class TenantOptions(Options):
    _fields_ = [("size", ctypes.c_size_t), ("engine", ctypes.c_char_p), ("name", ctypes.c_char_p), ("weight", ctypes.c_uint32),
                ("priority", ctypes.c_int32)]


def _functions() -> dict[str, list]:
    text, handle, number, to = ctypes.c_char_p, Handle, ctypes.c_uint64, ctypes.POINTER
    texts, handles, status = to(ctypes.c_void_p), to(Handle), to(ctypes.c_int)
    sizes = to(ctypes.c_uint32)
    return {
        "about": [texts],
        "engine_create": [text, to(EngineOptions), handles],
        "engine_capacity": [handle, sizes],
        "engine_set_capacity": [handle, ctypes.c_uint32],
        "engine_close": [handle, ctypes.c_int64],
        "buffer_create": [handle, number, handles],
        "buffer_address": [handle, to(ctypes.c_void_p)],
        "buffer_read": [handle, number, ctypes.c_void_p, number],
        "buffer_write": [handle, number, ctypes.c_void_p, number],
        "buffer_destroy": [handle],
        "program_from_file": [text, to(ProgramOptions), handles],
        "program_from_source": [text, text, to(ProgramOptions), handles],
        "program_describe": [handle, texts],
        "program_warnings": [handle, texts],
        "program_destroy": [handle],
        "kernel_create": [handle, text, handles],
        "kernel_set_memory": [handle, text, ctypes.c_void_p, number],
        "kernel_set_buffer": [handle, text, handle],
        "kernel_set_value": [handle, text, ctypes.c_void_p, number],
        "kernel_set_local": [handle, text, number],
        "kernel_set_range": [handle, sizes, sizes],
        "kernel_destroy": [handle],
        "kernel_launch": [handle, handle, to(LaunchOptions), handles],
        "job_wait": [handle, ctypes.c_int64, status],
        "job_status": [handle, status],
        "job_cancel": [handle],
        "job_suspend": [handle, status],
        "job_resume": [handle],
        "job_checkpoint": [handle, text],
        "job_set_target": [handle, ctypes.c_uint32],
        "job_report": [handle, texts],
        "job_destroy": [handle],
        "job_result_size": [handle, to(ctypes.c_char_p), to(number)],
        "job_result": [handle, ctypes.c_void_p, number],
        "job_verify": [handle, to(ctypes.c_int32)],
        "task_submit": [handle, TASK_FUNCTION, ctypes.c_void_p, to(TaskOptions), handles],
        "task_wait": [handle, ctypes.c_int64, status],
        "task_cancel": [handle],
        "task_report": [handle, texts],
        "task_destroy": [handle],
        "graph_create": [to(Csr), handles],
        "graph_destroy": [handle],
        "app_launch": [handle, text, handle, to(AppOptions), handles],
        "timeline_create": [number, handles],
        "timeline_export": [handle, ctypes.c_int, texts],
        "timeline_dropped": [handle, to(number)],
        "timeline_destroy": [handle],
        "engine_lease": [handle, ctypes.c_void_p, ctypes.c_uint32, handles],
        "engine_lease_stream": [handle, ctypes.c_uint32, handles],
        "lease_stream": [handle, to(ctypes.c_void_p)],
        "lease_give_back": [handle],
        "lease_wait": [handle, ctypes.c_int64],
        "lease_units": [handle, sizes],
        "lease_cpus": [handle, sizes, ctypes.c_uint32, sizes],
        "tenant_create": [to(TenantOptions), handles],
        "tenant_destroy": [handle],
        "tenant_wait_connected": [handle, ctypes.c_int64],
        "tenant_engine": [handle, texts],
        "tenant_lease": [handle, ctypes.c_uint32, handles],
        "tenant_try_lease": [handle, ctypes.c_uint32, handles],
        "shared_engines": [texts],
        "shared_engine_status": [text, texts],
        "shared_engine_set_capacity": [text, ctypes.c_uint32],
    }


def _load() -> ctypes.CDLL:
    """Loads $COHORT_LIBRARY, the library of this wheel or of this installed tree, or one that the loader finds."""
    here = pathlib.Path(__file__).resolve().parent
    tree = here.parent.parent.parent  # lib, if this is lib/python3/dist-packages/cohort
    own = [folder / "libcohort.so.1" for folder in (here / "lib", tree, *tree.glob("*-linux-gnu"))]
    name = os.environ.get("COHORT_LIBRARY") or next((str(each) for each in own if each.exists()), "libcohort.so.1")
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(f"cohort: cannot load {name}: {error}; install cohort's wheel, or set COHORT_LIBRARY") from None
    library.cohort_abi.restype = ctypes.c_uint32
    if library.cohort_abi() < ABI:
        raise ImportError(f"cohort: {name} has version {library.cohort_abi()} of the interface; this package needs {ABI}")
    for known in ("version", "message", "code_name", "status_name"):
        getattr(library, "cohort_" + known).restype = ctypes.c_char_p
    library.cohort_string_free.argtypes = [ctypes.c_void_p]
    for known, types in _functions().items():
        function = getattr(library, "cohort_" + known)
        function.argtypes, function.restype = types, ctypes.c_int
    return library


library = _load()


def code(function: str, *arguments: Any) -> int:
    """Calls a function of the C API and returns its code."""
    return getattr(library, "cohort_" + function)(*arguments)


def message() -> str:
    """Why the last failing call of this thread failed."""
    return library.cohort_message().decode(errors="replace")


def raise_code(found: int) -> None:
    """Raises the exception for a code other than success."""
    if found != 0:
        raise _errors.OF_CODE.get(found, _errors.Error)(message())


def call(function: str, *arguments: Any) -> None:
    """Calls a function of the C API. Raises Error if it fails."""
    raise_code(code(function, *arguments))


def created(function: str, *arguments: Any) -> Handle:
    """The handle that a function returns through its last parameter."""
    handle = Handle()
    call(function, *arguments, ctypes.byref(handle))
    return handle


def text(function: str, *arguments: Any) -> str:
    """The text that a function returns through its last parameter."""
    pointer = ctypes.c_void_p()
    call(function, *arguments, ctypes.byref(pointer))
    try:
        return ctypes.string_at(pointer.value or 0).decode(errors="replace")
    finally:
        library.cohort_string_free(pointer)


def wait(function: str, handle: Handle, timeout: Optional[float], *more: Any) -> int:
    """Calls a waiting function in slices of time. Returns its code, or TIMED_OUT after `timeout` seconds."""
    if timeout is None and threading.get_ident() != threading.main_thread().ident:
        # Ctrl-C is not noticed here; the library refuses an endless wait in a task that could not
        # end.
        return code(function, handle, -1, *more)
    end = None if timeout is None else time.monotonic() + max(timeout, 0)
    while True:
        left = SLICE if end is None else min(SLICE, max(end - time.monotonic(), 0))
        found = code(function, handle, int(left * 1e9), *more)
        if found != _errors.TIMED_OUT or (end is not None and time.monotonic() >= end):
            return found


def interruptible(function: Callable[[], Any]) -> Any:
    """Runs a function that may block for long. Ctrl-C interrupts the wait for the function, but not the function."""
    if threading.current_thread() is not threading.main_thread():
        return function()
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["result"] = function()
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run, name="cohort", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(SLICE)
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


def encoded(value: Any, what: str) -> Optional[bytes]:
    """Text or a path, encoded for C."""
    if value is None:
        return None
    result = os.fsencode(value)
    if b"\0" in result:
        raise _errors.BadOptions(f"{what}: it has a zero byte in it")
    return result


def encoded_list(values: Any, what: str) -> Any:
    """A list of texts that ends with a null pointer."""
    if isinstance(values, (str, bytes)):
        raise _errors.BadOptions(f"{what}: pass a list of texts, not one text")
    texts = [encoded(value, what) for value in values]
    return (ctypes.c_char_p * (len(texts) + 1))(*texts, None)


def limited(value: Any, what: str, most: int = 2**32 - 1, least: int = 1) -> int:
    """A number for C; 0 for None."""
    if value is None:
        return 0
    try:
        number = value.__index__()
    except AttributeError:
        raise _errors.BadOptions(f"{what} = {value!r}: pass a whole number") from None
    if not least <= number <= most:
        raise _errors.BadOptions(f"{what} = {number}; it can be {least} to {most}")
    return number


def version() -> str:
    """The version of libcohort.so."""
    return library.cohort_version().decode()


def about() -> dict[str, Any]:
    """A description of libcohort.so: its apps, and its engines with the reason why one cannot run on this machine."""
    return json.loads(text("about"))

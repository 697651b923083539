"""Cooperative kernels: long-running data-parallel kernels whose set of groups shrinks and grows while they run.

    import numpy, cohort
    with cohort.cpu.Engine() as engine:
        kernel = cohort.Program("add.cl").kernel("add")
        job = kernel.launch(engine, result, numbers, len(numbers))
        job.wait()

Memory of the arguments is used in place. See docs/python.md.
"""
from . import apps, cpu, cuda
from ._engine import Engine, Job, Report, Status, Summary, Task, TaskReport
from ._errors import (BadFile, BadHandle, BadOptions, BadState, BrokenContract, DeviceLost, EngineGone, Error, KernelFailed,
                      NotSuspendable, OutOfMemory, TimedOut, Unsupported)
from ._graph import Graph
from ._library import about, version
from ._memory import Buffer
from ._program import Kernel, Local, Parameter, Program
from ._tenant import Tenant, TenantLease, engine_status, set_engine_capacity, shared_engines
from ._timeline import Timeline

__version__ = version()

__all__ = [
    "BadFile", "BadHandle", "BadOptions", "BadState", "BrokenContract", "Buffer", "DeviceLost", "Engine", "EngineGone", "Error",
    "Graph", "Job", "Kernel", "KernelFailed", "Local", "NotSuspendable", "OutOfMemory", "Parameter", "Program", "Report", "Status",
    "Summary", "Task", "TaskReport", "Tenant", "TenantLease", "TimedOut", "Timeline", "Unsupported", "about", "apps", "cpu", "cuda",
    "engine_status", "set_engine_capacity", "shared_engines", "version",
]

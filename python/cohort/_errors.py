"""The exceptions: one for each code of the C API."""
from __future__ import annotations


class Error(Exception):
    """Every failure that cohort reports. The subclass is the kind of failure; the text says what to do."""


class BadOptions(Error, ValueError):
    """Options or arguments that cannot be used."""


class BadState(Error):
    """The call does not fit the state of the job."""


class NotSuspendable(Error):
    """The kernel cannot hand over its state."""


class EngineGone(Error):
    """The engine has been closed, or belongs to the parent of this process."""


class BrokenContract(Error):
    """The kernel broke a rule of the model, which the message names."""


class BadFile(Error):
    """A file is damaged, unreadable, or does not compile."""


class Unsupported(Error):
    """This machine or this build cannot do it."""


class OutOfMemory(Error, MemoryError):
    """There is not enough memory."""


class DeviceLost(Error):
    """The device reported an error, which the message quotes."""


class BadHandle(Error):
    """An object has been closed."""


class TimedOut(Error, TimeoutError):
    """The job or task was not at rest within the given time."""


class KernelFailed(Error):
    """A kernel or task threw an exception of its own."""


OF_CODE: dict[int, type[Error]] = {
    1: BadOptions, 2: BadState, 3: NotSuspendable, 4: EngineGone, 5: BrokenContract, 6: BadFile, 7: Unsupported, 8: OutOfMemory,
    9: DeviceLost, 10: BadHandle, 11: TimedOut, 12: KernelFailed, 13: Error,
}
OK = 0
BAD_HANDLE = 10
TIMED_OUT = 11

"""Tenants: CPUs borrowed from an engine that another process shares.

Invariant: a lease that a program drops, for example by an exception, is given back."""
from __future__ import annotations

import ctypes
import json
import weakref
from typing import Any, Optional

from . import _library
from ._errors import OK, TIMED_OUT, BadHandle, BadOptions


class TenantLease:
    """Units borrowed from an engine until they are given back, for example at the end of a `with` statement. A lease can be empty;
    it is then false."""

    def __init__(self, function: str, tenant: _library.Handle, units: int) -> None:
        """Opens the lease with a function of the C API."""
        self._handle = _library.Handle()  # null when given back
        _library.call(function, tenant, _library.limited(units, "units"), ctypes.byref(self._handle))

    @property
    def units(self) -> int:
        """The number of units that the lease holds now. The engine may take some back, and lend them again later."""
        units = ctypes.c_uint32()
        if self._handle:
            _library.call("lease_units", self._handle, ctypes.byref(units))
        return units.value

    @property
    def cpus(self) -> "list[int]":
        """Ids of the CPUs that the lease may use now, as for os.sched_setaffinity: one for each unit if the engine pins its workers,
        otherwise all CPUs of its workers."""
        if not self._handle:
            return []
        numbers, count = (ctypes.c_uint32 * 1024)(), ctypes.c_uint32()
        _library.call("lease_cpus", self._handle, numbers, len(numbers), ctypes.byref(count))
        return numbers[:count.value]

    def give_back(self) -> None:
        """Gives the units back at once."""
        handle, self._handle = self._handle, _library.Handle()
        if handle:
            _library.call("lease_give_back", handle)

    def __bool__(self) -> bool:
        return self.units != 0

    def __enter__(self) -> "TenantLease":
        return self

    def __exit__(self, *_: Any) -> None:
        self.give_back()

    def __del__(self) -> None:
        if self._handle:
            _library.code("lease_give_back", self._handle)

    def __repr__(self) -> str:
        return f"<cohort.TenantLease of {self.units} units>"


class Tenant:
    """A connection to an engine that another process of this user shares. It connects when an engine of that name appears, and
    again after that engine has ended. Without an engine all leases are empty. A child of os.fork() is not connected, and may make
    its own Tenant."""

    _all: "weakref.WeakSet[Tenant]" = weakref.WeakSet()

    def __init__(self, engine: Optional[str] = None, name: Optional[str] = None, weight: int = 1, priority: int = 0) -> None:
        """`engine`: its name; default: $COHORT_ENGINE, or the only shared engine. `name` is shown in the engine's status. `weight`, 1 to
        1000, is relative to the engine's other tenants. Among equal claims the highest `priority`, -100 to 100, comes first."""
        self._handle: Any = None
        encoded, limited = _library.encoded, _library.limited
        options = _library.TenantOptions(engine=encoded(engine, "engine"), name=encoded(name, "name"),
                                         weight=limited(weight, "weight", 1000), priority=limited(priority, "priority", 100, -100))
        self._handle = _library.created("tenant_create", ctypes.byref(options))
        Tenant._all.add(self)

    def lease(self, units: int = 1, timeout: Optional[float] = None) -> TenantLease:
        """Waits until the engine has lent what it can: at least one unit, at most `units`. The lease is empty if there is no engine,
        if nothing was lent within `timeout` seconds, and if this thread's own leases hold all that the engine lends to this tenant.
        Ctrl-C ends the wait."""
        lease = TenantLease("tenant_lease", self._open(), units)
        try:
            found = _library.wait("lease_wait", lease._handle, timeout)
            if found != TIMED_OUT:
                _library.raise_code(found)
        except BaseException:
            lease.give_back()
            raise
        if found == TIMED_OUT or not lease:
            lease.give_back()
        return lease

    def try_lease(self, units: int = 1) -> TenantLease:
        """Takes the units that the engine lends within 2 ms, usually idle ones. The lease may be empty."""
        return TenantLease("tenant_try_lease", self._open(), units)

    @property
    def engine(self) -> str:
        """The name of the engine that answers; empty if none does."""
        return _library.text("tenant_engine", self._open())

    @property
    def connected(self) -> bool:
        """Whether an engine answers."""
        return self.engine != ""

    def wait_connected(self, timeout: Optional[float] = None) -> bool:
        """Waits until an engine answers. Returns False after `timeout` seconds."""
        found = _library.wait("tenant_wait_connected", self._open(), timeout)
        if found != TIMED_OUT:
            _library.raise_code(found)
        return found == OK

    def close(self) -> None:
        """Gives back the units of its leases, and ends their waits."""
        handle, self._handle = self._handle, None
        if handle is not None:
            _library.code("tenant_destroy", handle)

    def _open(self) -> _library.Handle:
        if self._handle is None:
            raise BadHandle("the tenant has been closed")
        return self._handle

    def __enter__(self) -> "Tenant":
        self._open()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()


def close_all() -> None:
    """Closes all tenants, which ends the waits of other threads."""
    for each in list(Tenant._all):
        each.close()


def shared_engines() -> "list[str]":
    """The names of this user's shared engines that answer, in alphabetical order."""
    return json.loads(_library.text("shared_engines"))


def engine_status(engine: Optional[str] = None) -> "dict[str, Any]":
    """The status of a shared engine, its jobs and tenants; docs/tenants.md describes its members. `engine` is chosen as for Tenant. Raises
    EngineGone if no such engine answers."""
    return json.loads(_library.text("shared_engine_status", _library.encoded(engine, "engine")))


def set_engine_capacity(engine: Optional[str], units: int) -> None:
    """Sets the capacity of a shared engine while its jobs run. They shrink or grow at their next resizing points."""
    if units is None:
        raise BadOptions("units = None: pass a whole number")
    _library.call("shared_engine_set_capacity", _library.encoded(engine, "engine"), _library.limited(units, "units"))

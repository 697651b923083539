"""The engine for NVIDIA GPUs, and leases of SMs for other work on the same GPU."""
from __future__ import annotations

import ctypes
from typing import Any, Optional

from . import _library
from ._engine import Engine as _Engine
from ._errors import BadHandle, BadOptions


def stream_address(stream: Any) -> int:
    """The cudaStream_t of a stream: an object with `__cuda_stream__`, a stream of PyTorch or CuPy, or an integer."""
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        found = protocol() if callable(protocol) else protocol
        return int(found[1])
    for name in ("cuda_stream", "ptr"):
        found = getattr(stream, name, None)
        if isinstance(found, int):
            return found
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    raise BadOptions(f"stream is a {type(stream).__name__}; pass a stream of PyTorch or CuPy, an object with __cuda_stream__, or an "
                     "integer")


class Lease:
    """SMs held for a stream. They are given back in stream order. Use it in a `with` statement."""

    def __init__(self, engine: "Engine", handle: _library.Handle) -> None:
        self._engine = engine
        self._handle: Optional[_library.Handle] = handle

    @property
    def ptr(self) -> int:
        """The cudaStream_t, for torch.cuda.ExternalStream and cupy.cuda.ExternalStream."""
        if self._handle is None:
            raise BadHandle("the lease has been given back")
        stream = ctypes.c_void_p()
        _library.call("lease_stream", self._handle, ctypes.byref(stream))
        return stream.value or 0

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.ptr

    def give_back(self) -> None:
        """Gives the SMs back after the work that is in the stream now."""
        handle, self._handle = self._handle, None
        if handle is not None:
            _library.call("lease_give_back", handle)

    def __enter__(self) -> "Lease":
        return self

    def __exit__(self, *_: Any) -> None:
        self.give_back()

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None:
            _library.code("lease_give_back", handle)


class Engine(_Engine):
    """Runs cooperative kernels on a GPU. Raises Unsupported if libcohort.so was built without CUDA, or if there is no GPU."""

    kind = "cuda"

    def __init__(self, device: int = 0, sms: Optional[int] = None) -> None:
        """`sms`: number of SMs that jobs and tasks may use; default: all."""
        number = _library.limited(device, "device", 2**31 - 1, 0)
        super().__init__(_library.EngineOptions(capacity=_library.limited(sms, "sms"), device=str(number).encode()))

    def lease(self, stream: Any, sms: int = 1) -> Lease:
        """Holds SMs for work in a stream, whose priority has to be above the jobs'."""
        address = stream_address(stream)
        return Lease(self, _library.created("engine_lease", self._handle, address, _library.limited(sms, "sms")))

    def lease_stream(self, sms: int = 1) -> Lease:
        """A lease with a new stream of the highest priority."""
        return Lease(self, _library.created("engine_lease_stream", self._handle, _library.limited(sms, "sms")))

    def __enter__(self) -> "Engine":
        super().__enter__()
        return self

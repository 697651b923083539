"""Memory for kernels: buffers of an engine, and the memory of other objects, which kernels use in place.

Invariant: while a View exists, the memory of its object does not move."""
from __future__ import annotations

import ctypes
import weakref
from typing import Any, Optional

from . import _library
from ._errors import BadHandle, BadOptions


class _PyBuffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_api = ctypes.pythonapi
_api.PyObject_GetBuffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_api.PyBuffer_Release.argtypes = [ctypes.POINTER(_PyBuffer)]
_api.PyBuffer_Release.restype = None
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p

_SIGNED, _UNSIGNED, _FLOATS = "bhilqn", "BHILQN", "efd"
_CPU_DEVICES = (1, 3)  # device types of DLPack: the CPU, and host memory that CUDA has pinned
_CUDA_DEVICES = (2, 13)  # device types of DLPack: CUDA, and managed memory


def element_of_format(text: str, size: int) -> str:
    """The name of a number's type, e.g. "int32", for a format of the struct module; empty for other formats."""
    text = text or "B"
    if text[0] in "@=<":
        text = text[1:]
    if len(text) != 1:
        return ""
    for codes, kind in ((_SIGNED, "int"), (_UNSIGNED, "uint"), (_FLOATS, "float")):
        if text in codes:
            return f"{kind}{8 * size}"
    return "uint8" if text == "?" else ""


class View:
    """The memory of an object: its address, size and elements."""

    def __init__(self, value: Any, what: str, on_gpu: bool = False) -> None:
        self.readonly = False
        self.element = ""
        try:
            if on_gpu and hasattr(value, "__cuda_array_interface__"):
                self._from_cuda(value, what)
            elif not on_gpu and self._from_buffer(value, what):
                pass
            elif hasattr(value, "__dlpack__"):
                self._from_dlpack(value, what, on_gpu)
            elif hasattr(value, "__cuda_array_interface__"):
                raise BadOptions(f"{what} is memory of a GPU, but the engine is on the CPU; copy it to the host")
            elif on_gpu:
                raise BadOptions(f"{what} is a {type(value).__name__}: the engine cuda needs memory of the GPU, with DLPack or "
                                 "__cuda_array_interface__, or an engine.buffer()")
            else:
                raise BadOptions(f"{what} is a {type(value).__name__}, which has no memory to share; pass a writable array, as of "
                                 "numpy, array.array or bytearray")
        except AttributeError as error:
            raise BadOptions(f"{what}: its memory cannot be used: {error}") from error

    def _from_buffer(self, value: Any, what: str) -> bool:
        try:
            about = memoryview(value)
        except TypeError:
            return False
        except (ValueError, BufferError) as error:
            raise BadOptions(f"{what}: its memory cannot be used: {error}") from error
        if not about.c_contiguous:
            raise BadOptions(f"{what} is not contiguous; pass a contiguous copy, as of numpy.ascontiguousarray")
        if about.format[:1] in (">", "!"):
            raise BadOptions(f"{what}: its numbers have another byte order; convert them")
        if "O" in about.format:
            raise BadOptions(f"{what} has Python objects in it; pass numbers")
        view = _PyBuffer()
        _api.PyObject_GetBuffer(value, ctypes.byref(view), 0)
        weakref.finalize(self, _api.PyBuffer_Release, ctypes.byref(view)).atexit = False
        self.readonly = about.readonly
        self.address, self.bytes = view.buf or 0, about.nbytes
        self.element = element_of_format(about.format, about.itemsize)
        return True

    def _from_dlpack(self, value: Any, what: str, on_gpu: bool) -> None:
        device, number = value.__dlpack_device__()
        if device not in (_CUDA_DEVICES if on_gpu else _CPU_DEVICES):
            raise BadOptions(f"{what} is on device {device}:{number} of DLPack; the engine is on the {'GPU' if on_gpu else 'CPU'}")
        try:
            self._capsule = value.__dlpack__()  # its destructor frees the tensor; the object stays alive until then
        except (BufferError, TypeError, RuntimeError) as error:
            raise BadOptions(f"{what}: its memory cannot be used: {error}") from error
        tensor = _DLTensor.from_address(_api.PyCapsule_GetPointer(self._capsule, b"dltensor"))
        count, expected = 1, 1
        for axis in range(tensor.ndim):
            count *= tensor.shape[axis]
        if tensor.strides:
            for axis in reversed(range(tensor.ndim)):
                if tensor.shape[axis] > 1 and tensor.strides[axis] != expected and count:
                    raise BadOptions(f"{what} is not contiguous; pass a contiguous copy")
                expected *= tensor.shape[axis]
        kind = {0: "int", 1: "uint", 2: "float", 6: "uint"}.get(tensor.code, "")
        self.element = f"{kind}{tensor.bits}" if kind and tensor.lanes == 1 else ""
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.bytes = count * tensor.lanes * tensor.bits // 8

    def _from_cuda(self, value: Any, what: str) -> None:
        found = value.__cuda_array_interface__
        self._value = value
        self.address, self.readonly = found["data"]
        order, kind, size = found["typestr"][0], found["typestr"][1], int(found["typestr"][2:])
        if order == ">":
            raise BadOptions(f"{what}: its numbers have another byte order; convert them")
        self.element = {"i": "int", "u": "uint", "f": "float", "b": "uint"}.get(kind, "")
        self.element += str(8 * size) if self.element else ""
        count, expected = 1, size
        for length in found["shape"]:
            count *= length
        for length, stride in zip(reversed(found["shape"]), reversed(found.get("strides") or ())):
            if length > 1 and stride != expected and count:
                raise BadOptions(f"{what} is not contiguous; pass a contiguous copy")
            expected *= length
        self.bytes = count * size


class Buffer:
    """Memory of an engine, filled with zeros. Made by `engine.buffer(bytes)`."""

    def __init__(self, engine: Any, size: int) -> None:
        self._handle: Optional[_library.Handle] = None
        size = _library.limited(size, "bytes", 2**62)
        self._handle = _library.created("buffer_create", engine._handle, size)
        self._engine = engine
        self.nbytes = size

    @property
    def address(self) -> int:
        """The buffer's address, for kernels."""
        address = ctypes.c_void_p()
        _library.call("buffer_address", self._open(), ctypes.byref(address))
        return address.value or 0

    def read(self, into: Any = None, offset: int = 0) -> Any:
        """Copies the buffer into a writable object, or into a new bytearray, which is returned. No job may use the buffer
        meanwhile."""
        result = bytearray(max(self.nbytes - offset, 0)) if into is None else into
        view = View(result, "into")
        if view.readonly:
            raise BadOptions("into: it is read-only")
        _library.call("buffer_read", self._open(), _library.limited(offset, "offset", 2**62, 0), view.address, view.bytes)
        return result

    def write(self, values: Any, offset: int = 0) -> None:
        """Copies the memory of an object into the buffer. No job may use the buffer meanwhile."""
        view = View(values, "values")
        _library.call("buffer_write", self._open(), _library.limited(offset, "offset", 2**62, 0), view.address, view.bytes)

    def close(self) -> None:
        """Frees the memory when the jobs that use it have ended."""
        handle, self._handle = self._handle, None
        if handle is not None:
            _library.code("buffer_destroy", handle)

    def _open(self) -> _library.Handle:
        if self._handle is None:
            raise BadHandle("the buffer has been closed")
        return self._handle

    def __len__(self) -> int:
        return self.nbytes

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

"""Programs: OpenCL C with the cooperative extension, compiled at run time, and their kernels."""
from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import struct
from typing import Any, Iterable, Mapping, Optional, Sequence

from . import _library
from ._engine import Engine, Job, launch_options
from ._errors import BadOptions
from ._memory import Buffer, View
from ._timeline import Timeline

_CODES = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q",
          "float32": "f", "float64": "d"}


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel."""
    name: str
    type: str  #: as in the source
    kind: str  #: global, constant, local or value
    element: str  #: of the memory or value: int32, float64, ...; empty for structures
    size: int  #: bytes of a value


@dataclasses.dataclass(frozen=True)
class Local:
    """The argument for a parameter in local memory. Its value is the size in bytes."""
    bytes: int


class Program:
    """A compiled source file. Compiling needs cohortc and, at run time, a C++ compiler (for the engine cuda: nvcc); compiled
    programs are cached."""

    def __init__(self, file: "Optional[str | os.PathLike[str]]" = None, *, source: Optional[str] = None, name: str = "program",
                 engine: str = "cpu", transmit: Optional[str] = None, max_local_size: Optional[int] = None,
                 defines: Iterable[str] = (), include_paths: Iterable["str | os.PathLike[str]"] = (),
                 build_options: Iterable[str] = ()) -> None:
        """Compiles a file or a text (`source=`) for an engine. Messages call the program `name`. Raises BadFile with the
        compiler's messages if it does not compile, Unsupported if there is no compiler."""
        self._handle: Any = None
        if (file is None) == (source is None):
            raise BadOptions("Program: pass a file or source=, one of them")
        encoded = _library.encoded
        options = _library.ProgramOptions(
            engine=encoded(engine, "engine"), transmit=encoded(transmit, "transmit"),
            max_local_size=_library.limited(max_local_size, "max_local_size"), defines=_library.encoded_list(defines, "defines"),
            include_paths=_library.encoded_list(include_paths, "include_paths"),
            build_options=_library.encoded_list(build_options, "build_options"))
        if source is not None:
            arguments = ["program_from_source", encoded(source, "source"), encoded(name, "name"), ctypes.byref(options)]
        else:
            arguments = ["program_from_file", encoded(file, "file"), ctypes.byref(options)]
        self._handle = _library.interruptible(lambda: _library.created(*arguments))
        self._kernels = {each["name"]: each for each in json.loads(_library.text("program_describe", self._handle))["kernels"]}

    @property
    def kernels(self) -> list[str]:
        """The names of the kernels."""
        return list(self._kernels)

    @property
    def warnings(self) -> str:
        """The compiler's warnings; empty if there are none."""
        return _library.text("program_warnings", self._handle)

    def kernel(self, name: Optional[str] = None) -> "Kernel":
        """The kernel with that name, or the only one."""
        if name is None and len(self._kernels) == 1:
            name = next(iter(self._kernels))
        if name not in self._kernels:
            raise BadOptions(f"no kernel {name!r}; there is {', '.join(self._kernels) or 'none'}")
        return Kernel(self, name, self._kernels[name])

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            _library.code("program_destroy", self._handle)


class Kernel:
    """A kernel of a program."""

    def __init__(self, program: Program, name: str, described: Mapping[str, Any]) -> None:
        self._program = program
        self.name = name
        self.suspendable: bool = described["suspendable"]
        self.parameters = [Parameter(*(each[field.name] for field in dataclasses.fields(Parameter))) for each in described["parameters"]]

    def launch(self, engine: Engine, *arguments: Any, named: Optional[Mapping[str, Any]] = None,
               range: "Optional[tuple[Sequence[int], Sequence[int]]]" = None, max_groups: Optional[int] = None,
               start_groups: Optional[int] = None, target: Optional[int] = None, local_size: Optional[int] = None,
               weight: Optional[int] = None, resizable: bool = True, offer_wait: Optional[float] = None, trace: bool = False,
               timeline: Optional[Timeline] = None) -> Job:
        """Starts the kernel with arguments in the order of its parameters, and `named` ones. Memory is used in place: arrays of
        numpy, DLPack, anything with the buffer protocol, and on the engine cuda `__cuda_array_interface__`. The job keeps them
        alive. `range`: the global and local sizes of a kernel over work-items. `trace` records a timeline."""
        if not isinstance(engine, Engine):
            raise BadOptions(f"engine is a {type(engine).__name__}; pass a cohort.cpu.Engine or cohort.cuda.Engine")
        given = self._by_name(arguments, named or {})
        if trace and timeline is None:
            timeline = Timeline()
        options = launch_options(self.name, max_groups, start_groups, target, local_size, weight, resizable, offer_wait, timeline)
        handle = _library.created("kernel_create", self._program._handle, self.name.encode())
        try:
            keeps = [self._set(handle, parameter, given[parameter.name], engine) for parameter in self.parameters]
            if range is not None:
                sizes = [(ctypes.c_uint32 * 3)(*self._sizes(each)) for each in range]
                if len(sizes) != 2:
                    raise BadOptions("range: pass (global sizes, local sizes)")
                _library.call("kernel_set_range", handle, *sizes)
            return Job(engine, keeps, timeline, "kernel_launch", handle, engine._handle, ctypes.byref(options))
        finally:
            _library.code("kernel_destroy", handle)

    @staticmethod
    def _sizes(sizes: Sequence[int]) -> list[int]:
        numbers = [_library.limited(each, "range") for each in sizes]
        if not 1 <= len(numbers) <= 3:
            raise BadOptions(f"range: {len(numbers)} dimensions; it can have 1 to 3")
        return numbers + [1] * (3 - len(numbers))

    def _by_name(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        names = [each.name for each in self.parameters]
        if len(arguments) > len(names):
            raise BadOptions(f"kernel {self.name} has {len(names)} parameters; it was given {len(arguments)}")
        given = dict(zip(names, arguments))
        for name, value in named.items():
            if name not in names:
                raise BadOptions(f"kernel {self.name} has no parameter '{name}'; there is {', '.join(names)}")
            if name in given:
                raise BadOptions(f"parameter '{name}' of kernel {self.name} was given twice")
            given[name] = value
        for name in names:
            if name not in given:
                raise BadOptions(f"parameter '{name}' of kernel {self.name} has not been given")
        return given

    def _set(self, handle: _library.Handle, parameter: Parameter, value: Any, engine: Engine) -> Any:
        """Sets an argument. Returns the object that has to stay alive."""
        what = f"parameter '{parameter.name}' of kernel {self.name}"
        name = parameter.name.encode()
        if parameter.kind == "local":
            if not isinstance(value, Local):
                raise BadOptions(f"{what} is in local memory; pass cohort.Local(bytes)")
            _library.call("kernel_set_local", handle, name, _library.limited(value.bytes, what))
            return None
        if parameter.kind == "value":
            packed = self._packed(parameter, value, what)
            _library.call("kernel_set_value", handle, name, packed, len(packed))
            return None
        if isinstance(value, Buffer):
            if value._engine.kind != engine.kind:
                raise BadOptions(f"{what} is a buffer of an engine {value._engine.kind}; this engine is {engine.kind}")
            _library.call("kernel_set_buffer", handle, name, value._open())
            return value
        view = View(value, what, on_gpu=engine.kind == "cuda")
        if parameter.element and view.element != parameter.element:
            raise BadOptions(f"{what} has elements of {parameter.element}; it was given {view.element or 'another type'}")
        if view.readonly and "const" not in parameter.type and parameter.kind != "constant":
            raise BadOptions(f"{what}: its memory is read-only; declare the parameter const, or pass writable memory")
        _library.call("kernel_set_memory", handle, name, view.address, view.bytes)
        return view, value

    @staticmethod
    def _packed(parameter: Parameter, value: Any, what: str) -> bytes:
        code = _CODES.get(parameter.element, "")
        if isinstance(value, (bytes, bytearray)):
            packed = bytes(value)
        elif code and struct.calcsize(code) == parameter.size:
            try:
                packed = struct.pack("=" + code, value)
            except (struct.error, OverflowError, TypeError) as error:
                raise BadOptions(f"{what} is a {parameter.type}; {value!r} does not fit: {error}") from None
        else:
            raise BadOptions(f"{what} is a {parameter.type}; pass its {parameter.size} bytes as bytes")
        if len(packed) != parameter.size:
            raise BadOptions(f"{what} is a {parameter.type} of {parameter.size} bytes; it was given {len(packed)}")
        return packed

    def __repr__(self) -> str:
        return f"<cohort.Kernel {self.name}({', '.join(each.type + ' ' + each.name for each in self.parameters)})>"

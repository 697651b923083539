"""Graphs for apps, from compressed sparse rows."""
from __future__ import annotations

import ctypes
from typing import Any, Optional

from . import _library
from ._errors import BadOptions
from ._memory import View


def _view(values: Any, what: str) -> View:
    """The memory of a sequence of integers. If numpy is installed, it is first converted to a contiguous array."""
    try:
        import numpy
    except ImportError:
        numpy = None  # type: ignore[assignment]
    if numpy is not None:
        array = numpy.ascontiguousarray(values)
        if array.dtype.kind == "f":
            if array.size and not (numpy.isfinite(array).all() and (array == numpy.floor(array)).all()):
                raise BadOptions(f"{what}: not all are whole numbers; scale and round them")
            if array.size and array.max() >= 2.0**63:
                raise BadOptions(f"{what}: one is too large")
            array = array.astype(numpy.int64)
        if array.dtype.kind not in "iu":
            raise BadOptions(f"{what}: they are of type {array.dtype}; pass integers")
        if array.dtype.itemsize < 4:
            array = array.astype(numpy.int64)
        if array.size and array.min() < 0:
            raise BadOptions(f"{what}: {array.min()} is negative")
        values = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    view = View(values, what)
    view.values = values  # type: ignore[attr-defined]
    if view.element not in ("int32", "uint32", "int64", "uint64"):
        raise BadOptions(f"{what}: they are of type {view.element or 'another type'}; pass integers of 32 or 64 bits")
    if numpy is None and view.element.startswith("int") and len(memoryview(values)) and min(memoryview(values)) < 0:
        raise BadOptions(f"{what}: {min(memoryview(values))} is negative")
    return view


class Graph:
    """A graph in the library's memory. Make one to run several apps on it: data that the apps derive from it is kept with it."""

    def __init__(self, csr: Any, weighted: Optional[bool] = None) -> None:
        """`csr`: a square matrix of scipy.sparse, or a tuple (offsets, targets) or (offsets, targets, weights) of integers.
        `weighted`: whether the values of the matrix are weights, which have to be whole and not negative. By default, they are if they meet this condition."""
        self._handle: Any = None
        if hasattr(csr, "tocsr"):
            csr = csr.tocsr()
            if csr.shape[0] != csr.shape[1]:
                raise BadOptions(f"the matrix has the shape {csr.shape}; a graph's is square")
            parts = [csr.indptr, csr.indices]
            if weighted is not False:
                parts.append(csr.data)
        elif isinstance(csr, (tuple, list)) and len(csr) in (2, 3):
            parts = list(csr if weighted is not False else csr[:2])
        else:
            raise BadOptions(f"the graph is a {type(csr).__name__}; pass a matrix of scipy.sparse or a tuple (offsets, targets, weights)")
        names = ("offsets", "targets", "weights")
        views = [_view(part, name) for part, name in zip(parts[:2], names)]
        if len(parts) == 3:
            try:
                views.append(_view(parts[2], "weights"))
            except BadOptions:
                if weighted:
                    raise
        counts = [view.bytes // (4 if view.element.endswith("32") else 8) for view in views]
        if counts[0] == 0:
            raise BadOptions("offsets: there are none; a graph of n nodes has n + 1")
        if len(views) == 3 and counts[2] != counts[1]:
            raise BadOptions(f"weights: {counts[2]}, but there are {counts[1]} targets")
        options = _library.Csr(nodes=counts[0] - 1, edges=counts[1])
        for view, name in zip(views, names):
            setattr(options, name, view.address)
            setattr(options, name[:-1] + "_bytes", 4 if view.element.endswith("32") else 8)
        self._handle = _library.interruptible(lambda _keeps=views: _library.created("graph_create", ctypes.byref(options)))
        self.nodes, self.edges = counts[0] - 1, counts[1]
        self.weighted = len(views) == 3

    def __repr__(self) -> str:
        return f"<cohort.Graph of {self.nodes} nodes, {self.edges} edges>"

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            _library.code("graph_destroy", self._handle)

"""The apps, by name, on graphs in compressed sparse rows: matrices of scipy.sparse, tuples of arrays, or a cohort.Graph."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Mapping, Optional

from . import _library
from ._engine import Engine, Job, launch_options
from ._errors import BadOptions
from ._graph import Graph
from ._timeline import Timeline

#: The level of a node that bfs does not reach.
UNREACHED = 2**32 - 1
#: The distance of a node that has no path.
INFINITE = 2**64 - 1
#: The marks of mis.
IN, OUT = 1, 2


def launch(engine: Engine, app: str, graph: Any = None, *, input: Optional[str] = None, settings: Mapping[str, Any] = {},
           max_groups: Optional[int] = None, start_groups: Optional[int] = None, target: Optional[int] = None,
           local_size: Optional[int] = None, weight: Optional[int] = None, resizable: bool = True,
           offer_wait: Optional[float] = None, trace: bool = False, timeline: Optional[Timeline] = None, movable: bool = False,
           restore: "Optional[str | os.PathLike[str]]" = None) -> Job:
    """Starts an app on a graph, or on an `input` in the format of `cohort run --input`. A finished job has a `result()`.
    `settings` are the options that `cohort run --option` takes. A `movable` job can be written to a checkpoint, and `restore` continues one."""
    if not isinstance(engine, Engine):
        raise BadOptions(f"engine is a {type(engine).__name__}; pass a cohort.cpu.Engine or cohort.cuda.Engine")
    if graph is not None and not isinstance(graph, Graph):
        graph = Graph(graph)
    if trace and timeline is None:
        timeline = Timeline()
    options = launch_options(app, max_groups, start_groups, target, local_size, weight, resizable, offer_wait, timeline)
    texts = _library.encoded_list([f"{key}={value}" for key, value in settings.items()], "settings")
    encoded = _library.encoded
    how = _library.AppOptions(settings=texts, input=encoded(input, "input"), launch=ctypes.pointer(options), movable=bool(movable),
                              restore=encoded(restore, "restore"))
    return Job(engine, graph, timeline, "app_launch", engine._handle, encoded(app, "app"),
               graph._handle if graph is not None else None, ctypes.byref(how))


def _run(engine: Engine, app: str, graph: Any, weighted: bool, settings: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    if not isinstance(graph, Graph):
        graph = Graph(graph, weighted=weighted)
    job = launch(engine, app, graph, settings=settings, **options)
    try:
        job.wait()
    # On Ctrl-C, because the caller has no handle with which to cancel the job.
    except BaseException:
        job.cancel()
        raise
    return job.result()


def bfs(engine: Engine, graph: Any, source: int = 0, **options: Any) -> Any:
    """The level of each node: the number of edges on a shortest path from `source`, or UNREACHED. `options` are passed to launch()."""
    return _run(engine, "bfs", graph, False, {"source": source}, options)


def sssp(engine: Engine, graph: Any, source: int = 0, **options: Any) -> Any:
    """The length of a shortest path from `source` to each node, or INFINITE. Values of the matrix are lengths of edges."""
    return _run(engine, "l-sssp", graph, True, {"source": source}, options)


def cc(engine: Engine, graph: Any, **options: Any) -> Any:
    """The (weakly) connected component of each node: its least node."""
    return _run(engine, "cc", graph, False, {}, options)


def color(engine: Engine, graph: Any, **options: Any) -> Any:
    """A colour for each node, such that the ends of every edge have different colours."""
    return _run(engine, "color", graph, False, {}, options)


def mis(engine: Engine, graph: Any, **options: Any) -> Any:
    """A maximal independent set: IN or OUT for each node."""
    return _run(engine, "mis", graph, False, {}, options)


def pagerank(engine: Engine, graph: Any, digits: int = 6, **options: Any) -> Any:
    """The PageRank of each node; 1 on average. Ends when no rank changes by more than 10 ** -digits."""
    return _run(engine, "pagerank", graph, False, {"digits": digits}, options)

"""Timelines, which show when each unit ran which group."""
from __future__ import annotations

import ctypes
import html
import json
import os
import pathlib
from typing import Any, Optional

from . import _library
from ._errors import Unsupported

_PERFETTO, _REPORT, _HTML = range(3)


class Timeline:
    """Records the jobs and tasks that are launched with this object as `timeline=`. A notebook shows it as the report's timeline."""

    def __init__(self, events: Optional[int] = None) -> None:
        """Keeps at most `events` events; default: 2**20."""
        self._handle: Any = None
        self._handle = _library.created("timeline_create", _library.limited(events, "events", 2**40))

    def perfetto(self, file: "Optional[str | os.PathLike[str]]" = None) -> str:
        """The timeline as trace events, for https://ui.perfetto.dev. Also writes them to a file."""
        return self._export(_PERFETTO, file)

    def html(self, file: "Optional[str | os.PathLike[str]]" = None) -> str:
        """An HTML page that needs no other file. With `file`, also writes it to a file."""
        return self._export(_HTML, file)

    def data(self) -> dict[str, Any]:
        """The data of the page. A slice is [lane, begin, duration, kind, name, group], in microseconds; kind 0 is a job, 1 a
        task, 2 a wait in a barrier."""
        return json.loads(self._export(_REPORT, None))

    @property
    def dropped(self) -> int:
        """The number of events beyond the limit, which were dropped."""
        number = ctypes.c_uint64()
        _library.call("timeline_dropped", self._handle, ctypes.byref(number))
        return number.value

    def _export(self, kind: int, file: Any) -> str:
        text = _library.text("timeline_export", self._handle, kind)
        if file is not None:
            pathlib.Path(file).write_text(text, encoding="utf-8")
        return text

    def _repr_html_(self) -> Optional[str]:
        try:
            page = self.html()
        except Unsupported:
            return None
        return (f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: 40em; border: 0" '
                'title="timeline"></iframe>')

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            _library.code("timeline_destroy", self._handle)

"""The CPU engine."""
from __future__ import annotations

from typing import Optional

from . import _library
from ._engine import Engine as _Engine


class Engine(_Engine):
    """Runs cooperative kernels on worker threads of this process."""

    kind = "cpu"

    def __init__(self, workers: Optional[int] = None, pin: bool = False, share: Optional[str] = None) -> None:
        """`workers`: number of worker threads; default: the number of CPUs that this process may use. `pin`: binds each worker to a CPU. `share`: lends workers to
        tenants in other processes under this name; pin workers too, so that leases name exact CPUs."""
        super().__init__(_library.EngineOptions(capacity=_library.limited(workers, "workers"), pin_workers=bool(pin),
                                                share=_library.encoded(share, "share")))

    def __enter__(self) -> "Engine":
        super().__enter__()
        return self

"""Serves requests of a transformer, which arrive at random, next to a graph job that fills the machine. Prints the latency of the
requests and the throughput of the job: each alone, both without a lease, with a lease in one process, and as a tenant of another
process. `serve.py --seconds 30 --json serve.json --plot serve.png` measures for longer, and keeps the result."""
from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import subprocess
import sys
import threading
import time
from typing import Any, Callable, Iterator, Optional

for each in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(each, "1")  # a request has one thread: read when numpy is imported

try:
    import numpy
except ImportError:
    print("skipped: this example needs numpy")
    sys.exit(77)
import cohort

Request = Callable[[], Any]
MODES = ("alone", "no lease", "lease", "tenant")


class NumpyModel:
    """A transformer encoder whose request is a forward pass by one thread."""

    def __init__(self, layers: int, width: int, tokens: int) -> None:
        self.width, self.heads = width, 4
        values = numpy.random.default_rng(1)
        self.layers = [[values.standard_normal(shape, numpy.float32) / math.sqrt(shape[0])
                        for shape in ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width))]
                       for _ in range(layers)]
        self.tokens = values.standard_normal((tokens, width), numpy.float32)

    def _norm(self, x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)

    def forward(self) -> Any:
        x = self.tokens
        for to_qkv, to_out, up, down in self.layers:
            query, key, value = (part.reshape(len(x), self.heads, -1).transpose(1, 0, 2)
                                 for part in numpy.split(self._norm(x) @ to_qkv, 3, -1))
            scores = query @ key.transpose(0, 2, 1) / math.sqrt(self.width / self.heads)
            weights = numpy.exp(scores - scores.max(-1, keepdims=True))
            mixed = (weights / weights.sum(-1, keepdims=True)) @ value
            x = x + mixed.transpose(1, 0, 2).reshape(x.shape) @ to_out
            x = x + numpy.maximum(self._norm(x) @ up, 0) @ down
        return x

    def same(self, answer: Any, expected: Any) -> bool:
        return bool(numpy.allclose(answer, expected, atol=1e-4))


class TorchModel:
    """The same on a GPU, in a stream above the priority of jobs."""

    def __init__(self, layers: int, width: int, tokens: int) -> None:
        import torch
        self.torch = torch
        torch.manual_seed(1)
        layer = torch.nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, norm_first=True)
        self.model = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).cuda().eval()
        self.tokens = torch.randn(1, tokens, width, device="cuda")
        self.stream = torch.cuda.Stream(priority=-1)
        for _ in range(3):  # libraries load their kernels and allocate while no job runs
            self.forward()

    def forward(self, lease: Any = contextlib.nullcontext()) -> Any:
        with lease, self.torch.inference_mode(), self.torch.cuda.stream(self.stream):
            answer = self.model(self.tokens)
        self.stream.synchronize()
        return answer

    def same(self, answer: Any, expected: Any) -> bool:
        return bool(self.torch.allclose(answer, expected, atol=1e-4))


class GraphJob:
    """Runs PageRank again and again on an engine, by a thread of its own."""

    def __init__(self, engine: cohort.Engine, nodes: int) -> None:
        values, degree = numpy.random.default_rng(2), 16
        targets = values.integers(0, nodes, nodes * degree, numpy.uint32)
        self._engine = engine
        self._graph = cohort.Graph((numpy.arange(0, nodes * degree + 1, degree, dtype=numpy.uint64), targets))
        self._ends: list[float] = []
        self._over = threading.Event()
        self._run()  # the graph is in the engine's memory then
        self._thread = threading.Thread(target=self._repeat)
        self._thread.start()

    def _run(self) -> None:
        cohort.apps.launch(self._engine, "pagerank", self._graph, settings={"digits": 9}).wait()

    def _repeat(self) -> None:
        while not self._over.is_set():
            self._run()
            self._ends.append(time.monotonic())

    def end(self) -> "Optional[float]":
        """Ends it after the current run. Returns its runs per second; None if there were fewer than two."""
        self._over.set()
        self._thread.join()
        return (len(self._ends) - 1) / (self._ends[-1] - self._ends[0]) if len(self._ends) > 1 else None


def engine_of(options: argparse.Namespace, share: Optional[str] = None) -> cohort.Engine:
    return cohort.cuda.Engine() if options.engine == "cuda" else cohort.cpu.Engine(pin=True, share=share)


def run_job(options: argparse.Namespace) -> None:
    """In a process of its own: the job, on a shared engine, until the other process closes the pipe."""
    with engine_of(options, options.job) as engine:
        job = GraphJob(engine, options.nodes)
        print("running", flush=True)
        sys.stdin.read()
        print(json.dumps(job.end()))


@contextlib.contextmanager
def job_process(options: argparse.Namespace, name: str, outcome: dict[str, Any]) -> Iterator[None]:
    command = [sys.executable, __file__, "--job", name, "--engine", options.engine, "--nodes", str(options.nodes)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if child.stdout.readline() != "running\n":
            raise SystemExit("serve: the process of the job has not started")
        yield
        outcome["job_runs_per_s"] = json.loads(child.communicate()[0])
    finally:
        child.kill()
        child.wait()


def serve(options: argparse.Namespace, request: Request, right: Callable[[Any], bool]) -> dict[str, Any]:
    """Requests at random times (a Poisson process). A request's latency begins when it arrives, also if it waits for earlier ones."""
    arrivals, latencies = random.Random(7), []
    begin = time.monotonic()
    due, wrong = begin, 0
    while True:
        due += arrivals.expovariate(options.rate)
        if due > begin + options.seconds and latencies:
            break
        time.sleep(max(0.0, due - time.monotonic()))
        wrong += 0 if right(request()) else 1
        latencies.append((time.monotonic() - due) * 1000)
    latencies.sort()
    at = lambda percent: latencies[min(len(latencies) - 1, len(latencies) * percent // 100)]
    return {"requests": len(latencies), "wrong": wrong, "p50_ms": at(50), "p99_ms": at(99), "max_ms": latencies[-1]}


def tenant_request(tenant: cohort.Tenant, forward: Request) -> Request:
    """A forward pass on a CPU that the engine of another process has left."""
    mine = os.sched_getaffinity(0)

    def request() -> Any:
        with tenant.lease() as lease:
            if lease:
                os.sched_setaffinity(0, lease.cpus)
            try:
                return forward()
            finally:
                os.sched_setaffinity(0, mine)
    return request


def task_request(engine: cohort.Engine, forward: Request) -> Request:
    """A forward pass on a worker that the job of this process has left."""
    def request() -> Any:
        answers: list[Any] = []
        engine.submit(lambda group, groups: answers.append(forward()), priority=1).wait()
        return answers[0]
    return request


def measure(options: argparse.Namespace, mode: str, model: Any, right: Callable[[Any], bool]) -> dict[str, Any]:
    if mode == "alone":
        return serve(options, model.forward, right)
    outcome: dict[str, Any] = {}
    if mode == "tenant":
        if options.engine == "cuda":
            return {"skipped": "GPU engines lend nothing to tenants yet"}
        name = f"serve-{os.getpid()}"
        with job_process(options, name, outcome), cohort.Tenant(engine=name, name="serve") as tenant:
            tenant.wait_connected(60)
            outcome.update(serve(options, tenant_request(tenant, model.forward), right))
        return outcome
    with engine_of(options) as engine:
        request = model.forward
        if mode == "lease" and options.engine == "cuda":
            request = lambda: model.forward(engine.lease(model.stream, sms=options.sms))
        elif mode == "lease":
            request = task_request(engine, model.forward)
        job = GraphJob(engine, options.nodes)
        try:
            outcome.update(serve(options, request, right))
        finally:
            outcome["job_runs_per_s"] = job.end()
    return outcome


def job_alone(options: argparse.Namespace) -> Optional[float]:
    with engine_of(options) as engine:
        job = GraphJob(engine, options.nodes)
        time.sleep(options.seconds)
        return job.end()


def show(result: dict[str, Any]) -> None:
    def number(value: Optional[float]) -> str:
        return "-" if value is None else f"{value:.2f}"

    print(f"{'':10} {'requests':>8} {'p50 ms':>8} {'p99 ms':>8} {'max ms':>8} {'job runs/s':>10}")
    for mode, row in result["modes"].items():
        if "skipped" in row:
            print(f"{mode:10} skipped: {row['skipped']}")
            continue
        print(f"{mode:10} {row['requests']:8} " + " ".join(f"{number(row[key]):>8}" for key in ("p50_ms", "p99_ms", "max_ms")) +
              f" {number(row.get('job_runs_per_s')):>10}")
    print(f"job alone: {number(result['job_alone_runs_per_s'])} runs/s")


def plot(result: dict[str, Any], file: str) -> None:
    try:
        import matplotlib
    except ImportError:
        print(f"no {file}: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    rows = {mode: row for mode, row in result["modes"].items() if "p50_ms" in row}
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.5))
    for shift, key in ((-0.2, "p50_ms"), (0.2, "p99_ms")):
        left.bar([place + shift for place in range(len(rows))], [row[key] for row in rows.values()], 0.4, label=key[:3])
    left.set_xticks(range(len(rows)), list(rows))
    left.set_ylabel("latency of a request, ms")
    left.set_yscale("log")
    left.legend()
    runs = {"job alone": result["job_alone_runs_per_s"], **{mode: row.get("job_runs_per_s") for mode, row in rows.items() if mode != "alone"}}
    right.bar(list(runs), [value or 0 for value in runs.values()])
    right.set_ylabel("runs of the job per second")
    figure.tight_layout()
    figure.savefig(file)
    print(f"plot in {file}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--modes", default=",".join(MODES), help="some of them, with commas (default: all)")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement (default: 0.5)")
    parser.add_argument("--rate", type=float, default=20, help="requests per second (default: 20)")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--nodes", type=int, default=10_000, help="of the job's graph (default: 10000)")
    parser.add_argument("--sms", type=int, default=33, help="of a lease, with --engine cuda (default: 33)")
    parser.add_argument("--json", help="file for the result")
    parser.add_argument("--plot", help="file for a plot, by matplotlib")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        run_job(options)
        return
    modes = options.modes.split(",")
    if unknown := [mode for mode in modes if mode not in MODES]:
        parser.error(f"--modes {','.join(unknown)}: choose from {','.join(MODES)}")
    try:
        model: Any = (TorchModel if options.engine == "cuda" else NumpyModel)(options.layers, options.width, options.tokens)
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    expected = model.forward()
    right = lambda answer: model.same(answer, expected)
    result = {"engine": options.engine, "seconds": options.seconds, "rate_hz": options.rate, "layers": options.layers,
              "width": options.width, "tokens": options.tokens, "nodes": options.nodes, "cpus": len(os.sched_getaffinity(0)),
              "version": cohort.version(), "modes": {mode: measure(options, mode, model, right) for mode in modes},
              "job_alone_runs_per_s": job_alone(options)}
    show(result)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=2)
    if options.plot:
        plot(result, options.plot)
    if any(row.get("wrong") for row in result["modes"].values()):
        sys.exit("serve: some answers differ from those without a job")


main()

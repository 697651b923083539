"""Apps on graphs of scipy and of arrays, compared with scipy's own algorithms."""
import array
import os
import pathlib

import cohort
import numpy
import pytest
import scipy.sparse
import scipy.sparse.csgraph as csgraph


@pytest.fixture(scope="module")
def matrix():
    random = numpy.random.default_rng(1)
    rows, columns = random.integers(0, 500, (2, 1500))
    weights = random.integers(1, 100, 1500)
    return scipy.sparse.csr_matrix(scipy.sparse.coo_matrix((weights, (rows, columns)), shape=(500, 500)))


def test_bfs(engine, matrix):
    levels = cohort.apps.bfs(engine, matrix, 3)
    expected = csgraph.dijkstra(matrix, indices=3, unweighted=True)
    assert levels.dtype == numpy.uint32
    assert (numpy.where(levels == cohort.apps.UNREACHED, numpy.inf, levels) == expected).all()


def test_sssp(engine, matrix):
    distances = cohort.apps.sssp(engine, matrix, 3)
    expected = csgraph.dijkstra(matrix, indices=3)
    assert (numpy.where(distances == cohort.apps.INFINITE, numpy.inf, distances) == expected).all()


def test_sssp_of_a_graph_without_weights(engine, matrix):
    graph = cohort.Graph((matrix.indptr, matrix.indices))
    distances = cohort.apps.sssp(engine, graph, 3)
    expected = csgraph.dijkstra(matrix, indices=3, unweighted=True)
    assert (numpy.where(distances == cohort.apps.INFINITE, numpy.inf, distances) == expected).all()


def test_cc(engine, matrix):
    component = cohort.apps.cc(engine, matrix)
    count, _ = csgraph.connected_components(matrix, connection="weak")
    assert len(numpy.unique(component)) == count


def test_every_app_of_graphs_is_right(engine, matrix):
    graph = cohort.Graph(matrix)
    assert (graph.nodes, graph.edges, graph.weighted) == (500, matrix.nnz, True)
    for app in cohort.about()["apps"]:
        if app["name"] in ("octree", "game", "decode"):
            continue
        job = cohort.apps.launch(engine, app["name"], graph, trace=True)
        assert job.wait().status is cohort.Status.finished
        job.verify()
        assert len(job.result()) == 500 and job.report().numbers and job.timeline().data()["slices"]


def test_pagerank_of_a_ring_is_one(engine):
    nodes = 40
    ring = scipy.sparse.csr_matrix((numpy.ones(nodes), (range(nodes), [(i + 1) % nodes for i in range(nodes)])))
    assert cohort.apps.pagerank(engine, ring) == pytest.approx(1)


def test_colours_and_sets(engine, matrix):
    both = matrix + matrix.T
    both.setdiag(0)
    both.eliminate_zeros()
    colours, marks = cohort.apps.color(engine, both), cohort.apps.mis(engine, both)
    rows, columns = both.nonzero()
    assert (colours[rows] != colours[columns]).all()
    assert set(marks) == {cohort.apps.IN, cohort.apps.OUT}
    assert not ((marks[rows] == cohort.apps.IN) & (marks[columns] == cohort.apps.IN)).any()


@pytest.mark.parametrize("types", ["IIi", "LLL", "iql"])
def test_tuples_of_arrays(engine, types):
    parts = [array.array(code, values) for code, values in zip(types, ([0, 2, 3, 3], [1, 2, 2], [5, 9, 1]))]
    assert list(cohort.apps.sssp(engine, tuple(parts), 0)) == [0, 5, 6]
    assert list(cohort.apps.bfs(engine, tuple(parts[:2]), 0)) == [0, 1, 1]


def test_inputs_by_name(engine):
    report = cohort.apps.launch(engine, "octree", input="particles:1000").wait()
    assert report.numbers["tasks"] > 0
    with pytest.raises(cohort.Unsupported, match="no result by node"):
        job = cohort.apps.launch(engine, "octree", input="particles:1000")
        job.wait()
        job.result()


def test_wrong_graphs_are_refused(engine, matrix):
    for wrong in [
        ([0, 2], [0]), ([1, 1], []), ([0, 1], [1]), ([0, 2, 1], [0, 0]), ([], []), ([0, -1], []), ([0, 1], [-1]),
        ([0, 1], [0], [1, 2]), ([0.5, 1], [0]), (["a"], ["b"]), ([0, 2**40], [0]),
    ]:
        with pytest.raises(cohort.BadOptions):
            cohort.Graph(tuple(numpy.array(part) for part in wrong), weighted=True)
    for wrong in [3, None, "graph", (1,), scipy.sparse.csr_matrix((3, 4))]:
        with pytest.raises(cohort.BadOptions):
            cohort.apps.bfs(engine, wrong)
    for weights in (-1, 0.5, 2.0**70, numpy.nan):
        with pytest.raises(cohort.BadOptions):
            cohort.apps.sssp(engine, matrix.astype(float) * weights)


def test_wrong_runs_are_refused(engine, matrix):
    graph = cohort.Graph(matrix)
    for app, settings in [("unknown", {}), ("bfs", {"source": "x"}), ("bfs", {"misspelt": 1})]:
        with pytest.raises(cohort.BadOptions):
            cohort.apps.launch(engine, app, graph, settings=settings).wait()
    with pytest.raises(cohort.BadOptions, match="no node 500"):
        cohort.apps.bfs(engine, graph, 500)
    with pytest.raises(cohort.BadOptions):
        cohort.apps.launch(engine, "bfs")
    with pytest.raises(cohort.BadOptions, match="max_groups"):
        cohort.apps.bfs(engine, graph, max_groups=5000)
    job = cohort.apps.launch(engine, "bfs", graph, settings={"source": 900})
    with pytest.raises(cohort.BadOptions):
        job.wait()
    assert job.report().status is cohort.Status.failed
    for use in (job.result, job.verify, job.suspend):
        with pytest.raises(cohort.BadState):
            use()


def test_results_need_room(engine, matrix):
    from cohort import _library
    job = cohort.apps.launch(engine, "bfs", cohort.Graph(matrix))
    job.wait()
    small = numpy.zeros(10, numpy.uint32)
    with pytest.raises(cohort.BadOptions, match="room for 40 bytes"):
        _library.call("job_result", job._handle, small.ctypes.data, small.nbytes)


def test_a_checkpoint_is_continued_by_another_engine():
    file = pathlib.Path(os.environ["COHORT_TEST_CHECKPOINTS"]) / "bfs.checkpoint"
    input = "grid:700x700"
    with cohort.cpu.Engine(workers=2) as engine:
        job = cohort.apps.launch(engine, "bfs", input=input, movable=True, max_groups=2)
        while True:
            try:
                status = job.suspend()
                break
            except cohort.BadState:  # raised while the job is not launched yet
                pass
        if status is not cohort.Status.suspended or not job.report().run_time:
            pytest.skip("it was too quick to be suspended")
        job.checkpoint(file)
        job.cancel()
        assert job.wait().status is cohort.Status.cancelled
    with cohort.cpu.Engine(workers=3) as engine:
        job = cohort.apps.launch(engine, "bfs", input=input, movable=True, max_groups=2, restore=file)
        assert job.wait().status is cohort.Status.finished
        job.verify()
        with pytest.raises(cohort.BadFile):
            cohort.apps.launch(engine, "bfs", input=input, movable=True, restore="/no/such/file").wait()

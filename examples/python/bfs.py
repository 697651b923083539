"""Levels of a breadth-first search on a matrix of scipy."""
import sys

try:
    import numpy
    import scipy.sparse
except ImportError:
    print("skipped: this example needs scipy")
    sys.exit(77)
import cohort

side = 300  # a grid: each node has an edge to the next ones
path = scipy.sparse.diags([1, 1], [-1, 1], shape=(side, side))
grid = scipy.sparse.kronsum(path, path, format="csr")

with cohort.cpu.Engine() as engine:
    levels = cohort.apps.bfs(engine, grid, source=0)
print(f"{grid.shape[0]} nodes, the farthest {levels.max()} edges away")
assert levels.max() == 2 * (side - 1) and (levels != cohort.apps.UNREACHED).all()
assert (numpy.bincount(levels)[:side] == numpy.arange(1, side + 1)).all()

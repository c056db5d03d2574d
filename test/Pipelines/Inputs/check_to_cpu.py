"""Runs the functions of to-cpu-run.mlir and compares them with numpy."""

import sys

import numpy as np
from host_module import HostModule

F32 = np.float32
RANDOM = np.random.default_rng(0)


def random(*shape):
    """Small integers, so that sums are exact in any order."""
    return RANDOM.integers(-4, 5, shape).astype(F32)


class Checker:
    def __init__(self, module):
        self.module = module
        self.failures = 0

    def check(self, name, *arguments, expect):
        """Calls function `name` and compares each result with one of `expect`."""
        before = [np.copy(argument) for argument in arguments]
        results = [(want.dtype, want.ndim) for want in expect]
        got = self.module.call(name, *arguments, results=results)
        shapes = [np.shape(argument) for argument in arguments]
        for i, (have, want) in enumerate(zip(got, expect)):
            if not np.array_equal(have, want):
                self.fail(f"{name}{shapes}: result {i} is\n{have}\nnot\n{want}")
        if not all(map(np.array_equal, before, arguments)):
            self.fail(f"{name}{shapes} wrote to an argument")
        if self.module.live_buffers:
            sys.exit(f"{name}{shapes} leaks {self.module.live_buffers} buffers")

    def fail(self, message):
        print(message)
        self.failures += 1


def check_buffers(check):
    x = np.array([1, 4, 9], F32)
    root = np.sqrt(x)
    check("same_twice", x, expect=[root, root])
    check("argument_twice", x, expect=[x, x])
    pair = np.array([[1, 4], [9, 16]], F32)
    check("value_and_view", pair, expect=[np.sqrt(pair), np.sqrt(pair).ravel()])
    wide = random(4, 3)
    check("slice_of_argument", wide, expect=[wide[[1, 3]]])
    constant = np.array([1, 2], F32)
    check("constant", expect=[constant, constant])
    y = np.array([5, 6, 7], F32)
    check("choose", x, y, 1, expect=[x, y])
    check("choose", x, y, 0, expect=[y, y])
    check("destination", x, expect=[2 * x])
    check("call", x, expect=[root, x])
    check("no_results", x, expect=[])
    check("loop", x, 0, expect=[x])
    check("loop", x, 3, expect=[8 * x])


def check_columns(check):
    x, y = random(4, 5), random(4, 5)
    for m, n in (3, 2), (1, 4), (4, 5), (0, 3), (3, 0):
        part = -x[:m, :n]
        check("columns", x, m, n, expect=[part])
        check("columns_and_source", x, m, n, expect=[part, -x])
        check("call_with_columns", x, m, n, expect=[-part])
        twice = -x
        twice[:m, :n] *= 2
        check("call_that_writes", x, m, n, expect=[twice])
        for trips in 0, 1, 3:
            last = -(y if trips else x)[:m, :n]
            check("columns_from_loop", x, y, m, n, trips, expect=[last])
        solid = random(4, 3, 5)
        check("columns_of_plane", solid, m, n, expect=[-solid[:m, 0, :n]])
    for first in 0, 1:
        start = 1 - first
        check("columns_from_branch", x, 3, 2, first, expect=[-x[start : start + 3, :2]])
    check("columns_of_static", x, 3, expect=[-x[:, :3]])
    check("columns_of_steps", x, 2, 3, 2, expect=[-x[::2, :3]])
    check("first_rows", x, 3, expect=[-x[:3]])
    check("narrow", x, 4, expect=[x[:, :1]])


def check_shapes(check):
    for n in 0, 1, 5, 16384, 16385, 50000:
        x = random(n)
        check("vector", x, F32(3), expect=[3 * x])
    x = np.array(7, F32)
    check("scalar", x, expect=[np.array(14, F32)])
    for shape in (0, 3), (3, 0), (1, 1), (3, 20000), (20000, 3), (170, 200):
        x, y = random(*shape), random(*shape)
        check("matrix", x, y, expect=[x - y, x < y])
        check("transpose", x, expect=[x.T])
        column, row = random(shape[0], 1), random(shape[1])
        check("broadcast", column, row, expect=[column - row])
        numbers = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
        check("index", x, expect=[numbers])
    x = random(3, 40000)
    check("static_rows", x, expect=[2 * x])
    for n in 0, 1, 33:
        x = random(5, n, 7)
        check("rotate", x, expect=[np.transpose(x, (1, 2, 0))])
    x, y = random(4), random(2)
    padded = np.pad(x, (1, 2))
    padded[:2] = y
    check("pad_insert", x, y, expect=[padded])


def check_reductions(check):
    sizes = (1, 1, 1), (3, 4, 5), (9, 17, 513), (40, 3, 1030), (0, 3, 4), (3, 0, 4)
    for m, k, n in sizes + ((3, 4, 0),):
        a, b, c = random(m, k), random(k, n), random(m, n)
        product = a @ b + c
        check("matmul", a, b, c, expect=[product])
        check("matmul_nt", a, b.T.copy(), c, expect=[product])
        check("matmul_tn", a.T.copy(), b, c, expect=[product])
        aa, bb, cc = random(2, m, k), random(2, k, n), random(2, m, n)
        check("batch_matmul", aa, bb, cc, expect=[aa @ bb + cc])
        x, y, z = random(k), random(m), random(n)
        check("matvec", a, x, y, expect=[a @ x + y])
        check("vecmat", x, b, z, expect=[x @ b + z])
        check("dot", x, x, np.array(2, F32), expect=[np.asarray(x @ x + 2, F32)])
        check("sum_rows", b, z, expect=[b.sum(0) + z])
        check("sum_columns", a, y, expect=[a.sum(1) + y])
    x, k, z = random(1, 1, 6, 7), random(2, 1, 3, 3), random(1, 2, 4, 5)
    windows = np.lib.stride_tricks.sliding_window_view(x[0, 0], (3, 3))
    want = np.einsum("ijkl,fkl->fij", windows, k[:, 0])[None] + z
    check("convolution", x, k, z, expect=[want.astype(F32)])


def main(*arguments):
    *tools, test = arguments
    with open(test) as file:
        source = file.read()
    failures = 0
    for options in "", "check-shapes":
        checker = Checker(HostModule(tools, source, options))
        check_buffers(checker.check)
        check_columns(checker.check)
        check_shapes(checker.check)
        check_reductions(checker.check)
        failures += checker.failures
    sys.exit(failures != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])

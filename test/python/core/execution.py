# RUN: %fad_python %s
"""Compiled modules: several functions, checks, state, threads."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import fad

TWO = """func.func @double(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = arith.addf %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @quadruple(%x: tensor<?xf32>) -> (tensor<?xf32>, index) {
  %y = call @double(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %z = call @double(%y) : (tensor<?xf32>) -> tensor<?xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  return %z, %n : tensor<?xf32>, index
}
func.func @nothing() { return }
func.func private @hidden() { return }
"""

# A matrix product that takes a while.
PRODUCT = """func.func @product(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %i = linalg.fill ins(%zero : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>)
    outs(%i : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
"""

COUNTER = """ml_program.global private mutable @count(dense<0> : tensor<i64>) : tensor<i64>
func.func @next(%step: tensor<i64>) -> tensor<i64> {
  %old = ml_program.global_load @count : tensor<i64>
  %new = arith.addi %old, %step : tensor<i64>
  ml_program.global_store @count = %new : tensor<i64>
  return %new : tensor<i64>
}
"""


class Functions(unittest.TestCase):
    def test_several(self):
        executable = fad.compile(fad.parse(TWO))
        self.assertEqual(executable.functions, ("double", "nothing", "quadruple"))
        x = np.arange(4, dtype=np.float32)
        np.testing.assert_array_equal(executable.call("double", x)[0], 2 * x)
        result, size = executable.call("quadruple", x)
        np.testing.assert_array_equal(result, 4 * x)
        self.assertEqual(size, 4)
        self.assertEqual(executable.call("nothing"), ())
        with self.assertRaises(ValueError) as caught:
            executable.call("hidden")
        self.assertEqual(
            str(caught.exception),
            "there is no public function 'hidden', only double, nothing, quadruple",
        )
        with self.assertRaisesRegex(ValueError, "quadruple; did you mean 'double'\\?$"):
            executable.call("Doubel", x)

    def test_attributes(self):
        module = fad.parse(TWO)
        executable = fad.compile(module)
        self.assertEqual(repr(executable), "<fad.Executable: double, nothing, quadruple>")
        nothing = fad.compile(fad.parse(""))
        self.assertEqual(repr(nothing), "<fad.Executable: no functions>")
        for owner, name, message in (
            (
                executable,
                "double",
                "a fad.Executable has no attribute 'double'; write: executable.call('double', ...)",
            ),
            (
                executable,
                "function",
                "a fad.Executable has no attribute 'function'; did you mean 'functions'?",
            ),
            (executable, "hidden", "a fad.Executable has no attribute 'hidden'"),
            (
                module,
                "double",
                "a fad.Module has no attribute 'double'; write: fad.run(module, 'double', ...)",
            ),
            (module, "verfy", "a fad.Module has no attribute 'verfy'; did you mean 'verify'?"),
            (module, "forward", "a fad.Module has no attribute 'forward'"),
        ):
            with self.assertRaises(AttributeError) as caught:
                getattr(owner, name)
            self.assertEqual(str(caught.exception), message)
        # Of an object that is not made yet, as by copy and pickle.
        for kind in fad.Executable, fad.Module:
            with self.assertRaisesRegex(AttributeError, "has no attribute '_handle'$"):
                kind.__new__(kind)._handle

    def test_many_loops(self):
        """More than are compiled in one function, many of them the same."""
        random = np.random.default_rng(2)
        x = random.standard_normal((5, 20)).astype("f4")
        w = (random.standard_normal((20, 20)) / 8).astype("f4")
        lines, kept = [], []
        for step in range(80):
            lines += [
                f"%p{step} = linalg.matmul ins(%y{step}, %w : !x, !w) outs(%y{step // 2} : !x) -> !x",
                f"%y{step + 1} = math.tanh %p{step} : !x",
            ]
            if step % 20 == 19:
                kept.append(f"%y{step + 1}")
        text = (
            "!x = tensor<5x20xf32>\n!w = tensor<20x20xf32>\n"
            "func.func @f(%y0: !x, %w: !w) -> (!x, !x, !x, !x) {\n"
            + "\n".join(lines)
            + f"\nreturn {', '.join(kept)} : !x, !x, !x, !x\n}}"
        )
        results = fad.compile(fad.parse(text)).call("f", x, w)
        values = [x.astype("f8")]
        for step in range(80):
            values.append(np.tanh(values[step] @ w.astype("f8") + values[step // 2]))
        for got, step in zip(results, (20, 40, 60, 80), strict=True):
            np.testing.assert_allclose(got, values[step], atol=1e-4)

    def test_run_follows_the_module(self):
        module = fad.parse(TWO)
        x = np.ones(2, np.float32)
        self.assertEqual(fad.run(module, "double", x)[0][0], 2)
        module.run("fad-nest{entry=quadruple}")
        nested, *_ = fad.run(module, "quadruple_forward", x)
        self.assertEqual(nested[0], 4)

    def test_other_objects(self):
        calls = (
            lambda: fad.run("f", "f"),
            lambda: fad.compile("f"),
            lambda: fad.nest("f"),
            lambda: fad.memory_report("f"),
        )
        for call in calls:
            with self.assertRaises(TypeError) as caught:
                call()
            self.assertEqual(
                str(caught.exception),
                "a fad.Module is expected, not a str; fad.parse makes one of text",
            )
        with self.assertRaises(TypeError) as caught:
            fad.compile(3)
        self.assertEqual(str(caught.exception), "a fad.Module is expected, not a int")
        with self.assertRaises(TypeError) as caught:
            fad.compile(fad.parse(TWO), contractions=None)
        self.assertEqual(
            str(caught.exception),
            "contractions is a NoneType; it can be 'auto', 'library' or 'loops'",
        )
        with self.assertRaises(TypeError) as caught:
            fad.parse(TWO).run(3)
        self.assertEqual(
            str(caught.exception), "a pipeline is a int; give text, such as 'fad-nest,cse'"
        )

    def test_compile_leaves_the_module(self):
        module = fad.parse(TWO)
        before = str(module)
        fad.compile(module)
        self.assertEqual(str(module), before)

    def test_no_functions(self):
        executable = fad.compile(fad.parse(""))
        with self.assertRaises(ValueError) as caught:
            executable.call("f")
        self.assertEqual(str(caught.exception), "there is no public function 'f', only none")

    def test_what_cannot_be_compiled(self):
        text = """func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
          %y = call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
          return %y : tensor<2xf32>
        }
        func.func private @g(tensor<2xf32>) -> tensor<2xf32>"""
        for check in (True, False):
            with self.assertRaises(fad.Error) as caught:
                fad.compile(fad.parse(text, "f.mlir"), check=check)
            self.assertIn("error", str(caught.exception))
        with self.assertRaises(fad.Error) as caught:
            fad.run(fad.parse(text, "f.mlir"), "f", np.ones(2, np.float32))
        self.assertEqual(
            str(caught.exception),
            "f.mlir:5:9: error: @g is called by @f and has no body; define it in the same file",
        )


class Checks(unittest.TestCase):
    def test_sizes(self):
        module = fad.parse(PRODUCT, "product.mlir")
        with self.assertRaises(fad.Error) as caught:
            fad.run(module, "product", np.ones((2, 3)), np.ones((4, 2)))
        (diagnostic,) = caught.exception.diagnostics
        self.assertEqual(diagnostic.location, fad.Location("product.mlir", 9, 8))
        self.assertIn("these sizes do not fit together", diagnostic.message)

    def test_assertions(self):
        text = """func.func @pick(%x: tensor<?xf32>, %i: tensor<?xi64>) -> tensor<?xf32> {
          %c0 = arith.constant 0 : index
          %n = tensor.dim %i, %c0 : tensor<?xi64>
          %e = tensor.empty(%n) : tensor<?xf32>
          %r = linalg.generic {
            indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
            iterator_types = ["parallel"]
          } ins(%i : tensor<?xi64>) outs(%e : tensor<?xf32>) {
          ^bb0(%in: i64, %out: f32):
            %c = arith.constant 4 : i64
            %ok = arith.cmpi ult, %in, %c : i64
            cf.assert %ok, "index out of range"
            %p = arith.index_cast %in : i64 to index
            %v = tensor.extract %x[%p] : tensor<?xf32>
            linalg.yield %v : f32
          } -> tensor<?xf32>
          return %r : tensor<?xf32>
        }"""
        executable = fad.compile(fad.parse(text, "pick.mlir"))
        x = np.arange(4, dtype=np.float32)
        (result,) = executable.call("pick", x, np.array([3, 0, 3]))
        np.testing.assert_array_equal(result, [3, 0, 3])
        with self.assertRaises(fad.Error) as caught:
            executable.call("pick", x, np.array([3, 4]))
        self.assertEqual(
            str(caught.exception),
            "pick.mlir:12:13: error: assertion failed: index out of range",
        )
        # The executable is as good as before, and can do without checks.
        self.assertEqual(executable.call("pick", x, np.array([1]))[0][0], 1)
        unchecked = fad.compile(fad.parse(text), check=False)
        self.assertEqual(unchecked.call("pick", x, np.array([2]))[0][0], 2)

    def test_no_memory(self):
        text = """func.func @outer(%x: tensor<?xf32>) -> tensor<?x?xf32> {
          %c0 = arith.constant 0 : index
          %n = tensor.dim %x, %c0 : tensor<?xf32>
          %e = tensor.empty(%n, %n) : tensor<?x?xf32>
          %r = linalg.broadcast ins(%x : tensor<?xf32>) outs(%e : tensor<?x?xf32>)
            dimensions = [0]
          return %r : tensor<?x?xf32>
        }"""
        executable = fad.compile(fad.parse(text))
        with self.assertRaises(fad.Error) as caught:
            executable.call("outer", np.broadcast_to(np.float32(0), 30_000_000))
        self.assertRegex(
            str(caught.exception),
            r"^error: there is no memory for a tensor of 36\d{14} bytes$",
        )
        np.testing.assert_array_equal(
            executable.call("outer", np.ones(2, np.float32))[0], np.ones((2, 2))
        )

    def test_sizes_of_results_are_those_of_inits(self):
        # Neither the other operands nor the maps tell how many rows backward's
        # sums have.
        text = """func.func @f(%x: tensor<?x5xf32>) -> tensor<5xf32> {
          %c0 = arith.constant 0 : index
          %n = tensor.dim %x, %c0 : tensor<?x5xf32>
          %e = tensor.empty(%n) : tensor<?x5xf32>
          %g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
              iterator_types = ["parallel", "parallel"]}
              ins(%x : tensor<?x5xf32>) outs(%e : tensor<?x5xf32>) {
          ^bb0(%a: f32, %o: f32):
            %s = arith.mulf %a, %a : f32
            linalg.yield %s : f32
          } -> tensor<?x5xf32>
          %t = tensor.empty() : tensor<5xf32>
          %r = linalg.generic {indexing_maps = [affine_map<(i) -> (0, -i + 4)>, affine_map<(i) -> (i)>],
              iterator_types = ["parallel"]}
              ins(%g : tensor<?x5xf32>) outs(%t : tensor<5xf32>) {
          ^bb0(%b: f32, %o: f32):
            %m = arith.mulf %b, %b : f32
            linalg.yield %m : f32
          } -> tensor<5xf32>
          return %r : tensor<5xf32>
        }"""
        for policy in "bp", "recompute", "fad", "auto":
            nested = fad.nest(fad.parse(text), policy=policy)
            for rows in 1, 2, 5:
                x = np.linspace(-1, 2, rows * 5, dtype="f4").reshape(rows, 5)
                value, *residuals = fad.run(nested, nested.forward, x)
                np.testing.assert_allclose(value, x[0, ::-1] ** 4, rtol=1e-5)
                (gradient,) = fad.run(nested, nested.backward, *residuals, np.ones(5, "f4"))
                expected = np.zeros_like(x)
                expected[0] = 4 * x[0] ** 3
                np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)

    def test_memory_comes_back_from_calls_that_fail(self):
        # The condition depends on a tensor that has to be computed.
        text = """func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> f32 {
          %c0 = arith.constant 0 : index
          %e = math.exp %x : tensor<?xf32>
          %f = math.sqrt %e : tensor<?xf32>
          %v = tensor.extract %f[%c0] : tensor<?xf32>
          %i = arith.fptosi %v : f32 to i64
          %j = arith.index_cast %i : i64 to index
          %r = tensor.extract %y[%j] : tensor<?xf32>
          return %r : f32
        }"""
        executable = fad.compile(fad.parse(text))
        x, y = np.ones(1 << 20, np.float32), np.ones(1, np.float32)

        def fail(times):
            for _ in range(times):
                with self.assertRaises(fad.Error):
                    executable.call("f", x, y)
            with open("/proc/self/statm") as statm:
                return int(statm.read().split()[1]) * 4096

        # A call makes 4 MiB.
        before = fail(3)
        self.assertLess(fail(30) - before, 16 << 20)


class State(unittest.TestCase):
    def test_checks_know_the_state(self):
        text = """ml_program.global private mutable @at(dense<0> : tensor<i64>) : tensor<i64>
        func.func @move(%by: tensor<i64>) -> tensor<i64> {
          %old = ml_program.global_load @at : tensor<i64>
          %new = arith.addi %old, %by : tensor<i64>
          ml_program.global_store @at = %new : tensor<i64>
          return %new : tensor<i64>
        }
        func.func @next(%x: tensor<?xf32>) -> f32 {
          %one = arith.constant dense<1> : tensor<i64>
          %old = ml_program.global_load @at : tensor<i64>
          %new = arith.addi %old, %one : tensor<i64>
          ml_program.global_store @at = %new : tensor<i64>
          %v = tensor.extract %old[] : tensor<i64>
          %i = arith.index_cast %v : i64 to index
          %r = tensor.extract %x[%i] : tensor<?xf32>
          return %r : f32
        }"""
        executable = fad.compile(fad.parse(text))
        self.assertEqual(executable.functions, ("move", "next"))
        x = np.arange(4, dtype=np.float32)
        self.assertEqual(int(executable.call("move", 2)[0]), 2)
        self.assertEqual([int(executable.call("next", x)[0]) for _ in "ab"], [2, 3])
        # A call that does not take place leaves the state.
        for _ in range(2):
            with self.assertRaises(fad.Error) as caught:
                executable.call("next", x)
            self.assertIn("out-of-bounds access", str(caught.exception))
        self.assertEqual(int(executable.call("move", -4)[0]), 0)
        self.assertEqual(int(executable.call("next", x)[0]), 0)

    def test_executables_have_their_own(self):
        module = fad.parse(COUNTER)
        first, second = fad.compile(module), fad.compile(module)
        self.assertEqual([int(first.call("next", 2)[0]) for _ in range(3)], [2, 4, 6])
        self.assertEqual(int(second.call("next", 5)[0]), 5)
        self.assertEqual(int(first.call("next", 1)[0]), 7)

    def test_run_keeps_it_until_the_module_changes(self):
        module = fad.parse(COUNTER)
        self.assertEqual([int(fad.run(module, "next", 1)[0]) for _ in range(2)], [1, 2])
        module.run("canonicalize")
        self.assertEqual(int(fad.run(module, "next", 1)[0]), 1)
        self.assertEqual(int(fad.run(module.clone(), "next", 1)[0]), 1)

    def test_threads_take_turns(self):
        executable = fad.compile(fad.parse(COUNTER))
        seen = []
        threads = [
            threading.Thread(
                target=lambda: seen.extend(int(executable.call("next", 1)[0]) for _ in range(200))
            )
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(seen), list(range(1, 801)))

    def test_memory_is_kept_and_released(self):
        executable = fad.compile(fad.parse(PRODUCT))
        a = np.ones((512, 512))
        fad.release_memory()
        address = None
        for _ in range(3):
            (result,) = executable.call("product", a, a)
            # The result of the last call is gone, and its memory is taken.
            self.assertIn(address, (None, result.ctypes.data))
            address = result.ctypes.data
            del result
        self.assertGreaterEqual(fad.release_memory(), a.nbytes)
        self.assertEqual(fad.release_memory(), 0)


class Threads(unittest.TestCase):
    def progress_during(self, work):
        """How often another thread gets to run during `work`, which is long."""
        moments, done = [], threading.Event()

        def tick():
            while not done.is_set():
                moments.append(time.monotonic())
                time.sleep(0.001)

        ticker = threading.Thread(target=tick)
        ticker.start()
        begin = time.monotonic()
        work()
        end = time.monotonic()
        done.set()
        ticker.join()
        return sum(begin < moment < end for moment in moments)

    def test_others_run_meanwhile(self):
        executable = fad.compile(fad.parse(PRODUCT))
        a = np.ones((400, 2000))
        self.assertGreater(self.progress_during(lambda: executable.call("product", a, a.T)), 1)
        lines = "".join(f"%v{i + 1} = math.sin %v{i} : tensor<8xf32>\n" for i in range(8000))
        text = (
            "func.func @f(%v0: tensor<8xf32>) -> tensor<8xf32> {\n"
            f"{lines}return %v8000 : tensor<8xf32>\n}}"
        )
        modules = []
        self.assertGreater(self.progress_during(lambda: modules.append(fad.parse(text))), 1)
        self.assertGreater(self.progress_during(lambda: fad.nest(modules[0])), 1)

    def test_everything_at_once(self):
        module = fad.parse(TWO)
        executable = fad.compile(module)
        failures = []

        def work(seed):
            try:
                x = np.random.default_rng(seed).standard_normal(50).astype(np.float32)
                for _ in range(5):
                    nested = fad.nest(module, entry="quadruple", wrt=[0])
                    y, *rest = fad.run(nested, nested.forward, x)
                    np.testing.assert_array_equal(y, 4 * x)
                    (gradient,) = fad.run(nested, nested.backward, *rest[1:], x)
                    np.testing.assert_array_equal(gradient, 4 * x)
                    np.testing.assert_array_equal(executable.call("double", x)[0], 2 * x)
                    fad.parse(str(module)).run("inline,symbol-dce")
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_interrupt_comes_after_the_call(self):
        executable = fad.compile(fad.parse(PRODUCT))
        a = np.ones((300, 1000))
        main = threading.get_ident()
        # Whoever starts tests in the background may have it ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        interrupter = threading.Timer(0.01, lambda: signal.pthread_kill(main, signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            interrupter.start()
            for _ in range(1000):
                executable.call("product", a, a.T)
        (result,) = executable.call("product", a, a.T)
        self.assertEqual(result[0, 0], 1000)

    def test_daemon_that_computes_at_the_end(self):
        script = f"""import threading, time, numpy, fad
executable = fad.compile(fad.parse({PRODUCT!r}))
a = numpy.ones((200, 500))
def work():
    while True:
        executable.call("product", a, a.T)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
        ended = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
        )
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_fork(self):
        module = fad.parse(TWO)
        fad.nest(module, entry="double")
        child = os.fork()
        if child == 0:
            nested = fad.nest(module, entry="double")
            os._exit(0 if nested.backward == "double_backward" else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    unittest.main()

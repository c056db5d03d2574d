"""Behavior of torch.compile(backend="fad") where PyTorch's own backends go wrong, or where a
tensor has no elements.

usage: check_backend.py [--every]

Without --every, one case of most checks has all policies under the engine `eager`, and one
has Inductor; the others have one policy under `eager`."""

import itertools
import math
import sys
import unittest
import warnings
from unittest import mock

import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from torch import nn
from torch._functorch import config as functorch_config

import fad.torch
import fad.torch.compile
from fad.torch._releases import has_region_budgets
from fad.torch.compile import _sizes
from fad.torch.compile._backend import backend

OPTIONS = [
    {"fad.engine": engine, **options}
    for engine, options in itertools.product(
        ("eager", "inductor"), ({}, {"fad.policy": "fad"}, {"fad.policy": "bp"})
    )
]
OPTIONS.append({"fad.engine": "eager", "fad.budget": 0.3})
EVERY = "--every" in sys.argv


def choose_options(is_first, inductor=False):
    """The options of a case of a check: all of them, or in the sample those of the engine
    `eager` for the first case, or the first of them, and one of Inductor's with `inductor`."""
    if EVERY:
        return OPTIONS
    eager = [options for options in OPTIONS if options["fad.engine"] == "eager"]
    chosen = eager if is_first else eager[:1]
    return chosen + [OPTIONS[3]] * inductor


def compile_with(function, options):
    torch._dynamo.reset()
    return torch.compile(function, backend="fad", options=options)


class DoubleBackward(unittest.TestCase):
    """Gradients of gradients are refused, since as derivatives that forward has computed
    they would be constants."""

    FUNCTIONS = {
        "sigmoid": torch.sigmoid,
        "of its result": lambda x: x.tanh().exp(),
        "sources": lambda x: x * x.sin() * x.cos(),
        "view": lambda x: F.relu(x).sin().square().view(2, 2),
        "two results": lambda x: (x.sin(), x.sin().exp()),
    }

    def test_refused(self):
        cases = [
            (name, function, options)
            for name, function in self.FUNCTIONS.items()
            for options in choose_options(name == "sources", name == "sources")
            if options["fad.engine"] == "eager" or name == "sources"
        ]
        for name, function, options in cases:
            with self.subTest(name, **options):
                x = torch.linspace(-1, 1, 4).requires_grad_()
                results = compile_with(function, options)(x)
                results = results if isinstance(results, tuple) else (results,)
                loss = sum(each.sum() for each in results)
                (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
                self.assertTrue(gradient.requires_grad)
                with self.assertRaisesRegex(RuntimeError, "does not support double backward"):
                    torch.autograd.grad((gradient * x).sum(), x)

    def test_parameters(self):
        """By the input alone, though backward reads a parameter."""
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid())
        for options in choose_options(False):
            with self.subTest(**options):
                x = torch.randn(2, 4, requires_grad=True)
                loss = compile_with(model, options)(x.sin()).sum()
                (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
                with self.assertRaisesRegex(RuntimeError, "does not support double backward"):
                    torch.autograd.grad(gradient.square().sum(), x)

    def test_graph_alone(self):
        """A graph of the gradients that nothing differentiates does no harm."""
        x = torch.linspace(-1, 1, 4).requires_grad_()
        compile_with(torch.sigmoid, OPTIONS[1])(x).sum().backward(create_graph=True)
        value = x.detach().sigmoid()
        torch.testing.assert_close(x.grad, value * (1 - value))
        x.grad = None

    def test_changed_input(self):
        def change(x):
            x.mul_(2)
            return x.sigmoid()

        leaf = torch.linspace(-1, 1, 4).requires_grad_()
        x = leaf * 1
        loss = compile_with(change, OPTIONS[1])(x).sum()
        (gradient,) = torch.autograd.grad(loss, leaf, create_graph=True)
        value = (2 * leaf.detach()).sigmoid()
        torch.testing.assert_close(gradient.detach(), 2 * value * (1 - value))
        with self.assertRaisesRegex(RuntimeError, "does not support double backward"):
            torch.autograd.grad(gradient.sum(), leaf)

    def test_of_others(self):
        """Functions that were called before the compiled one keep their second derivatives."""

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(context, x):
                context.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(context, gradient):
                return 2 * context.saved_tensors[0] * gradient

        x = torch.linspace(-1, 1, 4).requires_grad_()
        y = Square.apply(x)
        compile_with(lambda y: (y.view(-1), y.sin() * y), OPTIONS[0])(y)
        (gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(gradient.sum(), x)
        torch.testing.assert_close(second, torch.full_like(x, 2))


class Halves(unittest.TestCase):
    """Products of factors leave the range of f16 where the gradient does not."""

    def test_range(self):
        for weight, scale in ((1e-4, 6e4), (500.0, 1e-3)):
            p, q = (nn.Linear(4, 4, bias=False).half().requires_grad_(False) for _ in range(2))
            for linear in p, q:
                linear.weight.copy_(weight * torch.eye(4))

            def function(x, h, p=p, q=q):
                return (x * p(h)) * q(h)

            x, h = torch.ones(4, 4).half().requires_grad_(), torch.ones(4, 4).half()
            (expected,) = torch.autograd.grad(function(x, h), x, torch.full_like(x, scale))
            engines = ("eager", "inductor") if EVERY or weight < 1 else ("eager",)
            for engine, policy in itertools.product(engines, ("auto", "bp")):
                if engine == "inductor" and policy == "auto" and not EVERY:
                    continue
                with self.subTest(engine=engine, policy=policy, weight=weight):
                    options = {"fad.engine": engine, "fad.policy": policy}
                    y = compile_with(function, options)(x, h)
                    (gradient,) = torch.autograd.grad(y, x, torch.full_like(x, scale))
                    torch.testing.assert_close(gradient, expected, rtol=2e-3, atol=0)


class Comparisons(unittest.TestCase):
    """Values that Inductor computes with 32 bits and compares with others, rounded to 16."""

    VALUES = {
        "quotient": lambda x, y: x / (y.abs() + 1.3),
        "chain": lambda x, y: torch.tanh(x * 1.1) * torch.exp(-y * 0.3) + 0.7 * x,
    }
    MAXIMA = {
        "amax": lambda v: v.amax(1),
        "max": lambda v: v.max(1).values,
        "argmax": lambda v: v.gather(1, v.argmax(1, keepdim=True)),
        "threshold": lambda v: (v * (v >= v.topk(1, dim=1).values)).sum(1),
        "norm": lambda v: torch.linalg.vector_norm(v, float("inf"), dim=1),
        "of all": lambda v: v.max(),
        "wide": lambda v: v.float().amax(1),
        "wide mask": lambda v: (v * (v.float() == v.float().amax(1, keepdim=True))).sum(1),
    }
    EVERY = itertools.product(
        VALUES,
        MAXIMA,
        (torch.bfloat16, torch.float16),
        ({}, {"fad.policy": "fad"}, {"fad.policy": "recompute"}, {"fad.recompute": "all"}),
    )
    SAMPLE = [
        ("chain", "amax", torch.bfloat16, {}),
        ("quotient", "of all", torch.float16, {"fad.policy": "fad"}),
        ("chain", "wide mask", torch.bfloat16, {"fad.recompute": "all"}),
    ]

    def test_maxima(self):
        """The gradient of a maximum adds up to its cotangent, and is that of largest elements."""
        for value, maximum, dtype, options in self.EVERY if EVERY else self.SAMPLE:
            with self.subTest(f"{maximum} of {value}", dtype=dtype, **options):
                torch.manual_seed(0)
                make, choose = self.VALUES[value], self.MAXIMA[maximum]
                x, y = (torch.randn(64, 40).to(dtype).requires_grad_() for _ in range(2))
                offset = torch.zeros(64, 40, dtype=dtype, requires_grad=True)
                compiled = compile_with(lambda x, y, z: choose(make(x, y) + z), options)
                compiled(x, y, offset).float().sum().backward()
                v = make(x, y).detach()
                v = v.abs() if maximum == "norm" else v
                rows = (0, 1) if maximum == "of all" else 1
                gradient = offset.grad.float().abs()
                self.assertTrue(((gradient == 0) | (v >= 0.98 * v.amax(rows, keepdim=True))).all())
                total = gradient.sum(rows)
                if maximum in ("threshold", "wide mask"):
                    # Equal elements count each.
                    total = total.clamp(max=1)
                torch.testing.assert_close(total, torch.ones_like(total), rtol=0, atol=0.02)

    def test_saved(self):
        """A comparison is saved in bits, and is not what a checkpoint repeats."""
        x, w = (torch.randn(n, 40).bfloat16().requires_grad_() for n in (64, 40))

        def function(x, w):
            v = x @ w
            return (v + v.tanh() * 0.3).amax(1)

        def repeat(x, w):
            return torch.utils.checkpoint.checkpoint(function, x, w, use_reentrant=False)

        for each, masks in ((function, 1), (repeat, 0)):
            tensors = fad.torch.explain(each, x, w).graphs[0].fad.tensors
            bits = [tensor for tensor in tensors if tensor.bytes == 64 * 40 // 8]
            self.assertEqual(len(bits), masks, tensors)


class OfPyTorch(unittest.TestCase):
    """Options that PyTorch's partitioner reads, and fad does not."""

    BUDGETS = "are for PyTorch's partitioner, and fad does not read them"

    def step(self, function=torch.sigmoid, **options):
        """The warnings of a step."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            x = torch.linspace(-1, 1, 4).requires_grad_()
            compile_with(function, options or OPTIONS[0])(x).sum().backward()
        return [str(each.message) for each in caught if each.category is RuntimeWarning]

    # Goes with PyTorch 2.12.
    @unittest.skipUnless(has_region_budgets(), "there are no budgets of regions before 2.13")
    def test_region(self):
        def in_region(x):
            with torch.autograd.graph.region_activation_memory_budget(0.5):
                return x.sigmoid()

        (message,) = self.step(in_region)
        self.assertIn(self.BUDGETS, message)

    def test_budgets(self):
        self.assertEqual(self.step(), [])
        with functorch_config.patch(activation_memory_budget=0.5):
            (message,) = self.step()
        self.assertIn(self.BUDGETS, message)

    def test_offloading(self):
        name = (
            "torch._functorch._activation_offloading.activation_offloading."
            "enable_activation_offloading"
        )
        with functorch_config.patch(enable_activation_offloading=True), mock.patch(name) as called:
            self.step()
        forward, backward, outputs, _ = called.call_args.args
        self.assertEqual(outputs, 1)
        self.assertEqual(
            [len(each.graph.find_nodes(op="output")) for each in (forward, backward)], [1, 1]
        )

    def test_partitioner(self):
        options = {"custom_partitioner_fn": fad.torch.compile.Partitioner()}
        with self.assertRaisesRegex(ValueError, "does not take custom_partitioner_fn"):
            backend(None, [], options=options)
        with self.assertRaisesRegex(
            ValueError, "but max_autotune is set; options of fad begin with"
        ):
            backend(None, [], options={"fad.engine": "eager", "max_autotune": True})
        with self.assertRaisesRegex(ValueError, "is none of Inductor's; did you mean 'fad.policy'"):
            backend(None, [], options={"fad.engine": "eager", "policy": "auto"})


class Options(unittest.TestCase):
    """PyTorch gives options to the backend when it compiles a graph."""

    ZERO = "and no step takes nothing; give a fraction between 0 and 1 as a number, such as 0.5, "
    FACTOR = "give a factor of at least 1, such as 1.02 for steps that take 2% longer than the "
    MESSAGES = {
        ("budget", 0): f"fad.budget is 0, {ZERO}or a number of bytes",
        ("budget", "0 MB"): f"fad.budget is '0 MB', {ZERO}or a number of bytes",
        ("budget", -1): "fad.budget is -1; give a number of bytes",
        ("budget", 1.5): "fad.budget is 1.5; give a fraction between 0 and 1, or a number of bytes",
        ("budget", True): "fad.budget is True; give a number of bytes",
        ("residual_budget", -1): "fad.residual_budget is -1; give a number of bytes",
        ("slowdown", 0.9): f"fad.slowdown is 0.9; {FACTOR}",
        ("slowdown", "1.1"): f"fad.slowdown is '1.1'; {FACTOR}",
        ("slowdown", True): f"fad.slowdown is True; {FACTOR}",
        ("slowdown", math.inf): f"fad.slowdown is inf; {FACTOR}",
        ("policy", "best"): "fad.policy is 'best'; ",
        ("recompute", "some"): "fad.recompute is 'some'; ",
    }

    def test_alternatives(self):
        for options, message in (
            ({"budget": 0.5, "slowdown": 1.0}, "fad.budget and fad.slowdown are alternatives; "),
            (
                {"slowdown": 1.0, "residual_budget": 9},
                "fad.slowdown and fad.residual_budget are alternatives; give one of them",
            ),
            ({"budget": 9, "residual_budget": 9}, "fad.budget and fad.residual_budget are "),
            (
                {"policy": "fad", "slowdown": 1.0},
                "fad.slowdown is an option of the policy 'auto', which is not chosen",
            ),
        ):
            with self.subTest(options), self.assertRaises(ValueError) as caught:
                backend(None, [], options={f"fad.{name}": each for name, each in options.items()})
            self.assertIn(message, str(caught.exception))

    def test_messages(self):
        for (name, value), message in self.MESSAGES.items():
            with self.subTest(name, value=value):
                with self.assertRaises(ValueError) as caught:
                    backend(None, [], options={f"fad.{name}": value})
                expected = f"options of the backend fad: {message}"
                self.assertEqual(str(caught.exception)[: len(expected)], expected)

    def test_compile(self):
        message = (
            r"ValueError: options of the backend fad: fad.budget is 0, and no step takes nothing"
        )
        with self.assertRaisesRegex(torch._dynamo.exc.BackendCompilerFailed, message):
            compile_with(torch.sigmoid, {"fad.budget": 0})(torch.ones(2, requires_grad=True))


class Checkpoints(unittest.TestCase):
    """A checkpoint around a compiled module whose graph has dynamic sizes when backward repeats
    the first batch."""

    def check(self, model, shapes, options):
        """`shapes` are those of the batches, or the shape of each sample of three batches."""
        if isinstance(shapes[0], int):
            shapes = [(n, *shapes) for n in (8, 16, 24)]
        torch._dynamo.reset()
        with self.subTest(model, **options), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="no selection that fad tries")
            warnings.filterwarnings("ignore", message="in a checkpoint")
            torch.manual_seed(0)
            compiled = torch.compile(model, backend="fad", options=options)
            batches = [torch.randn(shape, requires_grad=True) for shape in shapes]
            results = [
                torch.utils.checkpoint.checkpoint(compiled, x, use_reentrant=False) for x in batches
            ]
            sum(y.square().sum() for y in results).backward()
            if not any(isinstance(module, nn.Dropout) for module in model.modules()):
                for x in batches:
                    (expected,) = torch.autograd.grad(model(x).square().sum(), x)
                    torch.testing.assert_close(x.grad, expected)

    def test_nested(self):
        """The lengths of rows are no sizes, also where the program has been compiled before."""

        def function(x):
            return F.gelu(x) * 2

        for rows in ((3, 5), (4, 5), (6, 5)):
            compiled = compile_with(function, OPTIONS[0])
            values = [torch.randn(n, 8) for n in rows]
            x = torch.nested.nested_tensor(values, layout=torch.jagged, requires_grad=True)
            y = torch.utils.checkpoint.checkpoint(compiled, x, use_reentrant=False)
            y.values().square().sum().backward()
            flat = torch.cat(values).requires_grad_()
            (expected,) = torch.autograd.grad(function(flat).square().sum(), flat)
            torch.testing.assert_close(x.grad.values(), expected)

    def test_sizes(self):
        def make(layer):
            return nn.Sequential(nn.Linear(32, 128), layer, nn.LayerNorm(128), nn.Linear(128, 31))

        # The kernels of a normalization with dynamic sizes are in check-fad-nightly.
        small = nn.Sequential(nn.Linear(32, 128), nn.Dropout(0.5), nn.Linear(128, 31))
        self.check(small, (32,), {"fad.engine": "inductor"})
        budgets = ({}, {"fad.budget": 0.5}, {"fad.budget": 20000}, {"fad.residual_budget": 9000})
        for number, options in enumerate(budgets):
            if EVERY or number == 1:
                self.check(make(nn.GELU()), (32,), {"fad.engine": "eager", **options})
            if EVERY or number == 2:
                self.check(make(nn.Dropout(0.5)), (3, 32), {"fad.engine": "eager", **options})
        images = nn.Sequential(nn.Conv2d(3, 8, 3), nn.SiLU(), nn.Conv2d(8, 4, 3))
        # The batches, and their images, have other sizes.
        resized = [(2, 3, 9, 9), (2, 3, 12, 10), (4, 3, 7, 11)]
        self.check(images, resized, {"fad.engine": "eager"})
        if EVERY:
            self.check(images, (3, 9, 9), {"fad.engine": "eager"})
            self.check(images, resized, {"fad.engine": "inductor"})
            self.check(images, resized, {"fad.engine": "eager", "fad.budget": 0.5})
            self.check(images, (3, 9, 9), {"fad.engine": "inductor"})
            for options in budgets:
                self.check(make(nn.GELU()), (32,), options)
                self.check(make(nn.Dropout(0.5)), (3, 32), options)

    def warn(self, model, batches, options):
        """The warnings that batches of so many rows exceed the budget of a checkpoint of `model`."""
        torch._dynamo.reset()
        compiled = torch.compile(model, backend="fad", options=options)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for n in batches:
                x = torch.randn(n, 32, requires_grad=True)
                y = torch.utils.checkpoint.checkpoint(compiled, x, use_reentrant=False)
                y.square().sum().backward()
        texts = [str(each.message) for each in caught]
        return [text for text in texts if text.startswith("in a checkpoint")]

    def test_budgets(self):
        """A larger batch may exceed a budget that the first graph keeps."""
        model = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32))
        forms = {
            "fad.budget": "the peak of the graph is [\\d,]+ bytes",
            "fad.residual_budget": "[\\d,]+ bytes of the graph are saved",
        }
        for (name, form), engine in itertools.product(forms.items(), ("eager", "inductor")):
            if engine == "inductor" and not EVERY:
                continue
            with self.subTest(name, engine=engine):
                options = {"fad.engine": engine, name: 200_000}
                self.assertEqual(self.warn(model, (8, 16), options), [])
                (message,) = self.warn(model, (8, 4000), options)
                pattern = f"^in a checkpoint, {form} where the budget is 200,000: "
                self.assertRegex(message, pattern)
        # A fraction has no bytes.
        self.assertEqual(
            self.warn(model, (8, 4000), {"fad.engine": "eager", "fad.budget": 0.9}), []
        )

    def test_programs(self):
        """Programs that differ by constants or by the order of operands have sizes of their own,
        and none after a reset."""
        programs = [
            lambda x: F.gelu(x * 2.0) - x,
            lambda x: F.gelu(x * 3.0) - x,
            lambda x: x - F.gelu(x * 2.0),
        ]
        torch._dynamo.reset()
        known = _sizes._shapes
        self.assertEqual(len(known), 0)
        # A size may be an operand.
        programs += [
            lambda x: F.gelu(x.view(x.shape[0], -1)) * 5.0,
            lambda x: F.gelu(x) / x.shape[0],
            lambda x: F.gelu(x)[: x.shape[0] - 1],
        ]
        for number, function in enumerate(programs):
            compiled = torch.compile(function, backend="fad", options=OPTIONS[0])
            for n in (4, 6):
                compiled(torch.randn(n, 8, requires_grad=True))
                self.assertEqual(len(known), number + 1)
        torch._dynamo.reset()
        self.assertEqual(len(known), 0)


class NoElements(unittest.TestCase):
    def test_dropout(self):
        """PyTorch's mask of it is of floats where its graph has truth values."""

        def function(x):
            return F.dropout(F.relu(x), 0.5).softmax(-1)

        cases = [
            (shape, options)
            for shape in [(4, 0), (0, 4), (0,)]
            for options in choose_options(shape == (4, 0), shape == (4, 0))
        ]
        for shape, options in cases:
            with self.subTest(shape=shape, **options):
                x = torch.randn(shape, requires_grad=True)
                y = compile_with(function, options)(x)
                y.sum().backward()
                self.assertEqual([y.shape, x.grad.shape], [shape, shape])


if __name__ == "__main__":
    unittest.main(argv=[each for each in sys.argv if each != "--every"])

"""What torch.compile(backend="fad") does where PyTorch's own backends go wrong, or where a
tensor has no elements."""

import itertools
import unittest

import torch
import torch.nn.functional as F
from torch import nn

import fad.torch.compile  # noqa: F401

OPTIONS = [
    {"fad.engine": engine, **options}
    for engine, options in itertools.product(
        ("eager", "inductor"), ({}, {"fad.policy": "fad"}, {"fad.policy": "bp"})
    )
]
OPTIONS.append({"fad.engine": "eager", "fad.budget": 0.3})


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
        for (name, function), options in itertools.product(self.FUNCTIONS.items(), OPTIONS):
            if options["fad.engine"] == "inductor" and name != "sources":
                continue
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
        for options in OPTIONS:
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


class NoElements(unittest.TestCase):
    def test_dropout(self):
        """PyTorch's mask of it is of floats where its graph has truth values."""

        def function(x):
            return F.dropout(F.relu(x), 0.5).softmax(-1)

        for shape, options in itertools.product([(4, 0), (0, 4), (0,)], OPTIONS):
            with self.subTest(shape=shape, **options):
                x = torch.randn(shape, requires_grad=True)
                y = compile_with(function, options)(x)
                y.sum().backward()
                self.assertEqual([y.shape, x.grad.shape], [shape, shape])


if __name__ == "__main__":
    unittest.main()

"""Models that fad.torch refuses: each error says what is in the way, where in the model,
and what to do."""

import re
import unittest

import torch
from torch import nn

import fad.torch
from exported_step import export_step


class Doubled(torch.autograd.Function):
    """Has a gradient that is not that of its values."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient


def hook(y):
    y.register_hook(lambda gradient: 3 * gradient)
    return y


def branch(y):
    return torch.cond(y.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (y,))


OTHER = nn.Linear(4, 4)

# Functions of a linear layer's result, and the messages about them.
CASES = {
    "nonzero": (lambda y: y[y > 0], "has a result whose size depends on values; keep"),
    "inverse": (torch.linalg.inv, "_linalg_check_errors.default may fail, depending"),
    "branch": (branch, "torch.cond has no form in torch-mlir; compute both branches"),
    "strides": (
        lambda y: y[1:].detach().t().as_strided((2, 2), (1, 2), 0) * y.sum(),
        "error: as_strided reads the memory of a detached tensor, which is another one in the "
        "exported program; detach the result of as_strided instead",
    ),
    "special": (
        lambda y: torch.special.airy_ai(y),
        "torch-mlir cannot lower aten.special_airy_ai; write it in terms of other",
    ),
    # torch-mlir names an operand of it, without a line.
    "remainder": (
        lambda y: torch.diagonal_scatter(y, y[0]),
        "error: torch-mlir cannot lower aten.diagonal_scatter; write it in terms of other",
    ),
    "values": (
        torch.corrcoef,
        "error: aten.equal.default looks at the values of tensors, which are not known",
    ),
    "function": (
        Doubled.apply,
        "the backward of Doubled, a torch.autograd.Function",
    ),
    "hook": (hook, "a hook on a gradient is not exported; change the gradients after"),
    "captured": (
        lambda y: OTHER(y),
        r"a tensor of shape \(4, 4\) that requires a gradient is neither an input nor",
    ),
}


class Network(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.function = function

    def forward(self, x):
        return self.function(self.linear(x))


LINE = Network.forward.__code__.co_firstlineno + 1


def export(function, loss=torch.sum):
    return fad.torch.export(Network(function), torch.randn(4, 4), loss)


class Changed(nn.Module):
    """Changes its parameter and its input."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x):
        with torch.no_grad():
            self.weight.mul_(0.5)
        x.add_(1)
        return (x * self.weight).sum()


class Unsupported(unittest.TestCase):
    def test_operations(self):
        for name, (function, message) in CASES.items():
            # The line of the function, or of its call where it is PyTorch's.
            code = getattr(function, "__code__", None)
            lines = range(code.co_firstlineno, LINE) if code else [LINE]
            with self.subTest(name):
                with self.assertRaisesRegex(fad.torch.ExportError, message) as caught:
                    export(function)
                (diagnostic,) = caught.exception.diagnostics
                self.assertEqual(diagnostic.location.file, __file__)
                self.assertIn(diagnostic.location.line, [*lines, LINE])

    def test_all_are_listed(self):
        with self.assertRaises(fad.torch.ExportError) as caught:
            export(lambda y: y[y > 0].sum() * y[y < 0].sum() * y)
        self.assertEqual(len(caught.exception.diagnostics), 2)

    def test_changed_in_place(self):
        with self.assertRaises(fad.torch.ExportError) as caught:
            fad.torch.export(Changed(), torch.randn(4))
        first = Changed.forward.__code__.co_firstlineno + 2
        message = (
            "error: the model changes {} in place; only buffers may be changed: work on a copy"
        )
        expected = [
            f"{__file__}:{first}:0: {message.format('weight')}",
            f"{__file__}:{first + 1}:0: {message.format('x')}",
        ]
        self.assertEqual(str(caught.exception).split("\n"), expected)

    def test_without_data(self):
        model = nn.Linear(4, 4, device="meta")
        message = "torch.export cannot trace the model: .* on the same device"
        with self.assertRaisesRegex(fad.torch.ExportError, message):
            fad.torch.export(model, torch.randn(4, 4), torch.sum)

    def test_loss(self):
        """Operations of a loss have the line of the loss."""

        def loss(y):
            return torch.special.airy_ai(y).sum()

        line = loss.__code__.co_firstlineno
        place = re.escape(
            f"{__file__}:{line}:0: error: torch-mlir cannot lower aten.special_airy_ai"
        )
        with self.assertRaisesRegex(fad.torch.ExportError, place):
            export(nn.Identity(), loss)

    def test_captured_by_a_loss(self):
        weight = nn.Parameter(torch.ones(4))
        message = r"a tensor of shape \(4,\) that requires a gradient is neither"
        for export_any in (fad.torch.export, fad.torch.export_joint):
            with self.assertRaisesRegex(fad.torch.ExportError, message):
                export_any(nn.Linear(4, 4), torch.randn(4, 4), lambda y: (y * weight).sum())

    def test_captured_constants(self):
        """A value without a gradient may come from anywhere, and so may the parameters
        of the model."""
        model = nn.Linear(4, 4)

        def loss(y):
            with torch.no_grad():
                expected = OTHER(y)
            return (y - expected).square().sum() + model.weight.square().sum()

        x = torch.randn(4, 4)
        expected = loss(model(x))
        expected.backward()
        got, gradients = export_step(model, x, loss)(x)
        torch.testing.assert_close(got, expected.detach())
        # The gradient does not flow through `expected`.
        torch.testing.assert_close(gradients["weight"], model.weight.grad)

    def test_hooks(self):
        for part, name in (("weight", "'linear.weight'"), ("", "'linear'")):
            model = Network(nn.Identity())
            if part:
                model.linear.weight.register_hook(lambda gradient: gradient)
            else:
                model.linear.register_full_backward_hook(lambda *arguments: None)
            with self.assertRaisesRegex(
                fad.torch.ExportError, f"{name} has a hook on its gradient, which"
            ):
                fad.torch.export(model, torch.randn(4, 4), torch.sum)

    def test_scripted(self):
        model = torch.jit.script(nn.Linear(4, 4))
        with self.assertRaisesRegex(TypeError, "a TorchScript module cannot be"):
            fad.torch.export(model, torch.randn(4, 4), torch.sum)


if __name__ == "__main__":
    unittest.main()

"""Results of fad.torch.export: names, order, types, errors."""

import sys
import unittest
from unittest import mock

import torch
from torch import nn
import torch.nn.functional as F

import fad
import fad.torch


def names(values, kind):
    return [each.name for each in values if each.kind == kind]


class Tied(nn.Module):
    """Two layers share a weight, and one parameter is not used."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.unused = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


class Names(unittest.TestCase):
    def test_order(self):
        model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
        exported = fad.torch.export(model, torch.randn(5, 4), F.mse_loss, targets=torch.randn(5, 3))
        self.assertEqual(
            [(each.kind, each.name) for each in exported.arguments],
            [
                ("parameter", "0.weight"),
                ("parameter", "0.bias"),
                ("parameter", "1.weight"),
                ("parameter", "1.bias"),
                ("buffer", "1.running_mean"),
                ("buffer", "1.running_var"),
                ("buffer", "1.num_batches_tracked"),
                ("input", "input"),
                ("input", "target"),
            ],
        )
        self.assertEqual(exported.arguments[0].shape, (3, 4))
        self.assertEqual(exported.arguments[0].dtype, torch.float32)
        self.assertEqual(exported.arguments[6].dtype, torch.int64)
        self.assertEqual(exported.results[0], ("loss", "loss"))
        self.assertEqual(
            sorted(names(exported.results, "buffer")),
            ["1.num_batches_tracked", "1.running_mean", "1.running_var"],
        )
        self.assertEqual(exported.wrt, (0, 1, 2, 3))
        self.assertEqual(exported.differentiated, (0,))
        # The module agrees.
        signature = exported.module.signature(exported.entry)
        self.assertEqual(
            [each.shape for each in signature.arguments],
            [each.shape for each in exported.arguments],
        )
        self.assertEqual(len(signature.results), len(exported.results))

    def test_evaluation_mode_keeps_buffers(self):
        model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).eval()
        exported = fad.torch.export(model, torch.randn(5, 4), F.mse_loss, targets=torch.randn(5, 3))
        self.assertEqual(exported.results, (("loss", "loss"),))
        self.assertTrue(not model.training)

    def test_tied_and_unused(self):
        exported = fad.torch.export(Tied(), torch.randn(5, 4), lambda y: y.square().mean())
        self.assertEqual(
            sorted(names(exported.arguments, "parameter")),
            ["first.bias", "first.weight", "second.bias", "unused"],
        )
        trained = {exported.arguments[index].name for index in exported.wrt}
        self.assertEqual(trained, {"first.bias", "first.weight", "second.bias"})

    def test_frozen(self):
        model = nn.Linear(4, 3)
        model.bias.requires_grad_(False)
        exported = fad.torch.export(model, torch.randn(5, 4), lambda y: y.sum())
        self.assertEqual([exported.arguments[index].name for index in exported.wrt], ["weight"])

    def test_dynamic_batch(self):
        model = nn.Linear(4, 3)
        exported = fad.torch.export(
            model,
            torch.randn(5, 4),
            lambda y, t, s: (s * (y - t)).square().mean(),
            targets=(torch.randn(5, 3), torch.ones(3)),
            dynamic_batch=True,
        )
        shapes = {each.name: each.shape for each in exported.arguments}
        self.assertEqual(shapes["input"], (None, 4))
        self.assertEqual(shapes["t"], (None, 3))
        self.assertEqual(shapes["s"], (3,))

    def test_function_name(self):
        exported = fad.torch.export(
            nn.Linear(4, 3), torch.randn(5, 4), lambda y: y.sum(), func_name="line"
        )
        self.assertEqual(exported.entry, "line")
        self.assertEqual(exported.module.functions, ("line",))


class Output(nn.Module):
    """Returns its loss the way that `how` says."""

    def __init__(self, how):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.how = how

    def forward(self, x, scale=None, labels=None):
        y = (self.weight * x).sum()
        y = y if scale is None else scale * y
        return {
            "alone": y,
            "tuple": (y, None),
            "mapping": {"logits": x, "loss": y},
            "none": {"logits": x, "loss": None},
            "shape": x * self.weight,
            "integer": y.to(torch.int64),
        }[self.how]


class Losses(unittest.TestCase):
    def export(self, how, inputs=None):
        return fad.torch.export(Output(how), torch.randn(4) if inputs is None else inputs)

    def test_returned_by_the_model(self):
        for how in ("alone", "tuple", "mapping"):
            with self.subTest(how=how):
                exported = self.export(how)
                self.assertEqual(exported.results, (("loss", "loss"),))

    def test_keywords_and_constants(self):
        exported = self.export("alone", {"x": torch.randn(4), "scale": 3.0, "labels": None})
        self.assertEqual(names(exported.arguments, "input"), ["x"])
        (loss,) = fad.run(exported.module, "main", torch.ones(4).numpy(), torch.ones(4).numpy())
        self.assertEqual(loss, 12.0)

    def test_no_loss(self):
        with self.assertRaisesRegex(ValueError, "the model returns no loss, but NoneType"):
            self.export("none")
        with self.assertRaisesRegex(
            ValueError, r"of torch.float32 of shape \(4,\); a loss is one floating"
        ):
            self.export("shape")
        with self.assertRaisesRegex(ValueError, "the model returns a tensor of torch.int64"):
            self.export("integer")

    def test_targets_need_a_loss(self):
        with self.assertRaisesRegex(ValueError, "targets are given, but no loss"):
            fad.torch.export(Output("alone"), torch.randn(4), targets=torch.ones(4))


class Unlowerable(nn.Module):
    def forward(self, x):
        return torch.linalg.eigvalsh(x).sum()


class DataDependent(nn.Module):
    def forward(self, x):
        return x.sum() if x.sum() > 0 else x.square().sum()


class Errors(unittest.TestCase):
    def test_without_torch_mlir(self):
        with mock.patch.dict(sys.modules, {"torch_mlir": None}):
            with self.assertRaisesRegex(
                ImportError,
                "^exporting needs torch-mlir; install it with: pip install torch-mlir$",
            ):
                fad.torch.export(Output("alone"), torch.randn(4))

    def test_no_module(self):
        with self.assertRaisesRegex(TypeError, "function is no torch.nn.Module"):
            fad.torch.export(lambda x: x, torch.randn(4))

    def test_input_of_another_kind(self):
        with self.assertRaisesRegex(TypeError, "input 'x' is a list; inputs are tensors"):
            fad.torch.export(Output("alone"), {"x": [1, 2]})

    def test_batch_of_one(self):
        with self.assertRaisesRegex(ValueError, "a batch of 2 or more"):
            fad.torch.export(
                nn.Linear(4, 3),
                torch.randn(1, 4),
                lambda y: y.sum(),
                dynamic_batch=True,
            )

    def test_without_lowering(self):
        with self.assertRaisesRegex(
            fad.Error,
            r"check_torch_export.py:166:0: error: torch-mlir cannot .*linalg_eigh",
        ):
            fad.torch.export(Unlowerable(), torch.randn(4, 4))

    def test_control_flow_on_values(self):
        with self.assertRaisesRegex(fad.torch.ExportError, "torch.export cannot trace"):
            fad.torch.export(DataDependent(), torch.randn(4))


class Activations(unittest.TestCase):
    """Modules of PyTorch become primitives, of which auto keeps one tensor: the operand,
    or the result, which the layer behind reads."""

    MODULES = {
        "fad.relu": nn.ReLU(),
        "fad.celu": nn.CELU(2.0),
        "fad.hardtanh": nn.Hardtanh(),
        "fad.logsigmoid": nn.LogSigmoid(),
        "fad.softsign": nn.Softsign(),
    }

    def test_modules(self):
        for name, module in self.MODULES.items():
            with self.subTest(name=name):
                model = nn.Sequential(nn.Linear(4, 6, False), module, nn.Linear(6, 4, False))
                exported = fad.torch.export(model, torch.randn(3, 4), loss=torch.sum)
                nested = fad.nest(exported.module, policy="auto")
                self.assertIn(f"{name} ", str(nested.module))
                shapes = sorted(tuple(each.type.shape) for each in nested.residuals)
                self.assertEqual(shapes, [(3, 4), (3, 6), (4, 6), (6, 4)])


if __name__ == "__main__":
    torch.manual_seed(0)
    unittest.main()

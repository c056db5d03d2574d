"""The joint graph of AOTAutograd: as exported, and split by fad."""

import unittest

import numpy
import torch
from torch import nn
import torch.nn.functional as F

import fad
import fad.torch
from exported_step import _to_numpy, _to_torch, export_step
from small_models import Numbers, make_perceptron


class Rows(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.rows = nn.Embedding(6, 4, padding_idx=0, **options)
        self.linear = nn.Linear(4, 3)

    def forward(self, ids):
        return self.linear(F.gelu(self.rows(ids)).mean(1))


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)

    def forward(self, x):
        return F.max_pool2d(F.gelu(self.conv(x)), 3, stride=2, padding=1)


class DataDependent(nn.Linear):
    def forward(self, x):
        y = super().forward(x).sum()
        return y if y > 0 else -y


class Tied(nn.Module):
    """Its two matrices are one parameter, with another one behind it."""

    def __init__(self):
        super().__init__()
        self.rows = nn.Embedding(6, 4)
        self.linear = nn.Linear(4, 6, bias=False)
        self.linear.weight = self.rows.weight
        self.scale = nn.Parameter(torch.ones(6))

    def forward(self, ids):
        return (self.linear(F.silu(self.rows(ids))) * self.scale).flatten(0, 1)


class Maxima(nn.Linear):
    def forward(self, x):
        y = super().forward(x)
        return y.max(-1).values + y.min(-2, keepdim=True).values.sum()


class Joint(unittest.TestCase):
    def test_gradients(self):
        torch.manual_seed(1)
        model, inputs, target = make_perceptron()
        exported = fad.torch.export_joint(model, inputs, F.mse_loss, targets=target)
        loss = F.mse_loss(model(inputs), target)
        loss.backward()
        parameters = dict(model.named_parameters())
        self.assertEqual(
            [(each.kind, each.name) for each in exported.arguments],
            [("parameter", name) for name in parameters]
            + [("input", "input"), ("input", "target"), ("cotangent", "cotangent")],
        )
        self.assertEqual(
            [(each.kind, each.name) for each in exported.results],
            [("loss", "loss")] + [("gradient", name) for name in parameters],
        )
        arguments = [
            each.detach().numpy()
            for each in (*parameters.values(), inputs, target, torch.tensor(2.0))
        ]

        def check(got_loss, gradients):
            self.assertAlmostEqual(float(got_loss), loss.item(), places=5)
            for got, parameter in zip(gradients, parameters.values(), strict=True):
                expected = 2 * parameter.grad.numpy()
                bound = 1e-5 * numpy.abs(expected).max()
                numpy.testing.assert_allclose(got, expected, rtol=0, atol=bound)

        got_loss, *gradients = fad.run(exported.module, "main", *arguments)
        check(got_loss, gradients)

        # The marks are those of fad-differentiate.
        for policy in ("bp", "recompute", "fad", "auto"):
            with self.subTest(policy=policy):
                pair = fad.nest(exported.module, policy=policy)
                self.assertEqual(pair.forward, "main_forward")
                got_loss, *residuals = fad.run(pair.module, pair.forward, *arguments[:-1])
                gradients = fad.run(pair.module, pair.backward, *residuals, arguments[-1])
                check(got_loss, gradients)
                self.assertEqual(
                    [each.argument for each in pair.gradients],
                    list(range(len(parameters))),
                )

    def test_numbers_of_f64(self):
        model, y = Numbers(), torch.tensor([1.0, 1.1, 1.2, 1.3], dtype=torch.float64)
        loss = model(y)
        loss.backward()
        module = fad.torch.export_joint(model, y).module
        arguments = [each.detach().numpy() for each in (model.x, y, torch.tensor(1.0))]
        got_loss, gradient = fad.run(module, "main", *arguments)
        numpy.testing.assert_allclose(got_loss, loss.item(), rtol=1e-14)
        numpy.testing.assert_allclose(gradient, model.x.grad, rtol=1e-13)

    def test_operations_without_linalg(self):
        """Those whose adjoints scatter, for PyTorch."""
        torch.manual_seed(2)
        ids = torch.tensor([[1, 2, 0], [2, 4, 3]])
        labels = torch.tensor([1, 0])
        image = torch.randn(2, 2, 7, 8)
        maxima = nn.Sequential(Maxima(4, 5), nn.Linear(2, 3))
        for model, x in (
            (maxima, torch.randn(2, 2, 4)),
            (Rows(), ids),
            (Rows(scale_grad_by_freq=True), ids),
            (nn.Sequential(Pool(), nn.Flatten(), nn.Linear(64, 3)), image),
        ):
            exported = fad.torch.export_joint(model, x, F.cross_entropy, targets=labels)
            loss = F.cross_entropy(model(x), labels)
            loss.backward()
            arguments = [each.detach().numpy() for each in (*model.parameters(), x, labels)]
            # The gradient of a table takes no more than the table.
            self.assertEqual(isinstance(model, Rows), "fad.scatter_add" in str(exported.module))
            pair = fad.nest(exported.module, policy="auto")
            got, *residuals = fad.run(pair.module, pair.forward, *arguments)
            one = numpy.ones((), numpy.float32)
            gradients = fad.run(pair.module, pair.backward, *residuals, one)
            self.assertAlmostEqual(float(got), loss.item(), places=5)
            for gradient, parameter in zip(gradients, model.parameters(), strict=True):
                numpy.testing.assert_allclose(
                    gradient, parameter.grad.numpy(), rtol=1e-5, atol=1e-6
                )

    def test_frequency(self):
        """A row that is read more often than the type of the table counts to."""

        class Model(nn.Module):
            def __init__(self, dtype):
                super().__init__()
                self.rows = nn.Embedding(3, 2, scale_grad_by_freq=True, dtype=dtype)

            def forward(self, ids):
                return self.rows(ids)[:3].sum()

        ids = torch.ones(3000, dtype=torch.long)
        expected = torch.tensor([0, 3 / 3000, 0]).unsqueeze(1).expand(3, 2)
        for dtype in (torch.bfloat16, torch.float16):
            model = Model(dtype)
            joint = fad.torch.export_joint(model, ids)
            pair = fad.nest(joint.module, policy="auto")
            program = fad.compile(pair)
            table = _to_numpy(model.rows.weight)
            _, *residuals = program.call(pair.forward, table, ids.numpy())
            one = numpy.ones((), pair.cotangents[0].dtype)
            (gradient,) = program.call(pair.backward, *residuals, one)
            _, gradients = export_step(model, ids)(ids)
            for got in (_to_torch(gradient), gradients["rows.weight"]):
                torch.testing.assert_close(got.float(), expected, rtol=1e-2, atol=0)

    def test_shared_parameters(self):
        torch.manual_seed(3)
        model, ids = Tied(), torch.tensor([[1, 2, 0], [2, 4, 3]])
        labels = torch.tensor([1, 0, 5, 2, 2, 3])
        exported = fad.torch.export_joint(model, ids, F.cross_entropy, targets=labels)
        names = ["scale", "rows.weight"]
        self.assertEqual(
            [each.name for each in exported.arguments],
            [*names, "ids", "target", "cotangent"],
        )
        self.assertEqual([each.name for each in exported.results], ["loss", *names])
        F.cross_entropy(model(ids), labels).backward()
        pair = fad.nest(exported.module, policy="auto")
        parameters = list(model.parameters())
        arguments = [each.detach().numpy() for each in (*parameters, ids, labels)]
        _, *residuals = fad.run(pair.module, pair.forward, *arguments)
        one = numpy.ones((), numpy.float32)
        gradients = fad.run(pair.module, pair.backward, *residuals, one)
        for gradient, parameter in zip(gradients, parameters, strict=True):
            numpy.testing.assert_allclose(gradient, parameter.grad.numpy(), rtol=1e-5, atol=1e-6)

    def test_buffers_and_frozen_parameters(self):
        model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
        model[0].bias.requires_grad_(False)
        exported = fad.torch.export_joint(model, torch.randn(5, 4), lambda y: y.square().sum())
        kinds = {}
        for kind, name in exported.results:
            kinds.setdefault(kind, []).append(name)
        self.assertEqual(kinds["loss"], ["loss"])
        self.assertEqual(kinds["gradient"], ["0.weight", "1.weight", "1.bias"])
        self.assertEqual(
            sorted(kinds["buffer"]),
            ["1.num_batches_tracked", "1.running_mean", "1.running_var"],
        )
        self.assertEqual(
            [exported.arguments[index].name for index in exported.wrt],
            ["0.weight", "1.weight", "1.bias"],
        )

    def test_control_flow_on_values(self):
        with self.assertRaisesRegex(
            fad.torch.ExportError,
            r"check_torch_joint.py:38:0: error: AOTAutograd cannot trace the model: ",
        ):
            fad.torch.export_joint(DataDependent(4, 3), torch.randn(5, 4))


if __name__ == "__main__":
    unittest.main()

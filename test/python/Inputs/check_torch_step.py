"""Steps of export_step against PyTorch.

usage: check_torch_step.py ENGINE [--every]

What does not depend on the engine is checked with fad's own. Without --every, one model
has every policy, the other models have those of the tests of options and of batches, and
options and types are a sample."""

import copy
import sys
import unittest

import torch
from torch import nn
import torch.nn.functional as F

import fad.torch
from exported_step import export_step
from small_models import MODELS, Numbers

ENGINE = "fad"
POLICIES = ("bp", "recompute", "fad", "auto")
# The model that has every policy: its activation is a chain, of which a tape keeps
# every link.
CHAINED = "perceptron"
EVERY = False
LEVELS = ("nothing", "elementwise", "reductions", "all")


def reference(model, inputs, target):
    """The loss and gradients of PyTorch, in f64, and the model with its buffers
    updated."""
    model = copy.deepcopy(model).double()
    loss = F.mse_loss(model(inputs.double()), target.double())
    loss.backward()
    return loss, {name: p.grad for name, p in model.named_parameters()}, model


class Step(unittest.TestCase):
    def assert_close(self, got, expected, scale):
        difference = (got.double() - expected).abs().max().item()
        self.assertLessEqual(difference, 1e-5 * scale)

    def check_step(self, model, inputs, target, **options):
        loss, gradients, updated = reference(model, inputs, target)
        model = copy.deepcopy(model)
        step = export_step(model, inputs, F.mse_loss, targets=target, engine=ENGINE, **options)
        got_loss, got = step(inputs, target)
        self.assert_close(got_loss, loss, loss.item())
        self.assertEqual(set(got), set(gradients))
        # Some gradients are zero but for rounding.
        floor = 1e-2 * max(each.abs().max().item() for each in gradients.values())
        for name, expected in gradients.items():
            with self.subTest(parameter=name):
                self.assertEqual(got[name].dtype, model.get_parameter(name).dtype)
                scale = max(floor, expected.abs().max().item())
                self.assert_close(got[name], expected, scale)
        for name, expected in updated.named_buffers():
            with self.subTest(buffer=name):
                scale = max(1, expected.abs().max().item())
                self.assert_close(model.get_buffer(name), expected, scale)
        return step

    def test_models_and_policies(self):
        for name, make in MODELS.items():
            if name != CHAINED and not EVERY and ENGINE == "fad":
                continue
            kept, exported = {}, None
            for policy in POLICIES:
                with self.subTest(model=name, policy=policy):
                    torch.manual_seed(1)
                    step = self.check_step(*make(), policy=policy, exported=exported)
                    kept[policy], exported = step.residual_bytes, step.exported
            if name == CHAINED and ENGINE == "fad":
                self.assertLess(kept["recompute"], kept["fad"])
                self.assertLess(kept["fad"], kept["bp"])
            self.assertEqual(kept["auto"], min(kept.values()))

    def test_dynamic_batch(self):
        torch.manual_seed(1)
        model, inputs, target = MODELS["convolution"]()
        step = self.check_step(model, inputs, target, dynamic_batch=True)
        kept = step.residual_bytes
        step(inputs[:3], target[:3])
        self.assertLess(step.residual_bytes, kept)

    def test_options_of_auto(self):
        torch.manual_seed(1)
        example = MODELS["attention"]()
        kept, exported = [], None
        for level in LEVELS if EVERY else (LEVELS[0], LEVELS[-1]):
            step = self.check_step(*example, policy="auto", recompute=level, exported=exported)
            kept.append(step.residual_bytes)
            exported = step.exported
        self.assertEqual(kept, sorted(kept, reverse=True))
        self.assertGreater(kept[0], kept[-1])
        # The residuals of a batch follow from the choice that it was made by.
        model, inputs, target = MODELS["convolution"]()
        step = self.check_step(
            model, inputs, target, policy="auto", assumed_size=3, dynamic_batch=True
        )
        kept = step.residual_bytes
        step(inputs[:1], target[:1])
        self.assertLess(step.residual_bytes, kept)

    def test_another_batch(self):
        torch.manual_seed(1)
        model, inputs, target = MODELS["perceptron"]()
        step = export_step(
            model, inputs, F.mse_loss, targets=target, engine=ENGINE, dynamic_batch=True
        )
        for rows in (8, 1, 3):
            loss, _, _ = reference(model, inputs[:rows], target[:rows])
            got, _ = step(inputs[:rows], target=target[:rows])
            self.assert_close(got, loss, loss.item())

    def test_tied_and_unused(self):
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Linear(4, 4, bias=False)
                self.out = nn.Linear(4, 4, bias=False)
                self.out.weight = self.table.weight
                self.unused = nn.Parameter(torch.ones(2))

            def forward(self, x):
                return self.out(torch.tanh(self.table(x)))

        torch.manual_seed(1)
        model, inputs, target = Tied(), torch.randn(3, 4), torch.randn(3, 4)
        step = export_step(model, inputs, F.mse_loss, targets=target, engine=ENGINE)
        _, got = step(inputs, target)
        _, gradients, _ = reference(model, inputs, target)
        self.assert_close(got["table.weight"], gradients["table.weight"], 1)
        self.assertNotIn("unused", got)

    def test_no_gradient(self):
        """Tensors that are detached, computed without gradients, or padding."""

        class Parts(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(5, 4, padding_idx=2)
                self.first = nn.Linear(4, 4)
                self.second = nn.Linear(4, 4)
                nn.init.ones_(self.table.weight)

            def forward(self, words):
                x = self.first(self.table(words))
                with torch.no_grad():
                    scale = torch.tanh(self.second(x)).amax(-1, keepdim=True)
                return self.second(x + x.detach() * self.table.weight[2]) * scale

        torch.manual_seed(1)
        model, words = Parts(), torch.tensor([[2, 1, 4], [0, 2, 2]])
        loss = model(words).square().sum()
        loss.backward()
        step = export_step(model, words, lambda y: y.square().sum(), engine=ENGINE)
        got_loss, got = step(words)
        self.assertAlmostEqual(got_loss.item(), loss.item(), places=4)
        for name, parameter in model.named_parameters():
            with self.subTest(parameter=name):
                torch.testing.assert_close(got[name], parameter.grad)

    def test_scans(self):
        """Sums and products of each element with those before it."""

        class Scans(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.randn(3, 5))

            def forward(self, x):
                counts = (x > 0).cumsum(1)
                y = (self.weight * x).cumsum(-1) * self.weight.cumprod(0)
                return y + counts * self.weight

        torch.manual_seed(1)
        for policy in POLICIES if EVERY or ENGINE != "fad" else ("auto",):
            self.check_step(Scans(), torch.randn(3, 5), torch.randn(3, 5), policy=policy)

    def test_dropout(self):
        """Each step draws another mask; backward uses the one of its forward."""
        dropout = nn.Dropout(0.5)
        model = nn.Sequential(nn.Linear(64, 64, bias=False), dropout)
        with torch.no_grad():
            model[0].weight.copy_(torch.eye(64))
        inputs = torch.ones(2, 64)
        step = export_step(model, inputs, torch.sum, engine=ENGINE)
        losses = set()
        for _ in range(4):
            loss, gradients = step(inputs)
            kept = loss.item() / 2
            self.assertEqual(kept, round(kept))
            # A row of the gradient sums what is kept of one column.
            self.assertEqual(gradients["0.weight"][:, 0].sum().item(), loss.item())
            losses.add(loss.item())
        self.assertGreater(len(losses), 1)
        self.assertEqual(step.residual_bytes, 8)

    def test_dropout_of_all(self):
        model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(1.0))
        inputs = torch.ones(2, 4)
        step = export_step(model, inputs, lambda y: y.cos().sum())
        loss, gradients = step(inputs)
        self.assertEqual(loss.item(), 8)
        for gradient in gradients.values():
            self.assertEqual(gradient.abs().max().item(), 0)

    def test_outputs(self):
        """The results of the model, in their form, and nothing else changes."""

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear, self.norm = nn.Linear(16, 4), nn.BatchNorm1d(4)

            def forward(self, x, target=None):
                y = self.norm(self.linear(x))
                loss = None if target is None else F.mse_loss(y, target)
                return {"loss": loss, "y": y, "parts": [y.argmax(-1), "text", x], "n": 3}

        torch.manual_seed(1)
        model, x, target = Model(), torch.randn(8, 16), torch.randn(8, 4)
        example = {"x": x, "target": target}
        for inputs, targets, loss in (
            (example, (), None),
            (x, target, lambda result, target: F.mse_loss(result["y"], target)),
        ):
            step = export_step(model, inputs, loss, targets=targets, engine=ENGINE, outputs=True)
            expected = copy.deepcopy(model)(x, target if loss is None else None)
            plain = export_step(copy.deepcopy(model), inputs, loss, targets=targets, engine=ENGINE)
            got_loss, gradients, output = step(x, target)
            self.assertEqual(plain(x, target)[0], got_loss)
            self.assertEqual(set(gradients), {name for name, _ in model.named_parameters()})
            self.assertEqual(output.keys(), expected.keys())
            self.assertEqual(output["loss"], got_loss if loss is None else None)
            self.assert_close(output["y"], expected["y"].double(), 10)
            self.assertFalse(output["y"].requires_grad)
            indices, text, same = output["parts"]
            self.assertTrue(torch.equal(indices, expected["parts"][0]))
            self.assertTrue(torch.equal(same, x))
            self.assertEqual((text, output["n"]), ("text", 3))

    def test_outputs_of_unknown_types(self):
        class Model(nn.Linear):
            def forward(self, x):
                return type("Result", (), {"loss": super().forward(x).sum()})()

        with self.assertRaisesRegex(
            fad.torch.ExportError, "the model returns a Result; return tensors"
        ):
            export_step(Model(4, 4), torch.randn(2, 4), outputs=True)

    def test_numbers_of_f64(self):
        model, y = Numbers(), torch.tensor([1.0, 1.1, 1.2, 1.3], dtype=torch.float64)
        model(y).backward()
        step = export_step(copy.deepcopy(model), y, engine=ENGINE)
        loss, gradients = step(y)
        torch.testing.assert_close(loss, model(y).detach(), rtol=1e-14, atol=0)
        torch.testing.assert_close(gradients["x"], model.x.grad, rtol=1e-13, atol=0)

    def test_half(self):
        torch.manual_seed(1)
        for dtype in (torch.bfloat16, torch.float16, torch.float64)[: 3 if EVERY else 1]:
            with self.subTest(dtype=dtype):
                model = nn.Sequential(nn.Linear(8, 8), nn.SiLU()).to(dtype)
                inputs, target = torch.randn(4, 8, dtype=dtype), torch.randn(4, 8, dtype=dtype)
                loss, gradients, _ = reference(model, inputs, target)
                step = export_step(model, inputs, F.mse_loss, targets=target, engine=ENGINE)
                got_loss, got = step(inputs, target)
                bound = 20 * torch.finfo(dtype).eps
                self.assertLessEqual(abs(got_loss.item() - loss.item()), bound * loss.item())
                for name, expected in gradients.items():
                    self.assertEqual(got[name].dtype, dtype)
                    error = (got[name].double() - expected).abs().max()
                    self.assertLessEqual(error, bound * expected.abs().max())


class Names(unittest.TestCase):
    def test_attributes(self):
        with self.assertRaisesRegex(AttributeError, "no attribute 'nets'; did you mean 'nest'"):
            fad.torch.nets  # noqa: B018
        self.assertLessEqual({"explain", "nest", "nn"}, set(dir(fad.torch)))


if __name__ == "__main__":
    ENGINE = sys.argv.pop(1)
    EVERY = "--every" in sys.argv
    if EVERY:
        sys.argv.remove("--every")
    if ENGINE == "fad":
        unittest.main()
    POLICIES, LEVELS = ("fad", "auto"), ("nothing", "all")
    unittest.main(defaultTest="Step")

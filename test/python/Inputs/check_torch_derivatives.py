"""Operations that PyTorch differentiates otherwise than its values say, and those that fad.torch
has forms of its own for.

usage: check_torch_derivatives.py [--every]

Without --every, there is one policy in place of four, and no model of 53
normalizations."""

import copy
import math
import sys
import unittest
from unittest import mock

import torch
from torch import nn
import torch.nn.functional as F

import fad
import fad.torch
from exported_step import export_step
from fad.torch._export import trace
from many import Many, check, compute, weigh

EVERY = "--every" in sys.argv
POLICIES = ("bp", "recompute", "fad", "auto") if EVERY else ("auto",)


def run_without_grad(mode):
    def function(x):
        with mode():
            y = x.sin()
        return x * y.clone()

    return function


def nest_modes(x):
    with torch.no_grad():
        y = x.sin()
        with torch.enable_grad():
            z = x * y
    return z


def straighten(x):
    """The computation of gumbel_softmax(hard=True)."""
    y = x.softmax(0)
    hard = F.one_hot(y.argmax(), y.shape[0]).to(y)
    return hard - y.detach() + y


def quantize_by_tensors(x):
    scale, zero_point = torch.tensor(0.1), torch.tensor(3, dtype=torch.int32)
    return torch.fake_quantize_per_tensor_affine(x, scale, zero_point, -4, 5)


def quantize_by_channels(x):
    scales = torch.tensor([0.1, 0.3], dtype=torch.float32)
    zero_points = torch.tensor([0, 2], dtype=torch.int32)
    x = x.reshape(4, 2).contiguous()
    return torch.fake_quantize_per_channel_affine(x, scales, zero_points, 1, -4, 5)


def learn_scale(x):
    """The last two numbers are the scale and the zero point."""
    return torch._fake_quantize_learnable_per_tensor_affine(
        x[:-2], x[-2:-1].abs(), x[-1:], -4, 5, 0.5
    )


def learn_scales(x):
    scales, zero_points = x[:2].abs() + 0.1, x[2:4] * 0
    return torch._fake_quantize_learnable_per_channel_affine(
        x.reshape(4, 2), scales, zero_points, 1, -4, 5, 0.25
    )


def attend(x):
    """Its decomposition has other strides than its kernel."""
    heads = (each.reshape(2, 2, 2, 1).transpose(1, 2) for each in (x, x.sin(), x.cos()))
    return F.scaled_dot_product_attention(*heads).transpose(1, 2)


def change_view(x):
    y = x.sin().reshape(2, 2, 2)
    z = y.transpose(1, 2).view(2, 2, 2, 1)
    z.mul_(2)
    return y.cos()


def view_changed(x):
    """The attention beside is viewed with the strides of its kernel."""
    y = x.sin()
    z = y.view(4, 2)
    y.mul_(2)
    return z * attend(x).view(4, 2)


X = torch.tensor([-1.7, -0.62, -0.33, -0.01, 0.04, 0.27, 0.52, 1.9])
WORDS = torch.tensor([[1, 0, 1], [2, 1, 0]])
TARGETS = torch.tensor([1.0, 0.0, 0.0, 1.0, 0.2, 1.0, 0.0, 0.9])
SATURATED = torch.tensor([0.0, 1.0, 1e-20, 1e-15, 0.3, 0.7, 0.9, 1.0])

# The derivative of each is not that of its values.
OTHERWISE = {
    "detach": (lambda x: x * x.detach(), X),
    "data": (lambda x: x * x.data, X),
    "no_grad": (run_without_grad(torch.no_grad), X),
    "inference_mode": (run_without_grad(torch.inference_mode), X),
    "enable_grad": (nest_modes, X),
    "straight_through": (straighten, X),
    "fake_quantize": (
        lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, -2, -8, 7),
        X,
    ),
    "fake_quantize_tensors": (quantize_by_tensors, X),
    "fake_quantize_channels": (quantize_by_channels, X),
    "padding": (lambda x: F.embedding(WORDS, x.reshape(4, 2), padding_idx=1), X),
    "frequency": (
        lambda x: F.embedding(WORDS, x.reshape(4, 2), scale_grad_by_freq=True),
        X,
    ),
    "padding_and_frequency": (
        lambda x: F.embedding(WORDS, x.reshape(4, 2), padding_idx=0, scale_grad_by_freq=True),
        X,
    ),
    # Elements of the storage beside those of the view that as_strided is given.
    "beside_a_view": (lambda x: x.reshape(2, 4)[:, ::2].as_strided((2, 3), (3, 1)), X),
    "before_a_view": (lambda x: x.sin()[4:].as_strided((2, 2), (2, 3), 2), X),
    "beside_nothing": (lambda x: x * x[3:3].as_strided((8,), (1,), 0), X),
    "layer_norm_mean": (
        lambda x: sum(each.sum() for each in torch.native_layer_norm(x, [8], None, None, 1e-5)),
        X,
    ),
}

# Nor is that of these, which PyTorch has in f32, or between 0 and 1, only.
NARROW = {
    "binary_cross_entropy": (
        lambda x: F.binary_cross_entropy(x, TARGETS.to(x), reduction="none"),
        SATURATED,
    ),
    "learned_scale": (learn_scale, torch.cat((X, torch.tensor([0.15, 1.2])))),
    "learned_scales": (learn_scales, X),
}


def differentiate_values(function, x):
    """Central differences in f64."""
    gradient = torch.zeros_like(x, dtype=torch.float64)
    for place in range(x.numel()):
        ends = []
        for step in (1e-6, -1e-6):
            moved = x.double()
            moved[place] += step
            with torch.no_grad():
                ends.append(weigh(function(moved)).item())
        gradient[place] = (ends[0] - ends[1]) / 2e-6
    return gradient


class Otherwise(unittest.TestCase):
    def test_list(self):
        """Derivatives listed are not those of the values."""
        for name, (function, x) in OTHERWISE.items():
            with self.subTest(name):
                by_values = differentiate_values(function, x)
                difference = (compute(function, x.double()) - by_values).abs()
                self.assertFalse(difference.max() < 1e-3)

    def test_gradients(self):
        check(self, {**OTHERWISE, **NARROW}, policies=POLICIES)

    def test_half(self):
        """Values are detached or quantized in f16 and bf16, too."""
        cases = {
            "bf16": (lambda x: OTHERWISE["fake_quantize"][0](x.bfloat16()).float(), X),
            "f16": (lambda x: OTHERWISE["no_grad"][0](x.half()).float(), X),
            "f64": (
                lambda x: F.binary_cross_entropy(x.double(), TARGETS.double()).float(),
                SATURATED,
            ),
        }
        check(self, cases, 2e-2)

    def test_bounds(self):
        """A bound that is NaN makes the value so."""
        nan = math.nan
        bounds = {
            "low": (torch.tensor(nan), torch.tensor(0.3)),
            "high": (torch.tensor(0.3), torch.tensor(nan)),
            "low number": (nan, 0.3),
            "high number": (None, nan),
        }
        check(
            self,
            {
                name: (lambda x, b=b: torch.where(x.clamp(*b).isnan(), 3 * x, x), X)
                for name, b in bounds.items()
            },
        )

    def test_small_border(self):
        """The loss is not what is left of its numerator in f16."""
        loss = lambda x: F.smooth_l1_loss(x, torch.zeros_like(x), beta=1e-8, reduction="none")
        check(self, {"f16": (lambda x: loss(x.half()).float(), X)}, 1e-3)

    def test_random(self):
        """The mean and the deviation of normal numbers have no gradient; what is
        drawn once has one value, detached or not."""

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.mean, self.rest = (nn.Parameter(torch.ones(8)) for _ in range(2))

            def forward(self):
                drawn = F.dropout(self.rest).detach() * self.rest
                slope = F.rrelu(-self.rest, training=True)
                return torch.normal(self.mean, 0.1).sum() + (drawn + slope).sum()

        _, gradients = export_step(Model(), ())()
        self.assertNotIn("mean", gradients)
        for each in gradients["rest"].tolist():
            kept = 0 if each < 0 else 2
            self.assertTrue(-1 / 3 <= each - kept <= -1 / 8)
        self.assertGreater(len(set(gradients["rest"].tolist())), 1)

    def test_buffers(self):
        """A value for a buffer alone needs no detaching, and a parameter
        that only it depends on is not trained."""

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight, self.other = (nn.Parameter(torch.ones(3)) for _ in range(2))
                self.register_buffer("mean", torch.zeros(3))

            def forward(self):
                with torch.no_grad():
                    self.mean.mul_(0.5).add_(self.weight.sin() * self.other)
                return self.weight.cos().sum()

        model = Model()
        _, gradients = export_step(model, ())()
        self.assertEqual(list(gradients), ["weight"])
        torch.testing.assert_close(model.mean, torch.ones(3).sin())


class InPlace(unittest.TestCase):
    """A change of a tensor changes its views, and the other way round."""

    def test_gradients(self):
        check(self, {each.__name__: (each, X) for each in (change_view, view_changed)})

    def test_other_strides(self):
        """No copy takes the place of a view that the kernel has and its decomposition
        has not: the change would be lost."""

        def change(x):
            y = attend(x).clone()
            z = y.view(4, 2)
            y.mul_(2)
            return z

        def change_without_grad(x):
            with torch.no_grad():
                y = attend(x)
                y.view(4, 2).mul_(2)
            return x * y.reshape(8)

        for function in (change, change_without_grad):
            with self.subTest(function.__name__):
                with self.assertRaisesRegex(fad.torch.ExportError, "Cannot view a tensor"):
                    fad.torch.export(Many({"x": (function, X)}), ())


class Refused(unittest.TestCase):
    def check(self, function, message, x=X):
        model = Many({"x": (function, x)})
        with self.assertRaisesRegex(fad.torch.ExportError, message) as caught:
            fad.torch.export(model, ())
        locations = [each.location for each in caught.exception.diagnostics]
        self.assertTrue(any(each and each.file.endswith(".py") for each in locations))

    def test_no_derivative(self):
        self.check(
            lambda x: x * torch.floor_divide(x, 2.0),
            "PyTorch has no derivative of aten.floor_divide.default; detach its",
        )

    def test_no_form(self):
        self.check(torch.special.bessel_j0, "torch-mlir cannot lower aten.special_bessel_j0")

    def test_assigned_data(self):
        def function(x):
            y = x.clone()
            y.data = y.detach() + 1
            return y

        self.check(function, "what is assigned to .data is not exported; change buffers")

    def test_hooks(self):
        model = Many({"x": (torch.sin, X)})
        model.values["x"].register_post_accumulate_grad_hook(lambda x: None)
        with self.assertRaisesRegex(fad.torch.ExportError, "'values.x' has a hook on its"):
            fad.torch.export(model, ())
        handle = nn.modules.module.register_module_full_backward_hook(lambda *a: None)
        self.addCleanup(handle.remove)
        with self.assertRaisesRegex(
            fad.torch.ExportError, "a hook on the gradients of all modules is not"
        ):
            fad.torch.export(Many({"x": (torch.sin, X)}), ())

    def test_packed_sequence(self):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.LSTM(4, 8, batch_first=True)

            def forward(self, x):
                lengths = torch.tensor([5, 3])
                packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
                return self.net(packed)[1][0].sum()

        with self.assertRaisesRegex(
            fad.torch.ExportError, "torch.export cannot trace the model"
        ) as caught:
            fad.torch.export(Model(), torch.randn(2, 5, 4))
        (diagnostic,) = caught.exception.diagnostics
        self.assertEqual(diagnostic.location.file, __file__)

    def test_errors_of_the_model(self):
        """An error of the model's own stays as it is."""

        def function(x):
            raise ValueError("of the model")

        with self.assertRaisesRegex(ValueError, "^of the model$"):
            fad.torch.export(Many({"x": (function, X)}), ())


class Normalized(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 3), nn.BatchNorm1d(3)

    def forward(self, x):
        return self.norm(self.linear(x).sin())


class Realiased(nn.Module):
    """Reads a table by strides, which PyTorch's derivative takes for those of a reshape."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(24))
        self.register_buffer("weights", torch.tensor([[1.0, 2.0], [3.0, 4.0]]))

    def forward(self):
        transposed = torch.ops.aten._reshape_alias(self.table, (4, 6), (1, 4))
        return (transposed.as_strided((2, 2), (1, 4)) * self.weights).sum()


class Checked(unittest.TestCase):
    """The step is held against PyTorch's when it is made."""

    def make(self, decomposition, **options):
        model = Normalized()
        table = trace.get_decompositions()
        table[torch.ops.aten.sin.default] = decomposition
        with mock.patch.object(trace, "get_decompositions", lambda: table):
            return export_step(
                model, torch.randn(5, 4), lambda y: y.square().sum() + y.sum(), **options
            )

    def test_loss(self):
        with self.assertRaisesRegex(
            fad.Error, r"differs from PyTorch's by [\d.]+%, and rounding of torch.float32"
        ) as caught:
            self.make(lambda x: 1.1 * x * x * x)
        said = str(caught.exception)
        self.assertIn("the new value of 'norm.running_mean' differs", said)
        self.assertIn("the gradient of 'linear.weight' differs", said)

    def test_gradient(self):
        def half(x):
            y = torch.cos(x - math.pi / 2)
            return 0.5 * y + 0.5 * fad.torch._decompositions.operations.detach(y)

        with self.assertRaisesRegex(fad.Error, "the gradient of 'linear.weight' differs"):
            self.make(half)
        self.make(half, check=False)

    def test_strides(self):
        # The buffer, which stays as it is, is not compared.
        with self.assertRaisesRegex(fad.Error, "^error: the gradient of 'table' differs"):
            export_step(Realiased(), ())
        step = export_step(Realiased(), (), check=False)
        expected = torch.zeros(24)
        expected[torch.tensor([0, 4, 1, 5])] = torch.tensor([1.0, 2.0, 3.0, 4.0])
        torch.testing.assert_close(step()[1]["table"], expected)

    def test_right(self):
        self.make(lambda x: torch.cos(x - math.pi / 2))

    @unittest.skipUnless(EVERY, "takes long")
    def test_magnified_rounding(self):
        """Rounding of the new values of buffers is known, too: here, 53
        normalizations magnify it to percents."""
        torch.manual_seed(1)
        blocks = (nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4), nn.ReLU())
        model = nn.Sequential(*(copy.deepcopy(each) for _ in range(53) for each in blocks))
        for each in model:
            if isinstance(each, nn.Conv2d):
                each.reset_parameters()
        export_step(model, torch.randn(2, 4, 4, 4), torch.sum, policy="bp")

    def test_sparse(self):
        """Of a gradient that is sparse, the elements are compared."""
        model = nn.Embedding(5, 3, sparse=True)
        _, gradients = export_step(model, WORDS, torch.sum)(WORDS)
        torch.testing.assert_close(
            gradients["weight"], torch.tensor([2.0, 3, 1, 0, 0])[:, None].expand(5, 3)
        )

    def test_cannot_compare(self):
        class Model(nn.Linear):
            def forward(self, x):
                if torch.compiler.is_exporting():
                    return super().forward(x).sum()
                raise KeyError("outside")

        message = (
            "error: the step cannot be compared with PyTorch's, which check=False "
            "leaves out: KeyError: 'outside'"
        )
        line = Model.forward.__code__.co_firstlineno + 3
        x = torch.randn(2, 4)
        with self.assertRaises(fad.torch.ExportError) as caught:
            export_step(Model(4, 4), x)
        self.assertEqual(str(caught.exception), f"{__file__}:{line}:0: {message}")
        loss, _ = export_step(Model(4, 4), x, check=False)(x)
        self.assertTrue(loss.isfinite())

    def test_undisturbed(self):
        """Making a step leaves the model, and the generator, as they were."""
        model = Normalized()
        model.norm.weight.grad = torch.ones(3)
        before = {name: each.clone() for name, each in model.state_dict().items()}
        state = torch.random.get_rng_state()
        export_step(model, torch.randn(5, 4, generator=torch.Generator()), torch.sum)
        self.assertTrue(torch.equal(torch.random.get_rng_state(), state))
        for name, each in model.state_dict().items():
            self.assertTrue(torch.equal(each, before[name]), name)
        self.assertTrue(model.training)
        self.assertTrue(torch.equal(model.norm.weight.grad, torch.ones(3)))
        self.assertIsNone(model.linear.weight.grad)


if __name__ == "__main__":
    torch.manual_seed(0)
    unittest.main(argv=[each for each in sys.argv if each != "--every"])

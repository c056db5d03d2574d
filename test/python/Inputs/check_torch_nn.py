"""Compares the modules of fad.torch.nn, and what fad.torch.convert makes, with PyTorch's."""

import copy
import io
import pickle
import sys

import torch
from torch import nn

import fad.torch
from fad.torch._elementwise.kernel import count_kernels

# With the points where functions have no derivative, and their neighbors.
POINTS = [-100, -20.5, -6, -3, -1, -0.5, -0.25, 0, -0.0, 0.25, 0.5, 1, 3, 5, 6, 10, 20, 21, 100]
SPECIAL = [float("inf"), -float("inf"), float("nan")]

MODULES = [
    ("CELU", dict(alpha=0.7)),
    ("ELU", dict(alpha=1.5)),
    ("GELU", {}),
    ("GELU", dict(approximate="tanh")),
    ("Hardshrink", dict(lambd=0.25)),
    ("Hardsigmoid", {}),
    ("Hardswish", {}),
    ("Hardtanh", dict(min_val=-0.5, max_val=3.0)),
    ("LeakyReLU", dict(negative_slope=0.2)),
    ("LogSigmoid", {}),
    ("Mish", {}),
    ("ReLU", {}),
    ("ReLU6", {}),
    ("SELU", {}),
    ("SiLU", {}),
    ("Sigmoid", {}),
    ("Softplus", dict(beta=2.0, threshold=10.0)),
    ("Softshrink", dict(lambd=0.25)),
    ("Softsign", {}),
    ("Tanh", {}),
    ("Tanhshrink", {}),
    ("Threshold", dict(threshold=0.25, value=20.0)),
]


def run(module, x):
    x = x.clone().requires_grad_()
    y = module(x)
    y.backward(torch.full_like(y, 2))
    return y.detach(), x.grad


def check_modules():
    generator = torch.Generator().manual_seed(0)
    values = torch.cat([torch.tensor(POINTS), 3 * torch.randn(200, generator=generator)])
    for name, arguments in MODULES:
        own, stock = getattr(fad.torch.nn, name)(**arguments), getattr(nn, name)(**arguments)
        assert repr(own) == repr(stock) and isinstance(own, type(stock))
        for found, expected in zip(run(own, values), run(stock, values)):
            torch.testing.assert_close(
                found, expected, rtol=2e-5, atol=2e-6, msg=lambda text: f"{name}: {text}"
            )
        # At infinities, values and derivatives are PyTorch's, or the limits where PyTorch
        # has NaN. At NaN, they are those of PyTorch for few elements or for many: its vectors
        # have other derivatives of `Hardtanh`, `ELU` and some others there.
        special = torch.tensor(SPECIAL)
        many = run(stock, special.repeat(64))
        for found, *expected in zip(run(own, special), run(stock, special), many):
            few = expected[0][:2]
            known = ~few.isnan()
            torch.testing.assert_close(found[:2][known], few[known], msg=lambda text: name + text)
            assert any(
                torch.equal(found[2].nan_to_num(9), each[2].nan_to_num(9)) for each in expected
            ), (name, found, expected)


def check_types():
    generator = torch.Generator().manual_seed(1)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        x = torch.cat([torch.tensor(POINTS), torch.randn(50, generator=generator)]).to(dtype)
        for name in ("GELU", "ReLU"):
            own, stock = getattr(fad.torch.nn, name)(), getattr(nn, name)()
            found, exact = run(own, x), run(stock, x.double())
            for one, other in zip(found, exact):
                assert one.dtype is dtype
                eps = torch.finfo(dtype).eps
                torch.testing.assert_close(one.double(), other, rtol=2 * eps, atol=2 * eps)


def check_in_place():
    """The tensor itself is changed, and gradients are those of PyTorch."""
    x = torch.tensor(POINTS)
    for name in ("ReLU", "SiLU", "Hardtanh", "ReLU6"):
        own, stock = (getattr(each, name)(inplace=True) for each in (fad.torch.nn, nn))
        grads = []
        for module in (own, stock):
            leaf = x.clone().requires_grad_()
            y = leaf * 1.5
            # The result of a module in place is often not used by that name.
            assert module(y) is y
            (y * y).sum().backward()
            grads.append(leaf.grad)
        torch.testing.assert_close(*grads)
        changed = x.clone()
        assert own(changed) is changed
        torch.testing.assert_close(changed, stock(x.clone()))
    for module in (own, stock):
        try:
            module(x.clone().requires_grad_())
        except RuntimeError as error:
            assert "leaf" in str(error)
        else:
            raise AssertionError("a leaf must not change")
    # A view of it changes its base.
    base = torch.randn(4, 4, requires_grad=True)
    grads = []
    for module in (own, stock):
        y = base * 2
        module(y[1])
        (gradient,) = torch.autograd.grad((y * y).sum(), base)
        grads.append(gradient)
    torch.testing.assert_close(*grads)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.GELU()
        self.layers = nn.Sequential(nn.Linear(8, 8), self.act, nn.Linear(8, 8), nn.ReLU(True))
        self.weighted = nn.PReLU()

    def forward(self, x):
        return self.weighted(self.act(self.layers(x)))


class OwnReLU(nn.ReLU):
    def forward(self, x):
        return super().forward(x) + 1


def check_convert():
    torch.manual_seed(0)
    model = nn.ModuleDict({"a": Block(), "b": nn.ModuleList([OwnReLU(), nn.Tanh()])})
    seen = []
    model["a"].act.register_forward_hook(lambda *_: seen.append("hook"))
    act, x = model["a"].act, torch.randn(4, 8)
    before, names = model["a"](x), list(model.state_dict())
    converted = fad.torch.convert(model, copy_model=True)
    assert type(model["a"].act) is nn.GELU and converted.model is not model
    assert type(converted.model["a"].act) is fad.torch.nn.GELU
    done = fad.torch.convert(model)
    assert done.model is model and model["a"].act is act is model["a"].layers[1]
    assert [(each.name, each.after) for each in done.replaced] == [
        ("a.act", "fad.torch.nn.GELU"),
        ("a.layers.3", "fad.torch.nn.ReLU"),
        ("b.1", "fad.torch.nn.Tanh"),
    ]
    assert [each.name for each in done.left] == ["a.weighted", "b.0"], done.left
    assert "left: a subclass" in str(done), str(done)
    seen.clear()
    torch.testing.assert_close(model["a"](x), before)
    assert seen == ["hook", "hook"] and list(model.state_dict()) == names
    assert not fad.torch.convert(model).replaced
    # Copies, pickles and states go on as before.
    torch.testing.assert_close(copy.deepcopy(model)["a"](x), before)
    assert pickle.loads(pickle.dumps(fad.torch.nn.Softplus(beta=3.0))).beta == 3.0
    stock = Block()
    stock.load_state_dict(model["a"].state_dict())
    torch.testing.assert_close(stock(x), before)
    single = fad.torch.convert(nn.SiLU(), derivative_bits=3)
    assert single.model.derivative_bits == 3 and single.replaced[0].name == ""
    for arguments, kind in (({"keep": "all"}, ValueError), ({"derivative_bits": 9}, ValueError)):
        try:
            fad.torch.convert(model, **arguments)
        except kind:
            continue
        raise AssertionError(arguments)


def check_transformers():
    """GPT-2 with its own spelling of GELU: the gradients, and what is kept."""
    try:
        from transformers import GPT2Config, GPT2LMHeadModel
    except ImportError:
        return
    torch.manual_seed(0)
    config = GPT2Config(n_layer=2, n_embd=32, n_head=2, vocab_size=64, n_positions=16)
    config._attn_implementation = "eager"
    model = GPT2LMHeadModel(config).eval()
    converted = fad.torch.convert(model, copy_model=True)
    assert {each.after for each in converted.replaced} == {"fad.torch.nn.ElementwiseModule"}
    assert len(converted.replaced) == 2 and not fad.torch.convert(converted.model).replaced
    assert list(converted.model.state_dict()) == list(model.state_dict())
    ids = torch.randint(64, (2, 16))
    gradients = []
    for each in (model, converted.model):
        each(ids, labels=ids).loss.backward()
        gradients.append([p.grad for p in each.parameters()])
    for one, other in zip(*gradients):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
    held = [
        fad.torch.saved_memory(each, ids, measure=False).bytes for each in (model, converted.model)
    ]
    # x, its double, the tanh and what is added to it, of which the source stays.
    assert held[0] - held[1] >= 2 * 3 * (2 * 16 * 128 * 4), held
    pickle.load(io.BytesIO(pickle.dumps(converted.model)))


def check_sharing():
    """Modules with the same constants have the same kernels, for all sizes."""
    count = count_kernels()
    for size in (1, 7, 1000):
        for module in (fad.torch.nn.GELU(), fad.torch.nn.GELU("none")):
            run(module, torch.randn(size, 3))
    assert count_kernels() == count


CHECKS = (
    check_modules,
    check_types,
    check_in_place,
    check_convert,
    check_transformers,
    check_sharing,
)
for check in CHECKS:
    check()
print(f"{len(CHECKS)} checks passed")
sys.stdout.flush()

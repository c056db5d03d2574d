"""Compares the kernels of deferred sequences with eager PyTorch: values and gradients of
every operator, also where a derivative jumps."""

import gc
import subprocess
import sys

import torch
import torch.nn.functional as F
from activations import ACTIVATIONS, gelu, silu
from checks import Checks

import fad.torch
from fad.torch.eager import _kernels
from fad.torch.eager._state import live_nodes, live_values

torch.manual_seed(0)
KINKS = [-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 20.0, -20.0]
X = torch.cat([torch.randn(110, dtype=torch.double) * 2, torch.tensor(KINKS, dtype=torch.double)])
OPERATORS = {
    "add": lambda x: torch.add(x, x.sin(), alpha=0.3) + 2,
    "sub": lambda x: torch.sub(x, x.sin(), alpha=0.3) - 2,
    "rsub": lambda x: torch.rsub(x.sin(), 2, alpha=3) * x,
    "mul": lambda x: (x * 2.5) * x,
    "div": lambda x: (x / 2.5) / (x * x + 1),
    "number by": lambda x: 2 / (x * x + 1),
    "neg": lambda x: -(x * x),
    "relu": lambda x: F.relu(x) * x,
    "abs": lambda x: torch.abs(x) * 2 + x.sin(),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.2) + x.sin(),
    "hardtanh": lambda x: F.hardtanh(x, -0.5, 3) * 2 + x.sin(),
    "relu6": lambda x: F.relu6(x) * 2 + x.sin(),
    "clamp": lambda x: torch.clamp(x, -0.5, 3) * 2 + x.sin(),
    "clamp_min": lambda x: torch.clamp(x, min=-0.5) * 2 + x.sin(),
    "clamp_max": lambda x: torch.clamp(x, max=0.5) * 2 + x.sin(),
    "tanh": lambda x: torch.tanh(x) * 2 + x,
    "sigmoid": lambda x: torch.sigmoid(x) * x,
    "exp": lambda x: torch.exp(-x * x),
    "expm1": lambda x: torch.expm1(-x * x),
    "sqrt": lambda x: torch.sqrt(x * x + 1),
    "rsqrt": lambda x: torch.rsqrt(x * x + 1),
    "reciprocal": lambda x: torch.reciprocal(x * x + 1),
    "tan": lambda x: torch.tan(torch.tanh(x)),
    "log": lambda x: torch.log(x * x + 1),
    "log1p": lambda x: torch.log1p(x * x),
    "sin": lambda x: torch.sin(x) * 2 - torch.cos(x),
    "erf": lambda x: torch.erf(x) * x,
    "silu": lambda x: F.silu(x) * 2 + x,
    "gelu": lambda x: F.gelu(x) * 2 + x,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh") * 2 + x,
    "mish": lambda x: F.mish(x) * 2 + x,
    "elu": lambda x: F.elu(x, 1.5) * 2 + x,
    "elu of 1": lambda x: F.elu(x) * 2 + x,
    "selu": lambda x: F.selu(x) * 2 + x,
    "softplus": lambda x: F.softplus(x, 2, 10) * 2 + x,
    "hardsigmoid": lambda x: F.hardsigmoid(x) * 2 + x,
    "hardswish": lambda x: F.hardswish(x) * 2 + x,
    "pow": lambda x: x**2 + x**3 + x**4 + (x * x + 1) ** 0.5 + (x * x + 1) ** -0.5,
    "inverse": lambda x: (x * x + 1) ** -1 + x**1,
    "constant": lambda x: torch.tanh(x * CONSTANT) * CONSTANT,
    "number": lambda x: torch.tanh(x * CONSTANT[0]) - CONSTANT[1],
    "linear": lambda x: 3 - (2 * x + 1) / 4,
    **ACTIVATIONS,
}
CONSTANT = torch.randn(len(X), dtype=torch.double)
# PyTorch's own derivative has a sixth of single precision.
LOOSE = {"hardsigmoid": 1e-7}
TOLERANCES = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 4e-2,
              torch.float16: 6e-3}


def evaluate(function, x, policy=None):
    leaf = x.detach().clone().requires_grad_()
    source = leaf * 1
    if policy is None:
        y = function(source)
    else:
        with fad.torch.nest(policy=policy, min_numel=0, engine="deferred"):
            y = function(source)
    weights = torch.linspace(0.5, 1.5, x.numel(), dtype=x.dtype).view_as(x)
    gradient, = torch.autograd.grad((y * weights).sum(), leaf)
    return y.detach(), gradient


def warm(function, x, policy):
    """The kernels of a function are there after the second call."""
    for _ in range(2):
        evaluate(function, x, policy)
    return _kernels.wait()


def agrees(function, x, policy, tolerance):
    global CONSTANT
    found, expected = evaluate(function, x, policy), evaluate(function, x)
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def check_operators(check, policies, names, dtypes=(torch.float64,)):
    global CONSTANT
    for dtype in dtypes:
        x, CONSTANT = X.to(dtype), CONSTANT.to(dtype)
        for name in names:
            for policy in policies:
                evaluate(OPERATORS[name], x, policy)
                evaluate(OPERATORS[name], x, policy)
    compiled = _kernels.wait()
    for dtype in dtypes:
        x, CONSTANT = X.to(dtype), CONSTANT.to(dtype)
        for name in names:
            for policy in policies:
                check(f"{name} {dtype} {policy}",
                      lambda: agrees(OPERATORS[name], x, policy,
                                     LOOSE.get(name, TOLERANCES[dtype])))
    CONSTANT = CONSTANT.double()
    expected = len(names) * len(policies) * len(dtypes)
    # Numbers apart, some are the same: those of elu, and two of hardtanh.
    check(f"{expected} kernels", lambda: compiled >= expected - 3 or print(compiled) or False)


def check_keys(check):
    """Numbers and sizes are no part of a kernel."""
    def scaled(number):
        return lambda x: torch.tanh(x * number) * number + number

    before = warm(scaled(0.3), X, "auto")
    for number in (1.7, 2.5, -4):
        check(f"the number {number}", lambda: agrees(scaled(number), X, "auto", 1e-12))
    check("other sizes", lambda: agrees(scaled(0.1), X[:77].view(7, 11), "auto", 1e-12))
    check("columns", lambda: agrees(scaled(0.1), X[:77].view(7, 11).t(), "auto", 1e-12))
    check("no kernel is added", lambda: warm(scaled(5), X, "auto") == before)


def check_two(check):
    """Two sources, and a value that is read and goes on."""
    def two(x):
        with torch.no_grad():
            ones = torch.ones_like(x)
        gate, up = torch.cumsum(x, 0) * 0.01, torch.flip(x, (0,))
        return F.silu(gate) * up + ones

    def goes_on(x):
        y = silu(x)
        total = y.sum()
        return gelu(y) + total

    for function in (two, goes_on):
        for policy in ("auto", "fad"):
            warm(function, X, policy)
            check(f"{function.__name__} {policy}", lambda: agrees(function, X, policy, 1e-11))

    def second():
        x = X[:20].clone().requires_grad_()
        nested = fad.torch.nest(gelu, min_numel=0, engine="deferred")
        return torch.autograd.gradgradcheck(nested, (x,))

    warm(gelu, X, "auto")
    check("second derivatives", second)

    def refuses():
        leaf = X.clone().requires_grad_()
        source = leaf * 1
        with fad.torch.nest(min_numel=0, engine="deferred"):
            y = gelu(source)
        source.add_(1)
        try:
            y.sum().backward()
        except RuntimeError as error:
            return "modified by an inplace operation" in str(error)
        return False

    check("a source that is written to", refuses)


def check_lives(check):
    for _ in range(500):
        evaluate(gelu, X, "auto")
    gc.collect()
    check("no node is left", lambda: live_nodes() == 0 and live_values() == 0)


FIRST = """
import sys, torch, fad.torch
sys.path.insert(0, sys.argv[1])
from activations import mish
from fad.torch.eager import _kernels
x = torch.randn(64, requires_grad=True)
with fad.torch.nest(min_numel=0, engine="deferred"):
    (mish(x) * 2 + torch.sin(x)).sum().backward()
print(_kernels.wait())
"""


def check_disk(check):
    """A process compiles at once what an earlier one has met twice."""
    def meets(x):
        return ACTIVATIONS["Mish"](x) * 2 + torch.sin(x)

    warm(meets, torch.randn(64), "auto")
    # Files of others are left alone.
    (_kernels._folder() / "folder").mkdir(exist_ok=True)
    (_kernels._folder() / "bytes").write_bytes(b"\xff\xfe")
    result = subprocess.run([sys.executable, "-c", FIRST, sys.path[0]], capture_output=True,
                            text=True)
    check("what another process has met", lambda: result.stdout.strip() == "1"
          or print(result.stdout, result.stderr) or False)


if __name__ == "__main__":
    check = Checks()
    check_operators(check, ["auto"], list(OPERATORS))
    check_operators(check, ["fad"], [*ACTIVATIONS, "elu", "div", "linear"])
    check_operators(check, ["auto", "fad"], ["GELU"],
                    [torch.float32, torch.bfloat16, torch.float16])
    check_keys(check)
    check_two(check)
    check_lives(check)
    check_disk(check)
    check.finish()

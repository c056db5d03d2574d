"""Mish, the GELU of tanh, and their derivatives, as the backend `fad` decomposes
them."""

import functools
import sys

import mpmath
import torch
import torch.nn.functional as F
from torch._functorch.compile_utils import fx_graph_cse
from torch._inductor.decomposition import select_decomp_table
from torch.fx.experimental.proxy_tensor import make_fx

import fad.torch
from fad.torch.compile._pytorch import find_inlining_limits
from fad.torch.compile._scalars import make_decompositions

aten = torch.ops.aten
INF, NAN = float("inf"), float("nan")
TABLE = make_decompositions(select_decomp_table())


def gelu_tanh(u):
    inner = mpmath.sqrt(2 / mpmath.pi) * (u + mpmath.mpf(0.044715) * u**3)
    return u * (1 + mpmath.tanh(inner)) / 2


def mish(u):
    return u * mpmath.tanh(mpmath.log1p(mpmath.exp(u)))


def call_backward(target, x, **options):
    return target(torch.ones_like(x), x, **options)


# The function of high precision, what is checked, and PyTorch's.
FUNCTIONS = {
    "mish": (mish, TABLE[aten.mish.default], F.mish),
    "mish'": (
        lambda u: mpmath.diff(mish, u),
        lambda x: call_backward(TABLE[aten.mish_backward.default], x),
        lambda x: call_backward(aten.mish_backward, x),
    ),
    "gelu-tanh": (
        gelu_tanh,
        lambda x: TABLE[aten.gelu.default](x, approximate="tanh"),
        lambda x: F.gelu(x, approximate="tanh"),
    ),
    "gelu-tanh'": (
        lambda u: mpmath.diff(gelu_tanh, u),
        lambda x: call_backward(TABLE[aten.gelu_backward.default], x, approximate="tanh"),
        lambda x: call_backward(aten.gelu_backward, x, approximate="tanh"),
    ),
}
LIMITS = {
    "mish": ((INF, INF), (-INF, 0.0), (1e30, 1e30), (-1e30, 0.0), (0.0, 0.0)),
    "mish'": ((INF, 1.0), (-INF, 0.0), (1e30, 1.0), (-1e30, 0.0), (0.0, 0.6)),
    "gelu-tanh": ((INF, INF), (-INF, 0.0), (1e30, 1e30), (-1e30, 0.0), (0.0, 0.0)),
    "gelu-tanh'": ((INF, 1.0), (-INF, 0.0), (1e30, 1.0), (-1e30, 0.0), (0.0, 0.5)),
}


def measure(values, expected, dtype):
    """The largest error in units of the type's epsilon, relative to results above
    1/4: derivatives are zero somewhere, where terms of that size cancel."""
    scale = expected.abs().clamp_min(1 / 4) * torch.finfo(dtype).eps
    return ((values.double() - expected).abs() / scale).max().item()


def check_errors():
    points = torch.cat([torch.linspace(-12, 12, 481), torch.linspace(-100, 100, 41)])
    wrong = count = 0
    mpmath.mp.dps = 50
    for name, (reference, own, stock) in FUNCTIONS.items():
        for dtype in torch.float64, torch.float32, torch.bfloat16, torch.float16:
            x = points.to(dtype)
            expected = [reference(mpmath.mpf(u)) for u in x.double().tolist()]
            expected = torch.tensor([float(value) for value in expected], dtype=torch.float64)
            error, bound = measure(own(x), expected, dtype), measure(stock(x), expected, dtype)
            # NaN of PyTorch bounds nothing.
            bound = max(2.5, 1.25 * bound if bound == bound else 0.0)
            print(f"{name} {dtype}: {error:.2f}, at most {bound:.2f}")
            count += 1
            wrong += not error <= bound
    return f"{count} functions and types, {wrong} wrong"


def is_limit(name, values):
    """Whether these are the values at NaN and at the limits of the function `name`."""
    expected = torch.tensor([NAN, *(value for _, value in LIMITS[name])]).to(values.dtype)
    return torch.allclose(values, expected, rtol=1e-2, atol=0, equal_nan=True)


def check_limits():
    for name, limits in LIMITS.items():
        for dtype in torch.float64, torch.float32, torch.bfloat16:
            x = torch.tensor([NAN, *(point for point, _ in limits)]).to(dtype)
            values = FUNCTIONS[name][1](x)
            if not is_limit(name, values):
                return f"{name} of {x.tolist()} in {dtype} is {values.tolist()}"
    return "right"


def check_compiled():
    """Whether loops of vectors that Inductor compiles have these limits, too."""
    for name in "mish", "gelu-tanh":
        activation = FUNCTIONS[name][2]
        points = torch.tensor([NAN, *(point for point, _ in LIMITS[name])])
        x = points.repeat(32, 1).t().contiguous().requires_grad_()
        y = torch.compile(activation, backend="fad")(x)
        (gradient,) = torch.autograd.grad(y.sum(), x)
        for each, values in (name, y.detach()), (f"{name}'", gradient):
            if not all(is_limit(each, column) for column in values.t()):
                return f"wrong: {each} of {points.tolist()} is {values[:, 0].tolist()}"
    return "right"


def check_shared():
    """Whether value and derivative have one exponential between them."""
    for activation in F.mish, lambda x: F.gelu(x, approximate="tanh"):

        def pair(x):
            with torch.enable_grad():
                y = activation(x.requires_grad_())
            return y, torch.autograd.grad(y.sum(), x)

        graph = make_fx(pair, decomposition_table=TABLE)(torch.randn(3)).graph
        targets = [str(node.target) for node in fx_graph_cse(graph).nodes]
        used = [t for t in targets if "exp" in t.split(".")[1:2] or "tanh" in t or "log" in t]
        if used != ["aten.exp.default"]:
            return f"wrong: {used}"
    return "right"


def check_operations():
    """Whether the gradients are products of so few operations that Inductor rounds them where it
    computes them: of loads, of numbers, and of nodes but for the last, which rounds."""
    most = find_inlining_limits(False)["shared_operations"]
    rounded = torch.randn(2, 3, dtype=torch.bfloat16)
    counts = []
    for target, options in (aten.mish_backward, {}), (aten.gelu_backward, {"approximate": "tanh"}):
        call = functools.partial(TABLE[target.default], **options)
        graph = fx_graph_cse(make_fx(call, decomposition_table=TABLE)(*rounded).graph)
        nodes = [node for node in graph.nodes if node.op != "output"]
        numbers = {each for node in nodes for each in node.args if isinstance(each, (int, float))}
        if not (nodes[-1].meta["val"].dtype is nodes[0].meta["val"].dtype is torch.bfloat16):
            return "wrong: not rounded"
        counts.append(len(nodes) - 1 + len(numbers))
    return f"{counts}, {sum(count > most for count in counts)} too many"


ACTIVATIONS = {
    "gelu": F.gelu,
    "mish": F.mish,
    "silu": F.silu,
    "composed gelu": lambda x: 0.5 * x * (1 + torch.tanh(0.8 * (x + 0.045 * x * x * x))),
    "composed mish": lambda x: x * torch.tanh(F.softplus(x)),
    "composed silu": lambda x: x * torch.sigmoid(x),
    "softplus": lambda x: x * F.softplus(x, beta=2, threshold=1),
}


def check_derivatives():
    """Whether the policy "fad" saves one derivative of each activation where PyTorch's
    operators run one by one, and the result, which the product needs."""
    options = {"fad.policy": "fad", "fad.engine": "eager"}
    for name, activation in ACTIVATIONS.items():
        model = torch.nn.Sequential(
            torch.nn.Linear(8, 16), Activation(activation), torch.nn.Linear(16, 4)
        ).double()
        x = torch.randn(32, 8, dtype=torch.float64) * 2
        saved = fad.torch.explain(model, x, options=options).fad_bytes
        if saved != 2 * 32 * 16 * 8:
            return f"wrong: {saved} bytes of {name}"
        gradients = [
            torch.autograd.grad(call(x).square().sum(), list(model.parameters()))
            for call in (torch.compile(model, backend="fad", options=options), model)
        ]
        for found, expected in zip(*gradients):
            if not torch.allclose(found, expected, rtol=1e-10, atol=1e-12):
                return f"wrong: gradients of {name}"
        torch._dynamo.reset()
    return "right"


class Activation(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.forward = function


def main():
    checks = check_errors(), check_limits(), check_shared(), check_derivatives()
    line = "{}; limits {}; shared exponentials {}; single derivatives {}".format(*checks)
    operations = check_operations()
    compiled = check_compiled()
    print(line, f"operations of gradients {operations}; compiled {compiled}", sep="\n")
    is_wrong = line.count("right") != 3 or ", 0 wrong;" not in line
    return is_wrong or not operations.endswith(", 0 too many") or compiled != "right"


if __name__ == "__main__":
    sys.exit(main())

"""Compares the kernels of deferred sequences with eager PyTorch: values and gradients of
every operator, also where a derivative jumps.

usage: check_kernels.py INTERPRETER... [--every]

INTERPRETER is a command, as of an interpreter that has imported PyTorch."""

import contextlib
import gc
import itertools
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F
from activations import ACTIVATIONS, gelu, mish, silu
from operator_rows import check_rows
from checks import Checks
from cotangents import is_linear

import fad.torch
from fad.torch._releases import is_before
from fad.torch.eager import _kernels, trace
from fad.torch.eager._extension import library_path
from fad.torch.eager._state import live_nodes, live_values

torch.manual_seed(0)
KINKS = [-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 20.0, -20.0]
# PyTorch has other formulas at NaN for the last elements of a tensor, which fill no vector:
# the size is one of whole vectors.
SPECIAL = [-0.0, math.inf, -math.inf, math.nan, 1e300, -1e300, 1e-310, -1e-310]
X = torch.cat([torch.randn(110, dtype=torch.double) * 2, torch.tensor(KINKS + SPECIAL).double()])
# Compared at all of these, with nothing after the operator.
FUNCTIONS = {
    "relu": F.relu,
    "abs": torch.abs,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "hardtanh": lambda x: F.hardtanh(x, -0.5, 3),
    "relu6": F.relu6,
    "clamp": lambda x: torch.clamp(x, -0.5, 3),
    "crossed clamp": lambda x: torch.clamp(x, 3, -0.5),
    "clamp to nan": lambda x: torch.clamp(x, math.nan, 1),
    "clamp up to nan": lambda x: torch.clamp(x, -1, math.nan),
    "clamp_min": lambda x: torch.clamp(x, min=-0.5),
    "clamp_min nan": lambda x: torch.clamp(x, min=math.nan),
    "clamp_max": lambda x: torch.clamp(x, max=0.5),
    "clamp_max nan": lambda x: torch.clamp(x, max=math.nan),
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "exp": torch.exp,
    "expm1": torch.expm1,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "reciprocal": torch.reciprocal,
    "tan": lambda x: torch.tan(torch.tanh(x)),
    "log": torch.log,
    "log1p": torch.log1p,
    "sin": torch.sin,
    "cos": torch.cos,
    "erf": torch.erf,
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "mish": F.mish,
    "elu": lambda x: F.elu(x, 1.5),
    "elu of 1": F.elu,
    "selu": F.selu,
    "softplus": lambda x: F.softplus(x, 2, 10),
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    **{f"power {each}": lambda x, each=each: x**each for each in (2, 3, 4, 0.5, -0.5, -1)},
}
# Goes with PyTorch 2.11, where a bound that is not a number bounds nothing if it is the only one.
if is_before("2.12"):
    del FUNCTIONS["clamp_min nan"], FUNCTIONS["clamp_max nan"]
# Powers have names of their own.
check_rows(FUNCTIONS, {"pow"}, "saves")
FUNCTIONS = {name: lambda x, each=each: each(x) ** 1 for name, each in FUNCTIONS.items()}
# Where PyTorch's derivative is not a number at infinities and large numbers, kernels have
# the limit, 0 or 1; where its vectors of gelu have no value at infinity, that.
LIMITS = {"silu", "gelu", "gelu tanh", "mish"}
OPERATORS = {
    "add": lambda x: torch.add(x, x.sin(), alpha=0.3) + 2,
    "sub": lambda x: torch.sub(x, x.sin(), alpha=0.3) - 2,
    "rsub": lambda x: torch.rsub(x.sin(), 2, alpha=3) * x,
    "mul": lambda x: (x * 2.5) * x,
    "div": lambda x: (x / 2.5) / (x * x + 1),
    "number by": lambda x: 2 / (x * x + 1),
    "neg": lambda x: -(x * x),
    "constant": lambda x: torch.tanh(x * CONSTANT) * CONSTANT,
    "number": lambda x: torch.tanh(x * CONSTANT[0]) - CONSTANT[1],
    "linear": lambda x: 3 - (2 * x + 1) / 4,
    **ACTIVATIONS,
}
SPECIAL_X, X = X, X[: -len(SPECIAL)]
CONSTANT = torch.randn(len(X), dtype=torch.double)
WEIGHTS = torch.linspace(0.5, 1.5, len(SPECIAL_X), dtype=torch.double)
# PyTorch's own derivative has a sixth of single precision.
LOOSE = {"hardsigmoid": 1e-7}
TOLERANCES = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 4e-2, torch.float16: 6e-3}


def evaluate(function, x, policy=None):
    leaf = x.detach().clone().requires_grad_()
    source = leaf * 1
    if policy is None:
        y = function(source)
    else:
        with fad.torch.nest(policy=policy, min_numel=0, engine="deferred"):
            y = function(source)
    weights = torch.linspace(0.5, 1.5, x.numel(), dtype=x.dtype).view_as(x)
    (gradient,) = torch.autograd.grad((y * weights).sum(), leaf)
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
                check(
                    f"{name} {dtype} {policy}",
                    lambda: agrees(OPERATORS[name], x, policy, LOOSE.get(name, TOLERANCES[dtype])),
                )
    CONSTANT = CONSTANT.double()
    expected = len(names) * len(policies) * len(dtypes)
    # Numbers apart, some are the same: those of elu, and two of hardtanh.
    check(f"{expected} kernels", lambda: compiled >= expected - 3 or print(compiled) or False)


def agrees_everywhere(name, x, policy, tolerance):
    """As `agrees`, but for limits."""
    found, (value, gradient) = (evaluate(FUNCTIONS[name], x, each) for each in (policy, None))
    if name in LIMITS:
        value = torch.where(value.isnan() & (x == math.inf), x, value)
        no_number = gradient.isnan() & ~x.isnan()
        gradient = torch.where(no_number, torch.where(x > 0, WEIGHTS.to(x), 0), gradient)
    torch.testing.assert_close(
        found, (value, gradient), rtol=tolerance, atol=tolerance, equal_nan=True
    )


def check_cotangents(check):
    """Kernels take pointers, and such cotangents have more than one, or none."""
    for name, function in (
        ("GELU", gelu),
        ("built in", F.gelu),
        ("gate", lambda x: F.gelu(x) * x.tanh()),
    ):
        x = X[:64].reshape(8, 8).clone().requires_grad_()
        for policy in ("auto", "fad"):
            warm(function, x, policy)
            with fad.torch.nest(policy=policy, min_numel=0, engine="deferred"):
                y = function(x * 1)
            check(f"cotangents, {name}, {policy}", lambda: is_linear(y, function(x), x))


def check_functions(check, names, dtypes, policies=("auto", "fad")):
    cases = [(name, dtype, policy) for dtype in dtypes for name in names for policy in policies]
    for name, dtype, policy in cases:
        for _ in range(2):
            evaluate(FUNCTIONS[name], SPECIAL_X.to(dtype), policy)
    before = _kernels.wait()
    for name, dtype, policy in cases:
        check(
            f"{name} {dtype} {policy}",
            lambda: agrees_everywhere(
                name, SPECIAL_X.to(dtype), policy, max(LOOSE.get(name, 0), TOLERANCES[dtype])
            ),
        )
    # Numbers apart, eight are those of others.
    check(
        "kernels",
        lambda: (
            before >= len(cases) - 8 * len(policies) * len(dtypes)
            or print(before, len(cases))
            or False
        ),
    )


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


def check_numbers_of_types(check):
    """Tensors without dimensions, of which the wider type is that of the result."""
    types = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
    for narrow, wide in itertools.permutations(types, 2):
        number = torch.tensor(0.3, dtype=wide)
        functions = {"sum": lambda x: x + number, "sine": lambda x: torch.sin(x + number)}
        for name, function in functions.items():
            for size, policy in itertools.product([(), (1,)], ("auto", "fad")):
                x = torch.full(size, 0.7, dtype=narrow)
                warm(function, x, policy)
                check(
                    f"{name} of {narrow} and a number of {wide}, size {size}, {policy}",
                    lambda: agrees(function, x, policy, TOLERANCES[narrow]),
                )


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

    def scaled(x):
        # The gradient's kernel takes a source and the number before the other source.
        gate, up = torch.cumsum(x, 0), torch.flip(x, (0,))
        scaled_gate = gate * 0.01
        return F.silu(up) * scaled_gate

    for function in (two, goes_on, scaled):
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


def check_gradients(check):
    """Gradients whose memory is not what they are: zeros without any, and negatives."""

    def pull(policy, make):
        x = X.clone().requires_grad_()
        source = x * 1
        with (
            contextlib.nullcontext()
            if policy is None
            else fad.torch.nest(policy=policy, min_numel=0, engine="deferred")
        ):
            y = gelu(source)
        return torch.autograd.grad(y, x, make())

    def zeros():
        return torch._efficientzerotensor(X.shape, dtype=X.dtype)

    def negatives():
        return torch.complex(X, X).conj().imag

    for policy in ("auto", "fad"):
        warm(gelu, X, policy)
        for make in (zeros, negatives):
            check(
                f"{make.__name__}, {policy}",
                lambda: torch.testing.assert_close(
                    pull(policy, make), pull(None, make), rtol=1e-12, atol=1e-12
                ),
            )


def says_why(policy):
    """Whether a trace says that no kernel will be called."""
    torch.use_deterministic_algorithms(True)
    try:
        leaf = X.float().requires_grad_()
        lines = trace(lambda: mish(leaf).sum(), policy=policy, engine="deferred")
    finally:
        torch.use_deterministic_algorithms(False)
    return any("as no kernel is called" in line for line in lines) or print(lines) or False


def check_digits(check):
    """Deterministic algorithms have the digits of eager PyTorch in each step."""
    values = X.float()
    for policy in ("auto", "fad"):
        compiled = warm(mish, values, policy)
        rounded = evaluate(mish, values, policy)
        torch.use_deterministic_algorithms(True)
        try:
            results = [evaluate(mish, values, each) for each in (policy, policy, None)]
        finally:
            torch.use_deterministic_algorithms(False)
        check(
            f"digits of a kernel, {policy}", lambda: not all(map(torch.equal, rounded, results[2]))
        )
        check(f"a trace of digits, {policy}", lambda: says_why(policy))
        check(f"digits, {policy}", lambda: all(map(torch.equal, results[0], results[1])))
        check(
            f"eager digits, {policy}",
            lambda: (
                torch.equal(results[0][0], results[2][0])
                and (policy == "fad" or torch.equal(results[0][1], results[2][1]))
            ),
        )
        check("no kernel is added", lambda: _kernels.wait() == compiled)


def check_lives(check):
    for _ in range(500):
        evaluate(gelu, X, "auto")
    gc.collect()
    check("no node is left", lambda: live_nodes() == 0 and live_values() == 0)


# Arguments: the folder of the activations, and how often the sequence is met. Nothing of
# torch.compile is loaded.
MEETS = """
import sys
loaded = set(sys.modules)
import torch, fad.torch
sys.path.insert(0, sys.argv[1])
from activations import mish
from fad.torch.eager import _kernels
for _ in range(int(sys.argv[2])):
    x = torch.randn(64, requires_grad=True)
    with fad.torch.nest(min_numel=0, engine="deferred"):
        (mish(x) * 2 + torch.sin(x)).sum().backward()
print(_kernels.wait(), "torch._dynamo" in sys.modules.keys() - loaded)
"""


def check_disk(check, shared):
    """A process has the kernels at once of sequences that an earlier one has met twice, and their
    machine code from the disk. `shared` is a command, as of an interpreter that has imported
    PyTorch."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / library_path().name).symlink_to(library_path())

        def meet(times, expected, interpreter=shared):
            result = subprocess.run(
                [*interpreter, "-c", MEETS, sys.path[0], str(times)],
                capture_output=True,
                text=True,
                env={**os.environ, "FAD_CACHE_DIR": str(folder)},
            )
            printed = result.stdout.strip() == f"{expected} False"
            return printed or print(result.stdout, result.stderr) or False

        def find_code():
            """The files of machine code, each of which is written once."""
            return {path: path.stat().st_ino for path in (folder / "code").glob("llvmcache-*")}

        check("a first process has nothing", lambda: meet(1, 0))
        check("a first process compiles at the second time", lambda: meet(2, 1, [sys.executable]))
        written = find_code()
        # Files of others are left alone.
        (sequences,) = folder.glob("*-sequences")
        (sequences / "folder").mkdir()
        (sequences / "bytes").write_bytes(b"\xff\xfe")
        check("a second process has kernels", lambda: meet(1, 1))
        check("which it has read", lambda: len(written) > 0 and find_code() == written)
        for path in written:
            path.write_bytes(path.read_bytes()[:100])
        check("what cannot be read is compiled", lambda: meet(1, 1))
        check("and written", lambda: all(path.stat().st_size > 100 for path in written))


# Arguments: whether fad is installed anew while the process runs.
INSTALLS = """
import os, shutil, sys
import fad
from fad import _fad
if sys.argv[1] == "True":
    shutil.copyfile(_fad.__file__, _fad.__file__ + ".new")
    os.replace(_fad.__file__ + ".new", _fad.__file__)
fad.compile(fad.nest(fad.parse(
    "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {"
    "%y = math.tanh %x : tensor<4xf32> return %y : tensor<4xf32> }")))
"""


def check_installation(check):
    """A process whose code generator is replaced while it runs leaves nothing for those that
    run the other one, which may compile otherwise."""
    with tempfile.TemporaryDirectory() as folder:
        folder, package = pathlib.Path(folder), pathlib.Path(fad.__file__).parent
        (folder / "fad").mkdir()
        for path in package.iterdir():
            copy = shutil.copyfile if path.name.startswith("_fad.") else os.symlink
            copy(path.absolute(), folder / "fad" / path.name)

        def count(is_replaced):
            subprocess.run(
                [sys.executable, "-c", INSTALLS, str(is_replaced)],
                check=True,
                env={**os.environ, "FAD_CACHE_DIR": str(folder), "PYTHONPATH": str(folder)},
            )
            return len(list((folder / "code").glob("llvmcache-*")))

        check("what is compiled by a file that is replaced", lambda: count(True) == 1)
        check("is compiled by the other one", lambda: count(False) == 2)
        check("once", lambda: count(False) == 2)


if __name__ == "__main__":
    check = Checks()
    check_operators(check, ["auto"], list(OPERATORS))
    check_operators(check, ["fad"], [*ACTIVATIONS, "div", "linear"])
    if "--every" in sys.argv:
        check_functions(check, FUNCTIONS, list(TOLERANCES))
    else:
        check_functions(check, FUNCTIONS, [torch.float64], ["auto"])
        check_functions(check, ["abs", "clamp", "hardswish", "elu"], [torch.float64], ["fad"])
    check_functions(check, ["power 0.5", "power -0.5"], [torch.float16])
    check_operators(
        check, ["auto", "fad"], ["GELU"], [torch.float32, torch.bfloat16, torch.float16]
    )
    check_keys(check)
    check_numbers_of_types(check)
    check_two(check)
    check_gradients(check)
    check_cotangents(check)
    check_digits(check)
    check_lives(check)
    check_disk(check, [each for each in sys.argv[1:] if each != "--every"])
    check_installation(check)
    check.finish()

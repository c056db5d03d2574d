"""Checks derivatives in few bits against numpy.

usage: few_bits.py FAD_OPT FAD_RUNNER DIR [--every]

Activations, built-in and composed, between products with 1, are differentiated
for several numbers of bits and types. Gradients are compared with derivatives in
numpy, on a dense grid and on numbers of a logistic distribution: the largest and
the mean-square error have to be those that the residual's reason states, the
latter no greater than what Lloyd's method comes to, and from two bits on a
saturated activation has an exact derivative. Without --every, three of the
settings are checked.
"""

import math
import pathlib
import re
import subprocess
import sys

import numpy as np

RUNS = [("f32", 1), ("f32", 2), ("f32", 3), ("f32", 5), ("f32", 8)]
RUNS += [("f64", 4), ("f16", 3), ("bf16", 3), ("bf16", 8)]
SAMPLE = [("f32", 2), ("f32", 5), ("bf16", 3)]
# Distance of neighboring numbers, relative to them.
EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}
DTYPE = {"f16": "f2", "bf16": "f4", "f32": "f4", "f64": "f8"}
FAR = 1e3
erf = np.vectorize(math.erf, otypes=[float])


def sigmoid(x):
    return np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def d_silu(x):
    return sigmoid(x) * (1 + x * sigmoid(-x))


def d_gelu(x):
    return 0.5 * (1 + erf(x / 2**0.5)) + x * np.exp(-x * x / 2) / (2 * np.pi) ** 0.5


def d_gelu_tanh(x):
    k = (8 / np.pi) ** 0.5
    s = sigmoid(k * (x + 0.044715 * x**3))
    return s + x * s * (1 - s) * k * (1 + 3 * 0.044715 * x**2)


def d_mish(x):
    t = np.tanh(softplus(x))
    return t + x * (1 - t * t) * sigmoid(x)


def d_composed(x):
    t = np.tanh(x)
    return (1 - t * t) * (sigmoid(np.arctan(t)) / (1 + t * t) * t + softplus(np.arctan(t)))


# Operations that make %y of %x, whose type is T, and the derivative.
ACTIVATIONS = [
    ("%y = fad.sigmoid %x : T", lambda x: sigmoid(x) * sigmoid(-x)),
    ("%y = math.tanh %x : T", lambda x: np.cosh(np.clip(x, -500, 500)) ** -2.0),
    ("%y = fad.softplus %x : T", sigmoid),
    ("%y = fad.gelu %x : T", d_gelu),
    ("%y = fad.gelu %x approximate <tanh> : T", d_gelu_tanh),
    ("%y = fad.silu %x : T", d_silu),
    ("%y = fad.mish %x : T", d_mish),
    (
        "%t = math.tanh %x : T\n%a = math.atan %t : T\n"
        "%s = fad.softplus %a : T\n%y = arith.mulf %s, %t : T",
        d_composed,
    ),
]


def make_program(kind, activations, sizes):
    """A chain for each activation, of a size of its own, as a function @f of 1 and
    of the chains' beginnings."""
    one = f"tensor<1x1x{kind}>"
    types = [f"tensor<{size}x1x{kind}>" for size in sizes]
    body, results = [f"%zero = arith.constant 0.0 : {kind}"], []
    for index, ((spelling, _), type_) in enumerate(zip(activations, types)):
        spelling = re.sub(r"%(\w)", rf"%\g<1>{index}_", spelling.replace("T", type_))
        for source, target in (f"%in{index}", f"%x{index}_"), (f"%y{index}_", f"%z{index}"):
            init = f"%init_{target[1:]}"
            body.append(f"%empty_{target[1:]} = tensor.empty() : {type_}")
            body.append(
                f"{init} = linalg.fill ins(%zero : {kind})"
                f" outs(%empty_{target[1:]} : {type_}) -> {type_}"
            )
            body.append(
                f"{target} = linalg.matmul ins({source}, %one : {type_}, {one})"
                f" outs({init} : {type_}) -> {type_}"
            )
            body.append(spelling if source[1] == "i" else "")
        results.append(f"%z{index}")
    arguments = ", ".join(f"%in{i}: {type_}" for i, type_ in enumerate(types))
    return (
        f"func.func @f(%one: {one}, {arguments}) -> ({', '.join(types)}) {{\n"
        + "\n".join(body)
        + f"\nreturn {', '.join(results)} : {', '.join(types)}\n}}\n"
    )


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def find_errors(text, sizes):
    """Statements of the reasons of residuals, by the sizes of their contents."""
    stated = {}
    for residual in re.finditer(
        r"fad\.residual (%\w+) .*off by at most ([^,]*), mean square ([^,\"]*)", text
    ):
        codes = re.search(rf"{residual[1]} = fad\.pack .*: tensor<(\d+)x1xi8>", text)
        stated[int(codes[1])] = float(residual[2]), float(residual[3])
    return [stated[size] for size in sizes]


def round_to(kind, x):
    if kind != "bf16":
        return x.astype(DTYPE[kind])
    bits = x.astype("f4").view("u4")
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & 0xFFFF0000).astype("u4").view("f4")


def find_lloyd_error(d, count, fixed):
    """The mean-square error of levels found by Lloyd's method, some of them
    fixed."""
    levels = np.linspace(d.min(), d.max(), 2 * count + 1)[1::2]
    for _ in range(200):
        for level in fixed:
            levels[np.abs(levels - level).argmin()] = level
        number = np.searchsorted((levels[1:] + levels[:-1]) / 2, d)
        sums = np.bincount(number, d, count)
        counts = np.bincount(number, minlength=count)
        levels = np.where(counts > 0, sums / np.maximum(counts, 1), levels)
        for level in fixed:
            levels[np.abs(levels - level).argmin()] = level
    number = np.searchsorted((levels[1:] + levels[:-1]) / 2, d)
    return np.mean((d - levels[number]) ** 2)


def sample(kind):
    """Numbers of a logistic distribution, then a grid, two large numbers and
    infinities; and how many are of the first kind."""
    p = (np.arange(4096) + 0.5) / 4096
    sampled = np.log(p / (1 - p))
    grid = np.concatenate([np.linspace(-16, 16, 4097), [-FAR, FAR, -np.inf, np.inf]])
    return round_to(kind, np.concatenate([sampled, grid])), sampled.size


def measure(kind, activations, wrt_one, options, programs, folder):
    """For each activation the errors that are stated, and the gradients at
    `sample(kind)`. `wrt_one`: also differentiate with respect to the 1."""
    fad_opt, fad_runner = programs
    x, _ = sample(kind)
    sizes = [x.size + index for index in range(len(activations))]
    path = folder / f"{kind}.mlir"
    path.write_text(make_program(kind, activations, sizes))
    wrt = ",".join(map(str, range(0 if wrt_one else 1, len(sizes) + 1)))
    select = " ".join(["policy=auto", "recompute=nothing", *options])
    passes = [
        f"--fad-differentiate=derivatives-from=both wrt={wrt}",
        f"--fad-select-residuals={select}",
    ]
    text = run(fad_opt, path, "--fad-partition", *passes)
    arguments = ["--arg=1"]
    for index, size in enumerate(sizes):
        np.save(folder / f"x{index}.npy", np.pad(x, (0, size - x.size))[:, None])
        arguments.append(f"--arg={folder}/x{index}.npy")
    arguments += ["--policy=auto", "--recompute=nothing", f"--wrt={wrt}"]
    arguments += [f"--{option}" for option in options]
    run(fad_runner, path, f"--out={folder}", *arguments)
    for index, errors in enumerate(find_errors(text, sizes)):
        gradient = np.load(folder / f"grad{index + 1}.npy")
        yield errors, gradient[: x.size, 0].astype("f8")


def report(setting, conditions):
    """Prints which conditions do not hold, and returns how many."""
    wrong = [what for what, holds in conditions.items() if not holds]
    for what in wrong:
        print(f"{setting}: not so: {what}")
    return len(wrong)


def is_stated(stated, error, num_sampled, rounding, slack=0.1):
    """Conditions on what is stated of `error`; the largest may be stated too great
    by the fraction `slack`."""
    largest, mean_square = stated
    measured = np.abs(error).max(), np.mean(error[:num_sampled] ** 2)
    return {
        f"largest error {measured[0]:.3g} is {largest}": (1 - slack) * largest - rounding
        <= measured[0]
        <= 1.01 * largest + rounding,
        f"mean square {measured[1]:.3g} is {mean_square}": abs(measured[1] - mean_square)
        <= 0.04 * mean_square + rounding**2,
    }


def check(kind, bits, programs, folder):
    x, num_sampled = sample(kind)
    # Formulas in numpy are not made for infinities.
    x = np.clip(x.astype("f8"), -FAR, FAR)
    rounding = EPSILON[kind] * 1.2
    options = [f"derivative-bits={bits}"]
    measured = measure(kind, ACTIVATIONS, False, options, programs, folder)
    wrong = 0
    for (spelling, derivative), (stated, gradient) in zip(ACTIVATIONS, measured):
        expected = derivative(x)
        error = gradient - expected
        limits = sorted({round(number) + 0.0 for number in expected[-4:]})
        lloyd = find_lloyd_error(expected[:num_sampled], 2**bits, limits if bits > 1 else [])
        conditions = is_stated(stated, error, num_sampled, rounding)
        conditions |= {
            f"mean square {stated[1]} is at most {lloyd:.3g}": stated[1]
            <= 1.02 * lloyd + rounding**2,
            "there are few values": np.unique(gradient).size <= 2**bits,
            "saturated ones are exact": bits == 1 or not error[-4:].any(),
        }
        wrong += report(f"{spelling!r}, {kind}, {bits} bits", conditions)
    return wrong


def main(fad_opt, fad_runner, folder, *every):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return sum(
        check(*setting, (fad_opt, fad_runner), folder) for setting in (RUNS if every else SAMPLE)
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) != 0)

"""Checks what utils/accuracy.py --least=0.125 printed, with or without --torch.

usage: check_accuracy.py FILE [gpu|estimates [ACTIVATION ...]]

Without activations, FILE has to have all.

In f16 and bf16, what is computed in f32 and rounded once errs by half a unit, and by
a little more where f32 errs; a derivative that passes through zero by more units, but
not more in all. In f32 the bounds are of the error, relative to 1 and above.
"""

import sys

# Half a unit of numbers just below 1, of the type.
ROUNDING = {"f16": 2.0**-11, "bf16": 2.0**-8}
# The error of values and derivatives in f32.
F32 = {
    "sigmoid": (1e-7, 1e-7),
    "tanh": (8e-8, 1.2e-7),
    "softplus": (1e-7, 1e-7),
    "elu": (5e-8, 4e-8),
    "silu": (1.5e-7, 2.2e-7),
    "gelu": (1.2e-7, 1.5e-7),
    "gelu_tanh": (1.6e-7, 2.3e-7),
    "mish": (1.4e-7, 1.7e-7),
    "relu": (0, 0),
    "leaky_relu": (9e-8, 3e-10),
    "hardsigmoid": (6e-8, 6e-9),
    "hardswish": (1.5e-7, 9e-8),
    "softsign": (1e-7, 2.2e-7),
    "logsigmoid": (1.1e-7, 7.5e-8),
    "hardtanh": (0, 0),
    "celu": (6.5e-8, 4e-8),
}
# By the formulas of GPUs, and where their estimates err by two units.
GPU = F32 | {"celu": (6.5e-8, 4.5e-8), "elu": (5e-8, 4.5e-8), "gelu": (1.2e-7, 2.7e-7)}
ESTIMATES = F32 | {
    "sigmoid": (1.3e-7, 1e-7),
    "tanh": (2.3e-7, 2.9e-7),
    "softplus": (1.8e-7, 1.3e-7),
    "elu": (5e-8, 2.8e-7),
    "silu": (1.9e-7, 2.2e-7),
    "gelu": (2.1e-7, 6.8e-7),
    "mish": (1.8e-7, 2e-7),
    "logsigmoid": (1.8e-7, 1e-7),
    "celu": (6.5e-8, 2.8e-7),
}
# Where PyTorch may err less in f32, by as much as the processor's library keeps digits
# on the way, nothing is held against it. The errors of fad's own formulas do not depend
# on the processor; these are bounds in units in the last place, of numbers that are not
# near zero.
UNITS = {
    ("tanh", "value"): 1.25,
    ("tanh", "slope"): 4.8,
    ("softplus", "value"): 1.6,
    ("softplus", "slope"): 2.1,
    ("celu", "value"): 1,
    ("logsigmoid", "value"): 1.6,
    ("silu", "value"): 2.5,
    ("mish", "value"): 2.8,
    ("softsign", "slope"): 3.6,
}
# Derivatives that fad reads off the value, and PyTorch off the operand.
READ_OFF = {("logsigmoid", "slope")}
GPU_UNITS = UNITS | {("tanh", "slope"): 6}

how = "".join(sys.argv[2:3])
names = set(sys.argv[3:]) or set(F32)
bounds = {"": F32, "gpu": GPU, "estimates": ESTIMATES}[how]
units_bounds = UNITS if how == "" else GPU_UNITS
failed = False
with open(sys.argv[1]) as file:
    lines = file.read().splitlines()[2:]
kinds = {line.split()[1] for line in lines}
assert kinds == {*ROUNDING, "f32"} or (kinds == {"f32"} and how == "estimates"), kinds
assert {line.split()[0] for line in lines} == names, names
assert len(lines) == len(names) * len(kinds) * 2, len(lines)
for line in lines:
    name, kind, title, *figures = line.split()
    error, units, *beside = (float(figure) for figure in figures)
    most = units_bounds.get((name, title)) if kind == "f32" else None
    # Without PyTorch's errors, there are only bounds.
    compared = beside and most is None and (name, title) not in READ_OFF
    theirs = beside[0] if compared else float("nan")
    bound = bounds[name][title == "slope"] if kind == "f32" else 1.15 * ROUNDING[kind]
    # A derivative that is read off the value has the error of that, too.
    if (name, title) == ("tanh", "slope") and kind != "f32":
        bound = 2.4 * ROUNDING[kind]
    limits = [(error, bound, "the bound"), (error, 1.02 * theirs, "PyTorch's error")]
    if most and how != "estimates":
        limits.append((units, most, "the bound in units"))
    for figure, limit, what in limits:
        # Not a number is no error that is small enough.
        if not figure <= limit and not (what == "PyTorch's error" and theirs != theirs):
            print(f"{line}: more than {what}, {limit:.3g}")
            failed = True
sys.exit(failed)

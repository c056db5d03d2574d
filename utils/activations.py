"""Activations, by name: the operation, formulas of the value and the derivative that
do not cancel, and how PyTorch and models spell them. They are read from the definitions
of the operations, in include/fad/IR/Activations.

Formulas take an array of f64 and the module that computes with it: numpy, or PyTorch,
on any device. Neither has to be there until then."""

import ast
import functools
import math
import pathlib
import re
from typing import NamedTuple


def erfc(x, xp):
    if xp.__name__ == "torch":
        return xp.special.erfc(x)
    return xp.vectorize(math.erfc, otypes=[float])(x)


def sigmoid(x, xp):
    e = xp.exp(-abs(x))
    return xp.where(x < 0, e, 1) / (1 + e)


def normal(x, xp):
    return erfc(-x / math.sqrt(2), xp) / 2


def density(x, xp):
    return xp.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def cubic(x, xp):
    """Returns the argument of the sigmoid in the approximation of the normal distribution."""
    return 2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)


def slope_of_cubic(x, xp):
    return 2 * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)


def get_ratio(x, xp):
    """tanh(softplus(x)) as a quotient, multiplied by exp(-2x) where x is positive."""
    e = xp.exp(-abs(x))
    n = xp.where(x < 0, e * (e + 2), 1 + 2 * e)
    return e, n, n + xp.where(x < 0, 2, 2 * e * e)


def ratio(x, xp):
    _, n, m = get_ratio(x, xp)
    return n / m


def slope_of_ratio(x, xp):
    e, _, m = get_ratio(x, xp)
    return 4 * xp.where(x < 0, e, e * e) * (1 + e) / m**2


def times(slope, inner, xp):
    """slope * inner, where an infinite `inner` has no slope."""
    return slope * xp.where(slope == 0, 0, inner)


def gate(value, x, slope, xp):
    """value + x * slope, where an infinite x has no slope."""
    return value + xp.where(slope == 0, 0, x * slope)


HELPERS = (cubic, density, gate, normal, ratio, sigmoid, slope_of_cubic, slope_of_ratio, times)


class Activation(NamedTuple):
    operation: str
    attributes: str
    """PyTorch's function, and its arguments."""
    torch_call: str
    """Value and derivative, as formulas of x."""
    formulas: tuple

    def reference(self, x, xp):
        """Value and derivative at an array, by a module."""
        names = {each.__name__: functools.partial(each, xp=xp) for each in HELPERS}
        for name in ("where", "exp", "expm1", "log1p", "tanh", "ones_like"):
            names[name] = getattr(xp, name)
        return tuple(eval(formula, names, {"x": x}) for formula in self.formulas)

    @property
    def torch_name(self):
        return self.torch_call.partition("(")[0]

    @property
    def torch_arguments(self):
        arguments = self.torch_call.partition("(")[2]
        return eval(f"dict({arguments or ')'}")


def find_definitions():
    """Returns the folder of the definitions: beside this file, in a kit for machines with a GPU, or
    in the checkout."""
    here = pathlib.Path(__file__)
    folders = here.with_name("Activations"), here.parents[1] / "include/fad/IR/Activations"
    return next(folder for folder in folders if folder.is_dir())


def read_activations():
    """Yields the statements of the activations' definitions for each set of attributes."""
    for path in sorted(find_definitions().glob("*.td")):
        text = path.read_text()
        (operation,) = re.findall(r': Fad_Activation<"(\w+)"', text)
        # A list of lists of strings reads the same in TableGen and in Python.
        (references,) = re.findall(r"let references = (\[.*?\]);", text, re.DOTALL)
        for name, attributes, torch_call, *formulas in ast.literal_eval(references):
            yield name, Activation(f"fad.{operation}", attributes, torch_call, formulas)


TANH = Activation("math.tanh", "", "tanh", ("tanh(x)", "4 * sigmoid(2 * x) * sigmoid(-2 * x)"))
ACTIVATIONS = dict(read_activations()) | {"tanh": TANH}

# The same composed of PyTorch's primitives, as models spell it.
COMPOSED = {
    "silu": lambda torch, x: x * torch.sigmoid(x),
    "gelu": lambda torch, x: x * 0.5 * (1 + torch.erf(x / 2**0.5)),
    "gelu_tanh": lambda torch, x: (
        0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))
    ),
    "mish": lambda torch, x: x * torch.tanh(torch.nn.functional.softplus(x)),
}


def spell(name, kind, function="f"):
    """Returns a function in MLIR that computes the activation."""
    operation, attributes, *_ = ACTIVATIONS[name]
    tensor = f"tensor<?x{kind}>"
    return (
        f"func.func @{function}(%x: {tensor}) -> {tensor} {{\n"
        f"  %y = {operation} %x{attributes} : {tensor}\n"
        f"  return %y : {tensor}\n}}\n"
    )


def get_torch_function(name):
    """PyTorch's own function for the activation."""
    import torch

    activation = ACTIVATIONS[name]
    function = activation.torch_name
    where = torch if function in ("tanh", "sigmoid") else torch.nn.functional
    return functools.partial(getattr(where, function), **activation.torch_arguments)

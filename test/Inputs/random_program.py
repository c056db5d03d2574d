"""Random programs on tensors with their derivatives, for tests of differentiation.

A program is made together with its arguments and evaluated while it grows, by
forward mode (`duals`): it knows its results and their tangents along every element
of every argument. An operation whose outcome rounding would decide is left out; so
poles are kept away from, and ties are those of numbers that are exact.

Sizes are static or dynamic, among them 0 and 1, ranks 0 to 4; element types are
f16, bf16, f32 and f64, also mixed.
"""

import random
from dataclasses import dataclass

import numpy as np

import duals
from random_control import Control
from random_elementwise import Elementwise
from random_generic import Generic
from random_layers import Layers
from random_movements import Movements

# Tensors above this size say nothing that smaller ones do not.
MOST_ELEMENTS = 150


@dataclass(frozen=True)
class Value:
    """A tensor of a program. `sizes` has for each dimension its size, and what
    computes it, or None for one that is static."""

    name: str
    sizes: tuple
    element: str

    @property
    def shape(self):
        return tuple(size for size, _ in self.sizes)

    @property
    def type(self):
        sizes = "".join("?x" if name else f"{size}x" for size, name in self.sizes)
        return f"tensor<{sizes}{self.element}>"

    @property
    def dynamic(self):
        """The sizes that an operation which makes such a tensor is told."""
        return ", ".join(name for _, name in self.sizes if name)


class Program(Control, Elementwise, Generic, Layers, Movements):
    def __init__(self, seed, name="f", operations=None):
        self.random = random.Random(seed)
        self.name, self.count, self.depth = name, 0, 0
        self.lines, self.trace, self.values, self.masks = [], [], [], []
        # Elements of values, and tensors of i1, by name.
        self.env = {}
        self.element = self.random.choice(["f64", "f64", "f32", "f32", "f16", "bf16"])
        self.mixed = self.chance(0.3)
        self.exact = self.chance(0.4)
        self.special = []
        if self.chance(0.15):
            self.special = [np.nan] if self.chance(0.3) else [np.inf, -np.inf]
        duals.MAY_BE_NAN.set(np.nan in self.special)
        self.make_arguments()
        for _ in range(operations or self.random.randint(1, 14)):
            self.grow()
        self.choose_results()

    # Choices.

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, accept=lambda value: True):
        """A value, late ones more often. Raises Unsuitable where there is none."""
        found = [value for value in self.values if accept(value)]
        if not found:
            raise duals.Unsuitable("no such value")
        return self.random.choice(found[-4:] if self.chance(0.7) else found)

    def pick_type(self):
        types = ["f64", "f32", "f16", "bf16"]
        return self.random.choice(types) if self.mixed else self.element

    def dual(self, value):
        return self.env[value.name]

    # Text.

    def emit(self, text):
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def index(self, number):
        return self.emit(f"arith.constant {number} : index")

    def opaque(self, number):
        """A number of type index that only a run of the program tells, where an argument
        has a size of which that is so."""
        sizes = [size for value in self.arguments for size in value.sizes if size[1]]
        if not sizes:
            return self.index(number)
        size, name = self.random.choice(sizes)
        return self.emit(f"arith.addi {name}, {self.index(number - size)} : index")

    def perhaps_opaque(self, number, probability):
        """A size of a tensor, with what computes it or None."""
        return number, self.opaque(number) if self.chance(probability) else None

    def constant(self, number, element):
        return self.emit(f"arith.constant {float(number)!r} : {element}")

    def empty(self, sizes, element):
        """The name of a tensor whose elements are not known, and its type."""
        like = Value("", tuple(sizes), element)
        return self.emit(f"tensor.empty({like.dynamic}) : {like.type}"), like.type

    # Values. What computes a dual number from those of `env` is kept, as a loop has
    # to do it again.

    def evaluate(self, name, compute):
        self.remember(name, compute)
        self.trace.append((name, compute))

    def remember(self, name, compute):
        """Computes a value, and which directions meet an infinite slope in it: that
        times a cotangent of zero, of values that are cut off or not chosen, is NaN."""
        made = self.env[name] = compute()
        for dual in made if isinstance(made, list) else [made]:
            # Others are masks.
            if isinstance(dual, duals.Dual):
                slack = dual.slack.reshape(self.directions, dual.value.size)
                self.unsure |= ~np.isfinite(slack).all(-1)

    def add(self, text, sizes, element, compute):
        """A value, without putting it among those that are read."""
        value = Value(self.emit(text), tuple(sizes), element)
        if np.prod(value.shape, initial=1) > MOST_ELEMENTS:
            raise duals.Unsuitable("large")
        self.evaluate(value.name, compute)
        return value

    def fill(self, number, sizes, element):
        """A tensor of one constant."""
        shape = tuple(size for size, _ in sizes)
        directions = self.directions

        def compute():
            return duals.constant(element, np.full(shape, float(number)), directions)

        if all(name is None for _, name in sizes) and self.chance(0.5):
            like = Value("", tuple(sizes), element)
            text = f"arith.constant dense<{float(number)!r}> : {like.type}"
            return self.add(text, sizes, element, compute)
        init, type_ = self.empty(sizes, element)
        scalar = self.constant(number, element)
        text = f"linalg.fill ins({scalar} : {element}) outs({init} : {type_}) -> {type_}"
        return self.add(text, sizes, element, compute)

    def cast(self, value, sizes):
        """`value` as a tensor of the same sizes, of which others are static."""
        like = Value("", tuple(sizes), value.element)
        if like.type == value.type:
            return value
        text = f"tensor.cast {value.name} : {value.type} to {like.type}"
        return self.add(text, sizes, value.element, lambda: self.dual(value))

    def convert(self, value, element):
        """`value` in another type."""
        if value.element == element:
            return value
        widths = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16}
        if widths[value.element] == widths[element]:
            value = self.convert(value, "f32")
        op = "extf" if widths[element] > widths[value.element] else "truncf"
        like = Value("", value.sizes, element)

        def compute():
            ones = lambda a: [np.ones_like(a)]
            exact = op == "extf"
            return duals.elementwise(element, lambda a: a, ones, self.dual(value), exact=exact)

        text = f"arith.{op} {value.name} : {value.type} to {like.type}"
        return self.add(text, value.sizes, element, compute)

    def like(self, value, other):
        """`other`, of the same shape, in the type of `value`."""
        return self.convert(self.cast(other, value.sizes), value.element)

    def pick_like(self, value):
        """A value of the shape of `value`, perhaps that, in its type."""
        return self.like(value, self.pick(lambda other: other.shape == value.shape))

    # Arguments.

    def make_numbers(self, shape, element, rng):
        if self.exact:
            # Small numbers, of which many are equal; both zeros.
            numbers = rng.choice([-3, -1, -0.5, -0.0, 0, 0, 0.5, 0.5, 1, 1, 2, 3], shape)
            if shape and self.chance(0.2):
                numbers[...] = numbers[..., :1]
            return numbers
        return np.round(rng.standard_normal(shape) * 64) / 64

    def make_arguments(self):
        rng = np.random.default_rng(self.random.randrange(1 << 30))
        pool = self.random.sample([1, 2, 3, 4, 5], 2) + [self.random.choice([0, 1, 2, 3])]
        self.arguments, arrays, self.given = [], [], []
        for index in range(self.random.randint(1, 4)):
            rank = self.random.choice([0, 1, 1, 2, 2, 2, 2, 3, 3])
            sizes = [self.random.choice(pool) for _ in range(rank)]
            name = f"%x{index}"
            dynamic = [f"{name}d{dim}" if self.chance(0.35) else None for dim in range(rank)]
            value = Value(name, tuple(zip(sizes, dynamic)), self.pick_type())
            for dim, size in enumerate(dynamic):
                if size:
                    at = self.index(dim)
                    self.lines.append(f"{size} = tensor.dim {name}, {at} : {value.type}")
            self.arguments.append(value)
            arrays.append(self.make_numbers(value.shape, value.element, rng))
        self.directions = sum(array.size for array in arrays)
        self.unsure = np.zeros(self.directions, bool)
        start = 0
        for value, array in zip(self.arguments, arrays):
            tangent = np.zeros((self.directions, array.size))
            tangent[start : start + array.size] = np.eye(array.size)
            tangent = tangent.reshape(self.directions, *array.shape)
            start += array.size
            self.given.append(array.copy())
            error = np.zeros(array.shape)
            if self.special and array.size and self.chance(0.5):
                place = self.random.randrange(array.size)
                self.given[-1].flat[place] = self.random.choice(self.special)
                error.flat[place] = np.inf
            self.env[value.name] = duals.Dual(value.element, array, tangent, error, 0 * tangent)
        self.values = list(self.arguments)
        self.trips = self.random.choice([0, 1, 2, 3])
        # Numbers that a switch may go by; env has their values.
        self.numbers, self.env["%trips"] = ["%trips"], self.trips
        self.taken = self.chance(0.5)
        self.uses_trips = self.uses_taken = False

    # Operations.

    def grow(self):
        """Appends one operation, or what surrounds it."""
        kinds = [*self.elementwise_kinds(), *self.generic_kinds()]
        kinds += [*self.layer_kinds(), *self.movement_kinds()]
        if self.depth < 2:
            kinds += self.control_kinds()
        for _ in range(10):
            try:
                value = self.random.choice(kinds)()
            except duals.Unsuitable:
                continue
            if value:
                self.values.append(value)
            return

    # The function.

    def choose_results(self):
        """The last value, others, perhaps an argument or one of them twice."""
        count = self.random.choice([1, 2, 2, 3])
        self.results = [self.values[-1]]
        self.results += [self.pick() for _ in range(count - 1)]

    def text(self):
        parameters = [f"{value.name}: {value.type}" for value in self.arguments]
        parameters += ["%trips: index"] * self.uses_trips + ["%taken: i1"] * self.uses_taken
        types = ", ".join(value.type for value in self.results)
        names = ", ".join(value.name for value in self.results)
        head = f"func.func @{self.name}({', '.join(parameters)}) -> ({types}) {{"
        return "\n".join([head, *self.lines, f"return {names} : {types}", "}"]) + "\n"

    def inputs(self):
        """The arguments of the function: arrays of f64, and numbers."""
        extra = [np.int64(self.trips)] * self.uses_trips + [np.bool_(self.taken)] * self.uses_taken
        return self.given + extra

    def split(self, directions):
        """The directions, as an array for each argument."""
        sizes = [self.dual(value).value.size for value in self.arguments]
        parts = np.split(directions, np.cumsum(sizes)[:-1])
        return [part.reshape(value.shape) for part, value in zip(parts, self.arguments)]

    def gradients(self, cotangents):
        """The gradient for each argument, and what it may be off by."""
        total, slack = np.zeros(self.directions), np.zeros(self.directions)
        for value, cotangent in zip(self.results, cotangents):
            dual = self.dual(value)
            flat = cotangent.reshape(-1)
            terms = dual.tangent.reshape(self.directions, flat.size) * flat
            total += terms.sum(-1)
            slack += dual.slack.reshape(self.directions, flat.size) @ np.abs(flat)
            slack += duals.UNITS[value.element] * (flat.size + 2) * np.abs(terms).sum(-1)
        slack[self.unsure] = np.inf
        parts = zip(self.arguments, self.split(total), self.split(slack))
        # A result is rounded to the type of the argument.
        return [
            (
                part,
                off
                + duals.UNITS[value.element] * (np.abs(part) + off)
                + duals.LEAST[value.element],
            )
            for value, part, off in parts
        ]

"""Random programs on tensors, for tests of differentiation.

Each is a function of a few tensors, made of elementwise chains with shared values,
several sources, masks, selects, broadcasts, reductions, normalizations, transposes,
reshapes, windows and contractions, with several results. In f64 and without narrow
types, differences confirm its gradients: it has neither poles nor ties.
"""

import random
from collections import namedtuple

from random_layers import Layers

# A tensor of a program; a size of its shape is a number or "?".
Value = namedtuple("Value", "name shape element")

# What a program may round to, by its own type.
NARROWER = {"f32": ["bf16", "f16"], "f64": ["f32"]}


class Program(Layers):
    """A random function as text. Without `narrow`, all its floats are of one type;
    what it does is the same in each of them."""

    # What "?" stands for in the arguments that a test makes, unless it says.
    DYNAMIC = 3

    def __init__(self, seed, element, name="f", narrow=False):
        self.random = random.Random(seed)
        self.element, self.name = element, name
        self.narrower = NARROWER[element] if narrow else []
        self.lines = []
        self.count = 0
        self.values = []
        rows = self.random.choice(["?", self.DYNAMIC, 4])
        self.sizes = [rows, self.random.choice([1, 2, 5]), 4]

    # Text.

    def type(self, shape, element=None):
        sizes = "".join(f"{size}x" for size in shape)
        return f"tensor<{sizes}{element or self.element}>"

    def emit(self, text):
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def add(self, text, shape, element):
        """Appends a value of the program."""
        self.values.append(Value(self.emit(text), shape, element))
        return self.values[-1]

    def apply(self, op, *values):
        """An elementwise operation on tensors of one type, whose name it returns."""
        names = ", ".join(value.name for value in values)
        return self.emit(f"{op} {names} : {self.type(*values[0][1:])}")

    def add_applied(self, op, *values):
        return self.add(*self.text_of(op, *values))

    def text_of(self, op, *values):
        names = ", ".join(value.name for value in values)
        shape, element = values[0][1:]
        return f"{op} {names} : {self.type(shape, element)}", shape, element

    def constant(self, value, element):
        return self.emit(f"arith.constant {value!r} : {element}")

    def splat(self, value, like):
        """A tensor of one constant, of the shape and type of `like`."""
        if "?" in like.shape:
            return self.fill(value, like.shape, like.element)
        kind = self.type(*like[1:])
        name = self.emit(f"arith.constant dense<{value!r}> : {kind}")
        return Value(name, *like[1:])

    def empty(self, shape, element):
        sizes = ", ".join("%rows" for size in shape if size == "?")
        return self.emit(f"tensor.empty({sizes}) : {self.type(shape, element)}")

    def fill(self, value, shape, element):
        init, scalar = self.empty(shape, element), self.constant(value, element)
        kind = self.type(shape, element)
        name = self.emit(
            f"linalg.fill ins({scalar} : {element}) outs({init} : {kind}) -> {kind}"
        )
        return Value(name, shape, element)

    # Choices.

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, accept=lambda value: True, floats=True):
        """A value, late ones more often, or nothing."""
        found = [
            value
            for value in self.values
            if (value.element != "i1") == floats and accept(value)
        ]
        if not found:
            return None
        recent = found[-4:]
        return self.random.choice(recent if self.chance(0.7) else found)

    def pick_rank(self, rank, accept=lambda value: True):
        return self.pick(lambda value: len(value.shape) == rank and accept(value))

    def pick_like(self, like):
        """A value of the shape and type of `like`, perhaps that."""
        return self.pick(lambda value: value[1:] == like[1:])

    # Operations. Each appends a value, of moderate size, to those there are.

    def unary(self):
        op = self.random.choice(
            ["math.sin", "math.cos", "math.tanh", "math.erf", "math.atan", "arith.negf"]
            + ["fad.gelu", "fad.silu", "fad.sigmoid", "fad.softplus", "fad.elu"]
            + ["fad.mish"]
        )
        self.add_applied(op, self.pick())

    def bounded(self):
        """A function that must be kept from growing or from its pole."""
        value = self.pick()
        inner = value._replace(name=self.apply("math.sin", value))
        op = self.random.choice(["math.exp", "math.exp2", "math.sinh", "math.cosh"])
        if self.chance(0.5):
            two = self.splat(2.0, value)
            inner = value._replace(name=self.apply("arith.addf", inner, two))
            op = self.random.choice(["math.log", "math.sqrt", "math.rsqrt", "math.cbrt"])
        self.add_applied(op, inner)

    def bent(self):
        """A chain whose derivative takes few values: a slope, or none."""
        value = self.pick()
        low, slope = self.splat(0.25, value), self.splat(-1.5, value)
        op = self.random.choice(["arith.maximumf", "arith.minimumf"])
        bent = value._replace(name=self.apply(op, value, low))
        if self.chance(0.5):
            bent = value._replace(name=self.apply("math.absf", bent))
        self.add_applied("arith.mulf", bent, slope)

    def spelled(self):
        """x * sigmoid(x), written out, with an intermediate value in the pool."""
        value = self.pick()
        one = self.splat(1.0, value)
        minus = value._replace(name=self.apply("arith.negf", value))
        power = value._replace(name=self.apply("math.exp", minus))
        below = value._replace(name=self.apply("arith.addf", power, one))
        sigmoid = self.add_applied("arith.divf", one, below)
        self.add_applied("arith.mulf", sigmoid, value)

    def scaled(self):
        """With a splat, or with a constant that is not one."""
        value = self.pick()
        if "?" in value.shape or self.chance(0.5):
            constant = self.splat(self.random.choice([0.5, -1.25, 2.0]), value)
        else:
            count = 1
            for size in value.shape:
                count *= size
            numbers = [2.5 * index / max(count - 1, 1) - 1 for index in range(count)]
            for size in value.shape[:0:-1]:
                numbers = [
                    numbers[start : start + size] for start in range(0, len(numbers), size)
                ]
            dense = numbers if value.shape else numbers[0]
            kind = self.type(*value[1:])
            name = self.emit(f"arith.constant dense<{dense}> : {kind}")
            constant = value._replace(name=name)
        op = self.random.choice(["arith.addf", "arith.subf", "arith.mulf"])
        self.add_applied(op, value, constant)

    def binary(self):
        value = self.pick()
        other = self.pick_like(value)
        op = self.random.choice(["addf", "subf", "mulf", "mulf", "divf", "maximumf"])
        if op == "divf":
            sine = value._replace(name=self.apply("math.sin", other))
            two = self.splat(2.0, value)
            other = value._replace(name=self.apply("arith.addf", sine, two))
        self.add_applied(f"arith.{op}", value, other)

    def mask(self):
        """A tensor of i1, from a comparison or from other such tensors."""
        masks = self.pick(floats=False)
        if masks and self.chance(0.4):
            other = self.pick(lambda value: value.shape == masks.shape, floats=False)
            op = self.random.choice(["arith.andi", "arith.ori", "arith.xori"])
            self.add_applied(op, masks, other)
            return
        value = self.pick()
        other = self.splat(0.0, value) if self.chance(0.6) else self.pick_like(value)
        op = self.random.choice(["arith.cmpf ogt,", "arith.cmpf ole,"])
        text, shape, _ = self.text_of(op, value, other)
        self.add(text, shape, "i1")

    def select(self):
        value = self.pick()
        other = self.splat(0.0, value) if self.chance(0.4) else self.pick_like(value)
        found = self.pick(lambda mask: mask.shape == value.shape, floats=False)
        if found and self.chance(0.7):
            test = found.name
        else:
            tested = self.pick(lambda candidate: candidate.shape == value.shape)
            zero = self.splat(0.0, tested)
            test = self.apply("arith.cmpf ogt,", tested, zero)
        self.add(
            f"arith.select {test}, {value.name}, {other.name}"
            f" : {self.type(value.shape, 'i1')}, {self.type(*value[1:])}",
            *value[1:],
        )

    def convert(self):
        """Rounds to a narrower type, or widens again."""
        value = self.pick()
        if value.element != self.element:
            op, to = "arith.extf", self.element
        elif self.narrower:
            op, to = "arith.truncf", self.random.choice(self.narrower)
        else:
            return
        kinds = [self.type(value.shape, element) for element in (value.element, to)]
        self.add(f"{op} {value.name} : {kinds[0]} to {kinds[1]}", value.shape, to)

    # The function.

    def make_arguments(self):
        rows, inner, columns = self.sizes
        shapes = [(rows, inner), (inner, columns), (columns,), (rows, inner)]
        shapes.append(self.random.choice([(), (rows, 1), (1, inner), (rows,), (2, rows, inner)]))
        return [
            Value(f"%x{index}", shape, self.element) for index, shape in enumerate(shapes)
        ]

    def make_body(self, operations):
        kinds = [self.unary, self.bounded, self.spelled, self.scaled, self.bent]
        kinds += [self.select] * 2
        kinds += [self.mask] * 2
        kinds += [self.binary, self.generic] * 3
        kinds += [self.convert, self.widened]
        kinds += [self.broadcast, self.reduce, self.transpose, self.matmul] * 2
        kinds += [self.maximum, self.softmax, self.normalize, self.dropout]
        kinds += [self.collapse, self.cast, self.batch, self.window, self.slice]
        for _ in range(operations):
            self.random.choice(kinds)()

    def text(self, operations):
        arguments = self.make_arguments()
        self.values = list(arguments)
        self.make_body(operations)
        # The last value, others, an argument, and the same value again.
        floats = [value for value in self.values if value.element != "i1"]
        results = [floats[-1]] + self.random.sample(floats, 2)
        results.append(self.random.choice(results))
        parameters = [f"{value.name}: {self.type(*value[1:])}" for value in arguments]
        types = ", ".join(self.type(*value[1:]) for value in results)
        names = ", ".join(value.name for value in results)
        head = [
            f"func.func @{self.name}({', '.join(parameters)}) -> ({types}) {{",
            "  %c0 = arith.constant 0 : index",
            f"  %rows = tensor.dim %x0, %c0 : {self.type(*arguments[0][1:])}",
        ]
        tail = [f"  return {names} : {types}", "}"]
        return "\n".join(head + self.lines + tail) + "\n"

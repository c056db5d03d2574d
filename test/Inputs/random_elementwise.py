"""The elementwise parts of random programs."""

import numpy as np

import duals
from random_functions import BENT, SEVERAL, SMOOTH, UNIT, POSITIVE

# Numbers that all types have.
NUMBERS = [-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0]


class Elementwise:
    """Operations of `random_program.Program`."""

    def elementwise_kinds(self):
        kinds = [self.smooth] * 4 + [self.bent] * 2 + [self.several] * 5
        return kinds + [
            self.scale,
            self.choose,
            self.choose,
            self.spell,
            self.narrow,
            self.mask,
        ]

    def apply(self, op, *values):
        """An operation on tensors of one type."""
        first, element = values[0], values[0].element
        word, after = op.split()[0], ""
        if op in SMOOTH:
            after, function, slope, _ = SMOOTH[op]
            compute = lambda x: duals.elementwise(element, function, lambda v: [slope(v)], x)
        elif op in BENT:
            after, compute = BENT[op]
        else:
            _, _, compute = SEVERAL[op]
        names = ", ".join(value.name for value in values)
        if op == "math.clampf":
            names = f"{values[0].name} to [{values[1].name}, {values[2].name}]"
        text = f"{word} {names}{after} : {first.type}"
        return self.add(text, first.sizes, element, lambda: compute(*map(self.dual, values)))

    def confine(self, value, where):
        """`value`, taken to where a function is defined."""
        if where is None:
            return value
        if where == UNIT:
            return self.scaled("arith.mulf", self.apply("math.sin", value), 0.5)
        square = self.apply("arith.mulf", value, value)
        return self.scaled("arith.addf", square, 0.5 if where == POSITIVE else 1.5)

    def scaled(self, op, value, number):
        return self.apply(op, value, self.fill(number, value.sizes, value.element))

    def smooth(self):
        op = self.random.choice(sorted(SMOOTH))
        return self.apply(op, self.confine(self.pick(), SMOOTH[op][3]))

    def bent(self):
        return self.apply(self.random.choice(sorted(BENT)), self.pick())

    def several(self):
        op = self.random.choice(sorted(SEVERAL) + ["arith.mulf", "arith.addf"] * 3)
        count, place, _ = SEVERAL[op]
        value = self.pick()
        values = [value]
        for _ in range(count - 1):
            if self.chance(0.3):
                number = self.random.choice(NUMBERS)
                values.append(self.fill(number, value.sizes, value.element))
            else:
                values.append(self.pick_like(value))
        if place is not None and self.chance(0.8):
            values[place] = self.confine(values[place], POSITIVE)
        if op == "math.clampf":
            upper, lower = (self.fill(n, value.sizes, value.element) for n in (1, -0.5))
            values = [value, upper, lower]
        return self.apply(op, *values)

    def scale(self):
        """By a constant of which not all elements are equal."""
        value = self.pick(lambda value: not value.dynamic)
        numbers = np.array(
            [self.random.choice(NUMBERS) for _ in range(np.prod(value.shape, dtype=int))]
        ).reshape(value.shape)
        if not numbers.size:
            return None
        made = self.add(
            f"arith.constant dense<{numbers.tolist()}> : {value.type}",
            value.sizes,
            value.element,
            lambda: duals.constant(value.element, numbers, self.directions),
        )
        return self.apply(self.random.choice(["arith.addf", "arith.mulf"]), value, made)

    def compare(self):
        """A tensor of i1: its name, its type, and what it was compared from."""
        value = self.pick()
        other = self.fill(self.random.choice([0.0, 0.5]), value.sizes, value.element)
        if self.chance(0.4):
            other = self.pick_like(value)
        test = self.random.choice(["olt", "ogt", "ole", "oge", "ult", "une", "oeq"])
        name = self.emit(f"arith.cmpf {test}, {value.name}, {other.name} : {value.type}")

        def compute():
            less, equal = duals.compare(self.dual(value), self.dual(other))
            masks = {"lt": less, "gt": ~less & ~equal, "le": less | equal, "ge": ~less}
            masks |= {"ne": ~equal, "eq": equal}
            return masks[test[1:]], equal

        self.evaluate(name, compute)
        return name, value

    def mask(self):
        """Keeps a comparison, or what two of them make together."""
        name, like = self.compare()
        found = [pair for pair in self.masks if pair[1].sizes == like.sizes]
        if found and self.chance(0.5):
            other = self.random.choice(found)[0]
            op = self.random.choice(["andi", "ori", "xori"])
            kind = like.type.replace(like.element, "i1")
            both = self.emit(f"arith.{op} {name}, {other} : {kind}")
            function = {"andi": np.logical_and, "ori": np.logical_or}.get(op, np.logical_xor)

            def compute(name=name):
                (one, ties), (two, more) = self.env[name], self.env[other]
                return function(one, two), ties | more

            self.evaluate(both, compute)
            name = both
        self.masks.append((name, like))

    def choose(self):
        """Of two values, by a comparison made for it or before."""
        if self.masks and self.chance(0.5):
            name, like = self.random.choice(self.masks)
        else:
            name, like = self.compare()
        value = self.pick(lambda value: value.shape == like.shape)
        value = self.cast(value, like.sizes)
        other = self.fill(0.0, value.sizes, value.element)
        if self.chance(0.6):
            other = self.pick_like(value)
        mask_type = like.type.replace(like.element, "i1")

        def compute():
            mask, ties = self.env[name]
            return duals.select(mask, self.dual(value), self.dual(other), ties)

        text = f"arith.select {name}, {value.name}, {other.name} : {mask_type}, {value.type}"
        return self.add(text, value.sizes, value.element, compute)

    def spell(self):
        """An activation written out, with a value on its way among the others."""
        value = self.pick()
        form = self.random.choice(["silu", "relu", "abs", "gelu"])
        if form == "relu":
            return self.scaled("arith.maximumf", value, 0.0)
        if form == "abs":
            return self.apply("arith.maximumf", value, self.apply("arith.negf", value))
        if form == "gelu":
            inner = self.scaled("arith.mulf", value, 0.70703125)
            one = self.scaled("arith.addf", self.apply("math.erf", inner), 1.0)
            return self.apply("arith.mulf", self.scaled("arith.mulf", value, 0.5), one)
        power = self.apply("math.exp", self.apply("arith.negf", value))
        below = self.scaled("arith.addf", power, 1.0)
        one = self.fill(1.0, value.sizes, value.element)
        sigmoid = self.apply("arith.divf", one, below)
        self.values.append(sigmoid)
        return self.apply("arith.mulf", sigmoid, value)

    def narrow(self):
        """Rounds to another type, or widens."""
        if not self.mixed:
            return None
        return self.convert(self.pick(), self.pick_type())

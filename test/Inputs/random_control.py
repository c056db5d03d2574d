"""Loops, branches and switches in random programs."""

import duals


class Control:
    """Operations of `random_program.Program`."""

    def control_kinds(self):
        return [self.loop, self.branch, self.while_loop, self.switch]

    def scope(self, make):
        """Calls `make` where values are not visible afterwards. Returns the lines and
        the trace, and what `make` does."""
        saved = self.lines, self.trace, len(self.values), len(self.masks)
        numbers = list(self.numbers)
        self.lines, self.trace = [], []
        self.depth += 1
        try:
            made = make()
            return self.lines, self.trace, made
        finally:
            self.depth -= 1
            self.lines, self.trace = saved[:2]
            del self.values[saved[2] :], self.masks[saved[3] :]
            self.numbers = numbers

    def repeat(self, trace):
        for name, compute in trace:
            self.remember(name, compute)

    def hand_on(self, value):
        """A value that a loop carries on instead of `value`, provably of the same sizes."""
        other = self.pick_like(value)
        return self.apply("arith.mulf", value, other) if value.dynamic else other

    def inner(self, letter, number, values):
        """The values that stand for `values` inside of a loop."""
        return [
            type(value)(f"%{letter}{number}_{i}", value.sizes, value.element)
            for i, value in enumerate(values)
        ]

    def set(self, inner, state):
        for value, dual in zip(inner, state, strict=True):
            self.env[value.name] = dual

    def trip_count(self):
        """How often a loop runs, its step, and the argument that says so or None."""
        if self.chance(0.5):
            self.uses_trips = True
            return self.trips, 1, "%trips"
        return self.random.choice([0, 1, 2, 3]), self.random.choice([1, 1, 2]), None

    def loop(self):
        """Tensors carried from iteration to iteration, of which there may be none."""
        carried = [self.pick() for _ in range(self.random.choice([1, 1, 2]))]
        count, step, bound = self.trip_count()
        low, by = self.index(0), self.index(step)
        high = bound or self.index(count * step)
        number = self.count = self.count + 1
        inner = self.inner("c", number, carried)
        position = type(carried[0])(f"%p{number}", (), "f32")

        def enter(index, state):
            self.set(inner, state)
            self.env[f"%i{number}"] = index * step
            at = duals.constant("f32", float(index * step), self.directions)
            self.env[position.name] = at

        def make():
            enter(0, [self.dual(init) for init in carried])
            self.lines += [
                f"%w{number} = arith.index_cast %i{number} : index to i32",
                f"%s{number} = arith.sitofp %w{number} : i32 to f32",
                f"{position.name} = tensor.from_elements %s{number} : tensor<f32>",
            ]
            self.values += [*inner, position]
            self.numbers.append(f"%i{number}")
            for _ in range(self.random.randint(1, 3)):
                self.grow()
            return [self.hand_on(value) for value in inner]

        lines, trace, yielded = self.scope(make)

        def compute():
            state = [self.dual(init) for init in carried]
            for index in range(count):
                enter(index, state)
                self.repeat(trace)
                state = [self.dual(value) for value in yielded]
            return state

        types = ", ".join(value.type for value in carried)
        inits = ", ".join(f"{v.name} = {init.name}" for v, init in zip(inner, carried))
        head = f"scf.for %i{number} = {low} to {high} step {by} iter_args({inits}) -> ({types}) {{"
        names = ", ".join(value.name for value in yielded)
        return self.region_op(head, [*lines, f"scf.yield {names} : {types}", "}"], carried, compute)

    def while_loop(self):
        """A loop that counts, and may compute something before its condition, which is
        done once more than what comes after it."""
        carried = [self.pick() for _ in range(self.random.choice([1, 1, 2]))]
        count, step, bound = self.trip_count()
        low, by = self.index(0), self.index(step)
        high = bound or self.index(count * step)
        number = self.count = self.count + 1
        before, after = (self.inner(letter, number, carried) for letter in "ba")

        def make(inner, counter, most):
            self.set(inner, [self.dual(init) for init in carried])
            self.env[counter] = 0
            self.values += inner
            self.numbers.append(counter)
            for _ in range(self.random.randint(0, most)):
                self.grow()
            return [self.hand_on(value) if self.chance(0.8) else value for value in inner]

        tested = self.scope(lambda: make(before, f"%m{number}", 1))
        done = self.scope(lambda: make(after, f"%n{number}", 2))

        def compute():
            state = [self.dual(init) for init in carried]
            for index in range(count + 1):
                self.set(before, state)
                self.env[f"%m{number}"] = index * step
                self.repeat(tested[1])
                state = [self.dual(value) for value in tested[2]]
                if index == count:
                    return state
                self.set(after, state)
                self.env[f"%n{number}"] = index * step
                self.repeat(done[1])
                state = [self.dual(value) for value in done[2]]

        types = ", ".join(value.type for value in carried)
        inits = ", ".join(f"{v.name} = {init.name}" for v, init in zip(before, carried))
        arguments = ", ".join(f"{value.name}: {value.type}" for value in after)
        handed, yielded = (", ".join(v.name for v in part[2]) for part in (tested, done))
        head = f"scf.while (%m{number} = {low}, {inits}) : (index, {types}) -> (index, {types}) {{"
        lines = [
            *tested[0],
            f"%t{number} = arith.cmpi slt, %m{number}, {high} : index",
            f"scf.condition(%t{number}) %m{number}, {handed} : index, {types}",
            "} do {",
            f"^bb0(%n{number}: index, {arguments}):",
            *done[0],
            f"%q{number} = arith.addi %n{number}, {by} : index",
            f"scf.yield %q{number}, {yielded} : index, {types}",
            "}",
        ]
        return self.region_op(head, lines, carried, compute, first=1)

    def region_op(self, head, lines, like, compute, first=0):
        """An operation with regions, whose results, from number `first` on, are of the
        types of `like`."""
        self.count += 1
        name, many = f"%v{self.count}", first + len(like)
        self.evaluate(name, compute)
        self.lines += [f"{name}{f':{many}' if many > 1 else ''} = {head}", *lines]
        for index, value in enumerate(like):
            result = f"{name}#{first + index}" if many > 1 else name
            pick = lambda index=index: self.env[name][index]
            self.evaluate(result, pick if many > 1 else lambda: self.env[name][0])
            self.values.append(type(value)(result, value.sizes, value.element))

    def choice(self, like):
        """One of several computations: its lines, its trace, and its result."""

        def make():
            for _ in range(self.random.randint(0, 2)):
                self.grow()
            return self.pick_like(like)

        lines, trace, value = self.scope(make)
        return [*lines, f"scf.yield {value.name} : {value.type}"], trace, value

    def branch(self):
        """One of two computations, by a condition that is an argument."""
        like = self.pick()
        self.uses_taken = True
        sides = [self.choice(like) for _ in range(2)]
        taken = sides[0 if self.taken else 1]

        def compute():
            self.repeat(taken[1])
            return [self.dual(taken[2])]

        head = f"scf.if %taken -> ({like.type}) {{"
        lines = [*sides[0][0], "} else {", *sides[1][0], "}"]
        return self.region_op(head, lines, [like], compute)

    def switch(self):
        """One of several computations, by an argument or the counter of a loop."""
        like, number = self.pick(), self.random.choice(self.numbers)
        self.uses_trips |= number == "%trips"
        places = self.random.sample([0, 1, 2, 3, 4], self.random.choice([0, 1, 2, 3]))
        sides = {place: self.choice(like) for place in [*places, None]}

        def compute():
            _, trace, value = sides.get(self.env[number], sides[None])
            self.repeat(trace)
            return [self.dual(value)]

        lines = []
        for place, (body, _, _) in sides.items():
            label = "default" if place is None else f"case {place}"
            lines += [f"{label} {{", *body, "}"]
        head = f"scf.index_switch {number} -> {like.type}"
        return self.region_op(head, lines, [like], compute)

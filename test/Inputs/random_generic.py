"""The `linalg.generic` of random programs: reads through random maps."""

import numpy as np

import duals
from random_functions import SEVERAL, SMOOTH


def gather(dual, places, extents):
    """The elements at `places`, one for each iteration."""
    if places:
        return duals.take(dual, *(np.broadcast_to(place, extents) for place in places))
    ones = [1] * len(extents)
    return dual.apply(
        lambda array: np.broadcast_to(array.reshape(-1, *ones), (len(array), *extents))
    )


class Generic:
    """Operations of `random_program.Program`."""

    def generic_kinds(self):
        return [self.generic] * 6

    def access(self, value, loops, first):
        """For each dimension of `value` an index: its text, and a function of the
        loops. The first operand makes the loops, pairs of a size and what computes
        it."""
        indices = []
        for size, name in value.sizes:
            found = []
            for loop, (extent, _) in enumerate(loops):
                found += self.index_forms(loop, extent, size)
            found += self.window_forms(loops, size)
            if size > 0:
                at = self.random.randrange(size)
                found += [(str(at), lambda *grid, at=at: at)]
            if first and (not found or self.chance(0.8)):
                found = [self.new_loops(size, name, loops)]
            if not found:
                raise duals.Unsuitable("no access")
            plain = [form for form in found if form[0].startswith("d") and form[0][1:].isdigit()]
            indices.append(self.random.choice(plain if plain and self.chance(0.6) else found))
        return indices

    def index_forms(self, loop, extent, size):
        """How a loop may index a dimension."""
        last, d = extent - 1, f"d{loop}"
        forms = [(d, lambda *grid: grid[loop])] if extent == size else []
        if 0 < extent <= size:
            forms.append((f"{size - 1} - {d}", lambda *grid: size - 1 - grid[loop]))
        if 0 < extent and 2 * last + 1 < size:
            forms.append((f"{d} * 2 + 1", lambda *grid: 2 * grid[loop] + 1))
        if 0 < extent and last // 2 < size:
            forms.append((f"{d} floordiv 2", lambda *grid: grid[loop] // 2))
        return forms

    def window_forms(self, loops, size):
        """How two loops may index a dimension together, if they do."""
        if len(loops) < 2:
            return []
        one, other = self.random.sample(range(len(loops)), 2)
        step, by = self.random.choice([1, 1, 2]), self.random.choice([1, 2, 3])
        last = step * (loops[one][0] - 1) + by * (loops[other][0] - 1)
        if min(loops[one][0], loops[other][0]) == 0 or last >= size:
            return []
        start = self.random.randrange(size - last)
        text = f"d{one} * {step} + d{other} * {by} + {start}"
        return [(text, lambda *grid: step * grid[one] + by * grid[other] + start)]

    def new_loops(self, size, name, loops):
        """An index by a loop that is new, or by two, over a dimension."""
        loop = len(loops)
        kind = self.random.choice(["plain"] * 5 + ["stride", "reverse", "window"])
        if kind == "plain" or size < 2:
            loops.append((size, name))
            return f"d{loop}", lambda *grid: grid[loop]
        if kind == "stride":
            step = self.random.choice([2, 3])
            loops.append(((size - 1) // step + 1, None))
            return f"d{loop} * {step}", lambda *grid: step * grid[loop]
        if kind == "reverse":
            loops.append((size - self.random.choice([0, 1]), None))
            return f"{size - 1} - d{loop}", lambda *grid: size - 1 - grid[loop]
        window = self.random.randint(1, size)
        loops.extend([(size - window + 1, None), (window, None)])
        return f"d{loop} + d{loop + 1}", lambda *grid: grid[loop] + grid[loop + 1]

    def generic(self):
        """Reads operands through random maps and combines what its body computes."""
        loops, operands = [], [self.pick()]
        accesses = [self.access(operands[0], loops, True)]
        for _ in range(self.random.choice([0, 1, 1, 2])):
            operands.append(self.pick())
            accesses.append(self.access(operands[-1], loops, False))
        kept = [loop for loop in range(len(loops)) if self.chance(0.65)]
        self.random.shuffle(kept)
        reduced = [loop for loop in range(len(loops)) if loop not in kept]
        windows = any(
            "+" in text or "floordiv" in text for access in accesses for text, _ in access
        )
        combine = self.random.choice(["addf"] * 4 + ["mulf"] + ["maximumf"] * (not windows))
        return self.structured(operands, accesses, loops, kept, reduced, combine)

    def structured(self, operands, accesses, loops, kept, reduced, combine):
        extents = tuple(extent for extent, _ in loops)
        if np.prod(extents, initial=1) > 400:
            raise duals.Unsuitable("large")
        plain = {text for access in accesses for text, _ in access}
        # An operand that nothing reads says how long the loops are.
        silent = [loop for loop in reduced if f"d{loop}" not in plain]
        element, sizes = operands[0].element, [loops[loop] for loop in kept]
        init = self.make_init(sizes, element, combine if reduced else None)
        lines, body = self.make_body(operands, element, len(loops))
        combined, last = "%r", f"arith.{combine} %r, %o : {element}"
        if reduced or self.chance(0.2):
            lines.append(f"%q = {last}")
            combined = "%q"

        def compute():
            grid = list(np.indices(extents))
            read = [
                gather(self.dual(value), [place(*grid) for _, place in access], extents)
                for value, access in zip(operands, accesses)
            ]
            made = body(grid, read).apply(
                lambda array: array.transpose(0, *(1 + loop for loop in [*kept, *reduced]))
            )
            start = self.dual(init)
            if not reduced:
                return made if combined == "%r" else SEVERAL[f"arith.{combine}"][2](made, start)
            return self.combine(made, start, combine, len(kept))

        dims = ", ".join(f"d{loop}" for loop in range(len(loops)))
        texts = [[text for text, _ in access] for access in accesses]
        names, types = [v.name for v in operands], [v.type for v in operands]
        scalars = [f"%a{i}: {v.element}" for i, v in enumerate(operands)]
        if silent:
            name, kind = self.empty([loops[loop] for loop in silent], "f32")
            texts.append([f"d{loop}" for loop in silent])
            names.append(name), types.append(kind), scalars.append("%n: f32")
        texts.append([f"d{loop}" for loop in kept])
        maps = ", ".join(f"affine_map<({dims}) -> ({', '.join(text)})>" for text in texts)
        iterators = ", ".join(
            '"parallel"' if loop in kept else '"reduction"' for loop in range(len(loops))
        )
        text = (
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}"
            f" ins({', '.join(names)} : {', '.join(types)}) outs({init.name} : {init.type}) {{\n"
            f"^bb0({', '.join([*scalars, f'%o: {element}'])}):\n"
            + "\n".join([*lines, f"linalg.yield {combined} : {element}"])
            + f"\n}} -> {init.type}"
        )
        return self.add(text, sizes, element, compute)

    def make_init(self, sizes, element, combine):
        shape = tuple(size for size, _ in sizes)
        found = [v for v in self.values if v.shape == shape and v.element == element]
        if found and self.chance(0.3):
            return self.cast(self.random.choice(found), sizes)
        start = {"mulf": 1.0, "maximumf": -1000.0, "minimumf": 1000.0}.get(combine, 0.0)
        return self.fill(start, sizes, element)

    def combine(self, made, start, combine, kept):
        """`made` combined over the loops that are not kept, with `start`."""
        if combine == "addf":
            return SEVERAL["arith.addf"][2](start, duals.add_up(made, kept))
        if combine == "mulf":
            return SEVERAL["arith.mulf"][2](start, duals.multiply_up(made, kept))
        first = start.apply(lambda array: array[..., None])
        terms = duals.join([first, duals.flatten_last(made, kept)], kept)
        return duals.find_extremum(terms, kept, combine == "minimumf", share=True)

    def make_body(self, operands, element, rank):
        """Lines that define %r, and the function of the read elements."""
        lines, steps, names = [], [], []
        for index, value in enumerate(operands):
            names.append(f"%a{index}")
            if value.element != element:
                raise duals.Unsuitable("types")
        for number in range(self.random.randint(1, 4)):
            result = f"%t{number}"
            if rank and self.chance(0.1):
                loop = self.random.randrange(rank)
                lines += [f"%i{number} = linalg.index {loop} : index"]
                lines += [f"%j{number} = " + f"arith.index_cast %i{number} : index to i32"]
                lines += [f"{result} = arith.sitofp %j{number} : i32 to {element}"]
                steps.append((result, loop, None, []))
            elif self.chance(0.4):
                op = self.random.choice([op for op in sorted(SMOOTH) if not SMOOTH[op][3]])
                after, function, slope, _ = SMOOTH[op]
                read = self.random.choice(names)
                lines.append(f"{result} = {op.split()[0]} {read}{after} : {element}")
                steps.append((result, function, slope, [read]))
            else:
                op = self.random.choice(["addf", "mulf", "mulf", "subf", "maximumf", "minimumf"])
                read = [self.random.choice(names), names[number % len(names)]]
                lines.append(f"{result} = arith.{op} {', '.join(read)} : {element}")
                steps.append((result, SEVERAL[f"arith.{op}"][2], None, read))
            names.append(result)
        lines[-1] = lines[-1].replace(f"{names[-1]} =", "%r =")

        def body(grid, read):
            known = {f"%a{index}": dual for index, dual in enumerate(read)}
            for result, function, slope, arguments in steps:
                values = [known[name] for name in arguments]
                if not arguments:
                    known[result] = duals.constant(element, grid[function], self.directions)
                elif slope:
                    known[result] = duals.elementwise(
                        element, function, lambda v, slope=slope: [slope(v)], *values
                    )
                else:
                    known[result] = function(*values)
            return known[names[-1]]

        return lines, body

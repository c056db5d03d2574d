"""Operations that move elements in random programs."""

import numpy as np

import duals


class Movements:
    """Operations of `random_program.Program`."""

    def movement_kinds(self):
        kinds = [self.transpose, self.broadcast, self.reshape, self.slice, self.insert]
        kinds += [self.pad, self.concat, self.gather_rows, self.scalar, self.forget]
        return kinds + [self.look_up, self.scatter] * 2

    def move(self, op, value, sizes, linear, after=""):
        init, kind = self.empty(sizes, value.element)
        text = f"{op} ins({value.name} : {value.type}) outs({init} : {kind}) {after}"
        return self.add(text, sizes, value.element, lambda: self.dual(value).apply(linear))

    def transpose(self):
        value = self.pick(lambda value: value.shape)
        order = self.random.sample(range(len(value.shape)), len(value.shape))
        return self.move(
            "linalg.transpose",
            value,
            [value.sizes[dim] for dim in order],
            lambda array: array.transpose(0, *(1 + dim for dim in order)),
            f"permutation = {order}",
        )

    def broadcast(self):
        value = self.pick(lambda value: len(value.shape) < 3)
        dim = self.random.randint(0, len(value.shape))
        size = self.random.choice([1, 2, 3])
        sizes = [*value.sizes[:dim], (size, None), *value.sizes[dim:]]

        def linear(array):
            return np.repeat(np.expand_dims(array, dim + 1), size, dim + 1)

        return self.move("linalg.broadcast", value, sizes, linear, f"dimensions = [{dim}]")

    def reshape(self):
        """Two dimensions as one, or a unit dimension more."""
        value = self.pick(lambda value: len(value.shape) < 4)
        rank = len(value.shape)
        if rank > 1 and self.chance(0.5):
            dim = self.random.randrange(rank - 1)
            sizes = list(value.sizes)
            (size, name), (other, other_name) = sizes[dim : dim + 2]
            product = size * other
            known = not (name or other_name)
            sizes[dim : dim + 2] = [(product, None if known else self.opaque(product))]
            groups = [[d] for d in range(dim)] + [[dim, dim + 1]]
            groups += [[d] for d in range(dim + 2, rank)]
            text, between = "tensor.collapse_shape", ""
        else:
            dim = self.random.randint(0, max(rank - 1, 0))
            sizes = [*value.sizes[:dim], (1, None), *value.sizes[dim:]]
            groups = [[d] for d in range(dim)] + ([[dim, dim + 1]] if rank else [])
            groups += [[d] for d in range(dim + 2, rank + 1)]
            shown = ", ".join(name or str(size) for size, name in sizes)
            text, between = "tensor.expand_shape", f" output_shape [{shown}]"
        shape = [size for size, _ in sizes]
        kind = self.type_of(sizes, value.element)
        text = f"{text} {value.name} {groups}{between} : {value.type} into {kind}"
        reshaped = lambda array: array.reshape(len(array), *shape)
        return self.add(text, sizes, value.element, lambda: self.dual(value).apply(reshaped))

    def type_of(self, sizes, element):
        return type(self.values[0])("", tuple(sizes), element).type

    def part(self, value):
        """Offsets, sizes and strides of a part of `value`, and where its elements
        are."""
        offsets, sizes, strides = [], [], []
        dynamic = 0.4 if self.chance(0.5) else 0
        for size, name in value.sizes:
            if self.chance(0.4) or size == 0:
                offsets.append(0), sizes.append((size, name)), strides.append(1)
                continue
            start = 0 if self.chance(0.3) else self.random.randrange(size)
            stride = self.random.choice([1, 1, 2])
            count = self.random.randint(
                0 if self.chance(0.1) else 1, (size - 1 - start) // stride + 1
            )
            sizes.append(self.perhaps_opaque(count, dynamic))
            offsets.append(start), strides.append(stride)
        shown = ", ".join(name or str(size) for size, name in sizes)
        starts = [self.perhaps_opaque(start, dynamic / 2) for start in offsets]
        first = ", ".join(name or str(start) for start, name in starts)
        ranges = [
            start + stride * np.arange(size)
            for start, (size, _), stride in zip(offsets, sizes, strides)
        ]
        places = np.meshgrid(*ranges, indexing="ij") if ranges else []
        return f"[{first}] [{shown}] {strides}", sizes, places

    def pick_sliced(self):
        """No dimension that is known to be empty: offset 0 is not in it."""
        return self.pick(lambda value: value.shape and (0, None) not in value.sizes)

    def slice(self):
        value = self.pick_sliced()
        text, sizes, places = self.part(value)
        kind = self.type_of(sizes, value.element)
        text = f"tensor.extract_slice {value.name}{text} : {value.type} to {kind}"
        return self.add(text, sizes, value.element, lambda: duals.take(self.dual(value), *places))

    def insert(self):
        into = self.pick_sliced()
        text, sizes, places = self.part(into)
        shape = tuple(size for size, _ in sizes)
        part = self.pick(lambda value: value.shape == shape)
        part = self.convert(self.cast(part, sizes), into.element)
        text = (
            f"tensor.insert_slice {part.name} into {into.name}{text} : {part.type} into {into.type}"
        )
        return self.add(
            text,
            into.sizes,
            into.element,
            lambda: duals.put(self.dual(part), places, self.dual(into)),
        )

    def pad(self):
        value = self.pick()
        dynamic = 0.4 if self.chance(0.5) else 0
        low, high = ([self.random.choice([0, 0, 1, 2]) for _ in value.shape] for _ in range(2))
        shown, names = [], []
        for border in low, high:
            border = [self.perhaps_opaque(count, dynamic) for count in border]
            shown.append(", ".join(name or str(count) for count, name in border))
            names.append([name for _, name in border])
        sizes = []
        for before, (size, name), after, *unknown in zip(low, value.sizes, high, *names):
            total = before + size + after
            sizes.append((total, self.opaque(total) if name or any(unknown) else None))
        number = self.random.choice([0.0, 0.0, 1.5])
        scalar = self.constant(number, value.element)
        indices = ", ".join(f"%d{dim}: index" for dim in range(len(low)))
        kind = self.type_of(sizes, value.element)

        def compute():
            shape = tuple(size for size, _ in sizes)
            around = duals.constant(value.element, np.full(shape, number), self.directions)
            ranges = [first + np.arange(s) for first, s in zip(low, value.shape)]
            return duals.put(
                self.dual(value),
                np.meshgrid(*ranges, indexing="ij") if ranges else [],
                around,
            )

        head = f"^bb0({indices}):\n" if low else ""
        text = (
            f"tensor.pad {value.name} low[{shown[0]}] high[{shown[1]}] {{\n{head}tensor.yield {scalar} :"
            f" {value.element}\n}} : {value.type} to {kind}"
        )
        return self.add(text, sizes, value.element, compute)

    def concat(self):
        value = self.pick(lambda value: value.shape)
        dim = self.random.randrange(len(value.shape))

        def rest(parts):
            return parts[:dim] + parts[dim + 1 :]

        def fits(other):
            return (
                other.element == value.element
                and len(other.shape) == len(value.shape)
                and rest(other.shape) == rest(value.shape)
            )

        parts = [value]
        for _ in range(self.random.randint(1, 2)):
            other = self.pick(fits)
            sizes = list(value.sizes)
            sizes[dim] = other.sizes[dim]
            parts.append(self.cast(other, sizes))
        total = sum(part.shape[dim] for part in parts)
        known = not any(part.sizes[dim][1] for part in parts)
        sizes = list(value.sizes)
        sizes[dim] = total, None if known else self.opaque(total)
        names, types = (", ".join(getattr(v, p) for v in parts) for p in ("name", "type"))
        text = (
            f"tensor.concat dim({dim}) {names} : ({types}) -> {self.type_of(sizes, value.element)}"
        )
        return self.add(
            text,
            sizes,
            value.element,
            lambda: duals.join([self.dual(p) for p in parts], dim),
        )

    # Reads at computed indices.

    def rows(self, size):
        """Indices into a dimension, in any order and with repetitions."""
        return [self.random.randrange(size) for _ in range(self.random.randint(1, 4))]

    def look_up(self):
        """An embedding: rows that a tensor of integers names."""
        table = self.pick(lambda value: len(value.shape) == 2 and value.shape[0] > 0)
        ids = self.rows(table.shape[0])
        words = self.emit(f"arith.constant dense<{ids}> : tensor<{len(ids)}xi64>")
        sizes = [(len(ids), None), table.sizes[1]]
        init, kind = self.empty(sizes, table.element)
        text = (
            "linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>,"
            ' affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}'
            f" ins({words} : tensor<{len(ids)}xi64>) outs({init} : {kind}) {{\n"
            f"^bb0(%id: i64, %o: {table.element}):\n%row = arith.index_cast %id : i64 to index\n"
            "%column = linalg.index 1 : index\n"
            f"%e = tensor.extract {table.name}[%row, %column] : {table.type}\n"
            f"linalg.yield %e : {table.element}\n}} -> {kind}"
        )
        linear = lambda array: array[:, ids]
        return self.add(text, sizes, table.element, lambda: self.dual(table).apply(linear))

    def gather_rows(self):
        table = self.pick(lambda value: len(value.shape) == 2 and value.shape[0] > 0)
        ids = self.rows(table.shape[0])
        count = len(ids)
        places = self.emit(
            f"arith.constant dense<{[[row] for row in ids]}> : tensor<{count}x1xindex>"
        )
        sizes = [(count, None), (1, None), table.sizes[1]]
        kind = self.type_of(sizes, table.element)
        text = (
            f"tensor.gather {table.name}[{places}] gather_dims([0]) :"
            f" ({table.type}, tensor<{count}x1xindex>) -> {kind}"
        )
        linear = lambda array: array[:, ids][:, :, None]
        return self.add(text, sizes, table.element, lambda: self.dual(table).apply(linear))

    def scatter(self):
        """Rows that are added to those of a tensor, or take their place, at indices of
        which several may be the same: one operation, or a loop."""
        into = self.pick(lambda value: len(value.shape) == 2 and value.shape[0] > 0)
        ids = self.rows(into.shape[0])
        count, width = len(ids), into.shape[1]
        rows = self.pick(lambda value: value.shape == (count, width))
        rows = self.convert(self.cast(rows, [(count, None), into.sizes[1]]), into.element)
        adds = self.chance(0.7)

        def compute():
            dual = self.dual(into)
            for row, place in enumerate(ids):
                columns = np.arange(width)
                new = duals.take(self.dual(rows), np.full(width, row), columns)
                at = np.full(width, place), columns
                if adds:
                    ones = lambda a, b: (np.ones_like(a), np.ones_like(b))
                    old = duals.take(dual, *at)
                    new = duals.elementwise(into.element, np.add, ones, old, new)
                dual = duals.put(new, at, dual)
            return dual

        words = self.emit(f"arith.constant dense<{ids}> : tensor<{count}xindex>")
        if adds and self.chance(0.5):
            text = (
                f"fad.scatter_add {rows.name} at ({words} : tensor<{count}xindex>) dims [0]"
                f" into {into.name} : {rows.type} -> {into.type}"
            )
        else:
            text = self.scatter_loop(into, rows, words, count, adds)
        return self.add(text, into.sizes, into.element, compute)

    def scatter_loop(self, into, rows, words, count, adds):
        """The text of a loop that scatters `rows`, one after the other."""
        low, high, step = (self.index(number) for number in (0, count, 1))
        size, name = into.sizes[1]
        if size == 0 and not name:
            raise duals.Unsuitable("upstream's verifier takes no part of an empty row")
        part = f"[1, {name or size}] [1, 1]"
        row = self.type_of([into.sizes[1]], into.element)
        read = f"%o = tensor.extract_slice %s[%p, 0] {part} : {into.type} to {row}"
        total = f"%a = arith.addf %o, %r : {row}"
        return "\n".join(
            [
                f"scf.for %k = {low} to {high} step {step} iter_args(%s = {into.name})"
                f" -> ({into.type}) {{",
                f"%p = tensor.extract {words}[%k] : tensor<{count}xindex>",
                f"%r = tensor.extract_slice {rows.name}[%k, 0] {part} : {rows.type} to {row}",
                *([read, total] if adds else []),
                f"%n = tensor.insert_slice {'%a' if adds else '%r'} into %s[%p, 0] {part}"
                f" : {row} into {into.type}",
                f"scf.yield %n : {into.type}",
                "}",
            ]
        )

    def scalar(self):
        """One element, which fills a tensor."""
        value = self.pick(lambda value: 0 not in value.shape)
        place = [self.random.randrange(size) for size in value.shape]
        names = ", ".join(self.index(at) for at in place)
        element = self.emit(f"tensor.extract {value.name}[{names}] : {value.type}")
        sine = self.emit(f"math.sin {element} : {value.element}")
        count = self.random.choice([1, 2, 3])

        def compute():
            one = self.dual(value).apply(lambda array: array[(slice(None), *place, None)])
            sine = duals.elementwise(value.element, np.sin, lambda v: [np.cos(v)], one)
            return sine.apply(lambda array: np.repeat(array, count, 1))

        sizes = [(count, None)]
        text = f"tensor.splat {sine} : {self.type_of(sizes, value.element)}"
        return self.add(text, sizes, value.element, compute)

    def forget(self):
        """Forgets sizes, of which one is asked for again."""
        value = self.pick(lambda value: value.shape)
        sizes = []
        unknown = self.type_of([(size, "?") for size in value.shape], value.element)
        name = self.emit(f"tensor.cast {value.name} : {value.type} to {unknown}")
        for dim, size in enumerate(value.shape):
            at = self.index(dim)
            sizes.append((size, self.emit(f"tensor.dim {name}, {at} : {unknown}")))
        return self.add(
            f"tensor.cast {name} : {unknown} to {unknown}",
            sizes,
            value.element,
            lambda: self.dual(value),
        )

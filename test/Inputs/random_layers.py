"""The structured parts of random programs: what is more than elementwise."""


def get_map(rank, access):
    """An affine map that reads the loops `access` of `rank`."""
    loops = ", ".join(f"d{loop}" for loop in range(rank))
    return f"affine_map<({loops}) -> ({access})>"


def get_loops(rank):
    return ", ".join(f"d{loop}" for loop in range(rank))


class Layers:
    """Operations of `random_program.Program`."""

    def structured(self, inputs, accesses, init, result, body):
        """A linalg.generic with one result, of the shape and type `result`. `inputs`
        are read by the maps `accesses`; `body` has a line for each operation, ends
        with what is yielded, and reads %a0, ..., %o."""
        rank = len(result[0])
        maps = [get_map(rank, access) for access in [*accesses, get_loops(rank)]]
        names = ", ".join(value.name for value in inputs)
        types = ", ".join(self.type(*value[1:]) for value in inputs)
        scalars = [f"%a{index}: {value.element}" for index, value in enumerate(inputs)]
        scalars.append(f"%o: {result[1]}")
        iterators = ", ".join(['"parallel"'] * rank)
        kind = self.type(*result)
        lines = "\n".join(f"    {line}" for line in body)
        ins = f" ins({names} : {types})" if inputs else ""
        return (
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}],"
            f" iterator_types = [{iterators}]}}\n     {ins} outs({init} : {kind}) {{\n"
            f"  ^bb0({', '.join(scalars)}):\n{lines} : {result[1]}\n  }} -> {kind}"
        )

    def generic(self):
        """Reads a second operand through a broadcasting or transposing map, and
        in some cases the init."""
        value = self.pick_rank(2)
        if not value:
            return
        shape, element = value[1:]
        maps = {
            shape[1:]: "d1",
            shape[:1]: "d0",
            (shape[0], 1): "d0, 0",
            (1, shape[1]): "0, d1",
            (): "",
            shape[::-1]: "d1, d0",
        }
        other = value
        if self.chance(0.9):
            found = self.pick(lambda to: to.element == element and to.shape in maps)
            other = found or value
        access = "d0, d1" if other is value else maps[other.shape]
        reads_init = self.chance(0.3)
        init = value.name if reads_init else self.empty(shape, element)
        body = [
            f"%p = {self.random.choice(['arith.mulf', 'arith.addf'])} %a0, %a1 : {element}",
            f"%q = math.sin %p : {element}",
            f"%r = arith.mulf %q, {'%o' if reads_init else '%a0'} : {element}",
            f"linalg.yield {self.random.choice(['%p', '%q', '%r'])}",
        ]
        self.add(
            self.structured([value, other], ["d0, d1", access], init, value[1:], body),
            *value[1:],
        )

    def widened(self):
        """A chain that computes in a wider type, where there is one, than it reads
        and yields."""
        value = self.pick()
        element = value.element
        wide = {"f16": "f32", "bf16": "f32", "f32": "f64"}.get(element)
        rank = len(value.shape)
        if wide:
            body = [
                f"%w = arith.extf %a0 : {element} to {wide}",
                f"%q = math.sin %w : {wide}",
                f"%r = arith.mulf %q, %w : {wide}",
                f"%s = arith.truncf %r : {wide} to {element}",
                "linalg.yield %s",
            ]
        else:
            body = [
                f"%q = math.sin %a0 : {element}",
                f"%r = arith.mulf %q, %a0 : {element}",
                "linalg.yield %r",
            ]
        init = self.empty(*value[1:])
        self.add(
            self.structured([value], [get_loops(rank)], init, value[1:], body),
            *value[1:],
        )

    def positions(self, value):
        """`value` plus something else at each position, so that no two elements
        are equal."""
        rank, element = len(value.shape), value.element
        body = []
        total = "%a0"
        for loop in range(rank):
            body += [
                f"%i{loop} = linalg.index {loop} : index",
                f"%j{loop} = arith.index_cast %i{loop} : index to i32",
                f"%f{loop} = arith.sitofp %j{loop} : i32 to {element}",
                f"%e{loop} = arith.constant {0.37 - 0.23 * loop:.2f} : {element}",
                f"%m{loop} = arith.mulf %f{loop}, %e{loop} : {element}",
                f"%s{loop} = arith.addf {total}, %m{loop} : {element}",
            ]
            total = f"%s{loop}"
        body.append(f"linalg.yield {total}")
        init = self.empty(*value[1:])
        text = self.structured([value], [get_loops(rank)], init, value[1:], body)
        return value._replace(name=self.emit(text))

    def reduced(self, value, dim, op, start):
        """`value` reduced over `dim` by `op`."""
        shape = value.shape[:dim] + value.shape[dim + 1 :]
        init = self.fill(start, shape, value.element)
        name = self.emit(
            f"linalg.reduce {{ {op} }} ins({value.name} : {self.type(*value[1:])})"
            f" outs({init.name} : {self.type(*init[1:])}) dimensions = [{dim}]"
        )
        return init._replace(name=name)

    def reduce(self):
        value = self.pick(lambda value: value.shape)
        if not value:
            return
        dim = self.random.randrange(len(value.shape))
        total = self.reduced(value, dim, "arith.addf", self.random.choice([0.0, 0.5]))
        self.add_applied("math.sin", total)

    def maximum(self):
        """The largest elements of rows, a row at least."""
        value = self.pick(lambda value: value.shape and "?" not in value.shape)
        if not value:
            return
        dim = self.random.randrange(len(value.shape))
        largest = self.reduced(self.positions(value), dim, "arith.maximumf", -1000.0)
        self.add_applied("math.sin", largest)

    def with_rows(self, op, value, rows):
        """`op` of each element of `value` and of what `rows` has for its row."""
        access = "d0, d1" if len(rows.shape) == 2 else "d0"
        body = [f"%r = {op} %a0, %a1 : {value.element}", "linalg.yield %r"]
        init = self.empty(*value[1:])
        return self.structured([value, rows], ["d0, d1", access], init, value[1:], body)

    def softmax(self):
        value = self.pick_rank(2, lambda value: "?" not in value.shape[1:])
        if not value:
            return
        value = self.positions(value)
        largest = self.reduced(value, 1, "arith.maximumf", -1000.0)
        less = value._replace(name=self.emit(self.with_rows("arith.subf", value, largest)))
        power = value._replace(name=self.apply("math.exp", less))
        total = self.reduced(power, 1, "arith.addf", 0.0)
        self.add(self.with_rows("arith.divf", power, total), *value[1:])

    def normalize(self):
        """A layer's normalization, with the centred values in the pool."""
        value = self.pick_rank(2, lambda value: "?" not in value.shape[1:])
        if not value:
            return
        share = 1 / value.shape[1]
        total = self.reduced(value, 1, "arith.addf", 0.0)
        mean = total._replace(name=self.apply("arith.mulf", total, self.splat(share, total)))
        centred = self.add(self.with_rows("arith.subf", value, mean), *value[1:])
        square = value._replace(name=self.apply("arith.mulf", centred, centred))
        squares = self.reduced(square, 1, "arith.addf", 0.0)
        variance = total._replace(name=self.apply("arith.addf", squares, self.splat(0.5, total)))
        scale = total._replace(name=self.apply("math.rsqrt", variance))
        self.add(self.with_rows("arith.mulf", centred, scale), *value[1:])

    def dropout(self):
        """Drops elements by a mask that is computed from positions alone."""
        value = self.pick_rank(2)
        if not value:
            return
        body = [
            "%i = linalg.index 0 : index",
            "%j = linalg.index 1 : index",
            f"%k = arith.constant {self.random.choice([3, 5, 7])} : index",
            "%m = arith.muli %i, %k : index",
            "%n = arith.addi %m, %j : index",
            "%t = arith.constant 3 : index",
            "%u = arith.remui %n, %t : index",
            "%z = arith.constant 0 : index",
            "%b = arith.cmpi ne, %u, %z : index",
            "linalg.yield %b",
        ]
        init = self.empty(value.shape, "i1")
        mask = self.emit(self.structured([], [], init, (value.shape, "i1"), body))
        zero, scale = self.splat(0.0, value), self.splat(1.5, value)
        kept = self.emit(
            f"arith.select {mask}, {value.name}, {zero.name}"
            f" : {self.type(value.shape, 'i1')}, {self.type(*value[1:])}"
        )
        self.add_applied("arith.mulf", value._replace(name=kept), scale)

    def broadcast(self):
        value = self.pick_rank(1)
        if not value:
            return
        shape = (self.random.choice(self.sizes), *value.shape)
        init = self.empty(shape, value.element)
        self.add(
            f"linalg.broadcast ins({value.name} : {self.type(*value[1:])})"
            f" outs({init} : {self.type(shape, value.element)}) dimensions = [0]",
            shape,
            value.element,
        )

    def transpose(self):
        value = self.pick_rank(2)
        if not value:
            return
        shape = value.shape[::-1]
        init = self.empty(shape, value.element)
        self.add(
            f"linalg.transpose ins({value.name} : {self.type(*value[1:])})"
            f" outs({init} : {self.type(shape, value.element)}) permutation = [1, 0]",
            shape,
            value.element,
        )

    def contract(self, op, left, right, shape):
        """`op` of two tensors, kept small."""
        init = self.fill(0.0, shape, left.element)
        kinds = [self.type(*value[1:]) for value in (left, right, init)]
        product = self.emit(
            f"{op} ins({left.name}, {right.name} : {kinds[0]}, {kinds[1]})"
            f" outs({init.name} : {kinds[2]}) -> {kinds[2]}"
        )
        return init._replace(name=product)

    def matmul(self):
        left = self.pick_rank(2)
        right = left and self.pick_rank(
            2, lambda value: value.shape[0] == left.shape[1] and value.element == left.element
        )
        if right:
            shape = (left.shape[0], right.shape[1])
            self.add_applied("math.tanh", self.contract("linalg.matmul", left, right, shape))

    def batch(self):
        """A product of matrices that are made from others, two at a time."""
        left = self.pick_rank(2, lambda value: "?" not in value.shape)
        right = left and self.pick_rank(
            2, lambda value: value.shape == left.shape and value.element == left.element
        )
        if not right:
            return
        rows, columns = left.shape
        shapes = [(1, rows, columns), (1, columns, rows)]
        parts = [
            value._replace(
                name=self.emit(
                    f"tensor.expand_shape {value.name} [[0, 1], [2]] output_shape"
                    f" {list(shapes[0])} : {self.type(*value[1:])} into"
                    f" {self.type(shapes[0], value.element)}"
                ),
                shape=shapes[0],
            )
            for value in (left, right)
        ]
        init = self.empty(shapes[1], left.element)
        turned = self.emit(
            f"linalg.transpose ins({parts[1].name} : {self.type(*parts[1][1:])})"
            f" outs({init} : {self.type(shapes[1], left.element)}) permutation = [0, 2, 1]"
        )
        turned = left._replace(name=turned, shape=shapes[1])
        product = self.contract("linalg.batch_matmul", parts[0], turned, (1, rows, rows))
        self.collapsed(product, (rows, rows), "[[0, 1], [2]]")

    def collapsed(self, value, shape, groups):
        self.add(
            f"tensor.collapse_shape {value.name} {groups} : {self.type(*value[1:])}"
            f" into {self.type(shape, value.element)}",
            shape,
            value.element,
        )

    def window(self):
        """A convolution with a small matrix, or the largest in each window."""

        def fits(value):
            return "?" not in value.shape and min(value.shape) >= 2

        value = self.pick_rank(2, fits)
        if not value:
            return
        filters = self.pick_rank(2, lambda to: fits(to) and to.element == value.element)
        size = filters.shape if self.chance(0.5) else (2, 2)
        if any(inner > outer for inner, outer in zip(size, value.shape)):
            size = (2, 2)
        shape = tuple(outer - inner + 1 for inner, outer in zip(size, value.shape))
        if size == filters.shape:
            made = self.contract("linalg.conv_2d", value, filters, shape)
            self.add_applied("math.tanh", made)
            return
        spread = self.imaged(self.positions(value))
        init = self.fill(-1000.0, (1, 1, *shape), value.element)
        window = self.empty(size, value.element)
        largest = self.emit(
            "linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides ="
            f" dense<1> : tensor<2xi64>}} ins({spread.name}, {window} :"
            f" {self.type(*spread[1:])}, {self.type(size, value.element)}) outs("
            f"{init.name} : {self.type(*init[1:])}) -> {self.type(*init[1:])}"
        )
        self.collapsed(init._replace(name=largest), shape, "[[0, 1, 2], [3]]")

    def imaged(self, value):
        """A matrix as an image of one channel."""
        shape = (1, 1, *value.shape)
        name = self.emit(
            f"tensor.expand_shape {value.name} [[0, 1, 2], [3]] output_shape"
            f" {list(shape)} : {self.type(*value[1:])} into {self.type(shape, value.element)}"
        )
        return value._replace(name=name, shape=shape)

    def collapse(self):
        value = self.pick_rank(2, lambda value: "?" not in value.shape)
        if value:
            self.collapsed(value, (value.shape[0] * value.shape[1],), "[[0, 1]]")

    def slice(self):
        """Some columns, or one matrix of several."""
        value = self.pick(lambda value: len(value.shape) >= 2 and value.shape[-1] != "?")
        if not value:
            return
        shape = (*value.shape[:-1], max(value.shape[-1] // 2, 1))
        if len(shape) == 3:
            shape = value.shape[1:]
            offsets, sizes = [1, 0, 0], [1, *shape]
        else:
            offsets, sizes = [0, value.shape[-1] - shape[-1]], list(shape)
        listed = ", ".join("%rows" if size == "?" else str(size) for size in sizes)
        strides = ", ".join("1" for _ in sizes)
        self.add(
            f"tensor.extract_slice {value.name}{offsets} [{listed}] [{strides}]"
            f" : {self.type(*value[1:])} to {self.type(shape, value.element)}",
            shape,
            value.element,
        )

    def cast(self):
        """Forgets a size and finds it again."""
        value = self.pick()
        forgotten = self.type(tuple("?" for _ in value.shape), value.element)
        kind = self.type(*value[1:])
        unknown = self.emit(f"tensor.cast {value.name} : {kind} to {forgotten}")
        sine = self.emit(f"math.sin {unknown} : {forgotten}")
        self.add(f"tensor.cast {sine} : {forgotten} to {kind}", *value[1:])

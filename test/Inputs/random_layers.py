"""The named operations of linalg in random programs."""

import numpy as np

import duals
from random_functions import SEVERAL
from random_generic import gather

# Contractions by the loops of both operands and of the result.
CONTRACTIONS = {
    "linalg.matmul": ("mk", "kn", "mn"),
    "linalg.matvec": ("mk", "k", "m"),
    "linalg.vecmat": ("k", "kn", "n"),
    "linalg.dot": ("k", "k", ""),
    "linalg.batch_matmul": ("bmk", "bkn", "bmn"),
    "linalg.batch_matvec": ("bmk", "bk", "bm"),
}
# Convolutions and pooling by the dimensions of the image, of the window, and of the
# result; loops in capitals are those of windows.
CONVOLUTIONS = {
    "linalg.conv_1d_ncw_fcw": ("ncw", "fcW", "nfw"),
    "linalg.conv_1d_nwc_wcf": ("nwc", "Wcf", "nwf"),
    "linalg.depthwise_conv_1d_nwc_wc": ("nwc", "Wc", "nwc"),
}
POOLING = {
    "linalg.pooling_ncw_max": "ncw",
    "linalg.pooling_ncw_sum": "ncw",
    "linalg.pooling_nwc_max": "nwc",
    "linalg.pooling_nwc_min": "nwc",
    "linalg.pooling_nwc_sum": "nwc",
}


class Layers:
    """Operations of `random_program.Program`."""

    def layer_kinds(self):
        kinds = [self.reduce] * 2 + [self.contract] * 3
        return kinds + [self.convolve, self.pool, self.softmax] * 2

    def named(self, op, inputs, init, compute, attributes=""):
        names, types = (", ".join(getattr(v, part) for v in inputs) for part in ("name", "type"))
        text = f"{op}{attributes} ins({names} : {types}) outs({init.name} : {init.type}) -> {init.type}"
        return self.add(text, init.sizes, init.element, compute)

    def reduce(self):
        value = self.pick(lambda value: value.shape)
        rank = len(value.shape)
        dims = sorted(self.random.sample(range(rank), self.random.randint(1, rank)))
        combine = self.random.choice(["addf", "addf", "mulf", "maximumf", "minimumf"])
        kept = [dim for dim in range(rank) if dim not in dims]
        init = self.make_init([value.sizes[dim] for dim in kept], value.element, combine)

        def compute():
            order = [0, *(1 + dim for dim in [*kept, *dims])]
            made = self.dual(value).apply(lambda array: array.transpose(order))
            return self.combine(made, self.dual(init), combine, len(kept))

        text = (
            f"linalg.reduce {{ arith.{combine} }} ins({value.name} : {value.type})"
            f" outs({init.name} : {init.type}) dimensions = {dims}"
        )
        return self.add(text, init.sizes, value.element, compute)

    def products(self, left, right, subscripts, loops, place):
        """The sum of products; `place` says what indexes a dimension, by its letter."""
        one, other, result = subscripts
        kept = list(dict.fromkeys(result))
        rest = [letter for letter in dict.fromkeys(one + other) if letter not in kept]
        letters = kept + rest
        extents = tuple(loops[letter] for letter in letters)
        if np.prod(extents, initial=1) > 400:
            raise duals.Unsuitable("large")

        def compute(init):
            grid = dict(zip(letters, np.indices(extents)))
            read = [
                gather(
                    self.dual(value),
                    [place(grid, letter, index) for letter in letters_of],
                    extents,
                )
                for index, (value, letters_of) in enumerate(((left, one), (right, other)))
            ]
            terms = SEVERAL["arith.mulf"][2](*read)
            return SEVERAL["arith.addf"][2](self.dual(init), duals.add_up(terms, len(kept)))

        return compute

    def contract(self):
        op = self.random.choice(sorted(CONTRACTIONS))
        one, other, result = CONTRACTIONS[op]
        left = self.pick(lambda value: len(value.shape) == len(one))
        sizes = dict(zip(one, left.sizes))

        def fits(value):
            return (
                value.element == left.element
                and len(value.shape) == len(other)
                and all(
                    letter not in sizes or sizes[letter][0] == size
                    for letter, size in zip(other, value.shape)
                )
            )

        right = self.pick(fits)
        sizes = dict(zip(other, right.sizes)) | sizes
        loops = {letter: size for letter, (size, _) in sizes.items()}
        init = self.make_init([sizes[letter] for letter in result], left.element, "addf")
        products = self.products(
            left, right, (one, other, result), loops, lambda grid, letter, _: grid[letter]
        )
        return self.named(op, [left, right], init, lambda: products(init))

    def window(self, size):
        """A window over a dimension: its size, the stride, the dilation, and how many
        there are."""
        stride, dilation = self.random.choice([1, 1, 2]), self.random.choice([1, 1, 2])
        most = (size - 1) // dilation + 1
        window = self.random.randint(1, min(most, 3))
        return window, stride, dilation, (size - 1 - (window - 1) * dilation) // stride + 1

    def pick_image(self):
        return self.pick(
            lambda value: len(value.shape) == 3 and min(value.shape) > 0 and not value.dynamic
        )

    @staticmethod
    def window_attributes(stride, dilation):
        return (
            f" {{strides = dense<{stride}> : tensor<1xi64>,"
            f" dilations = dense<{dilation}> : tensor<1xi64>}}"
        )

    def convolve(self):
        op = self.random.choice(sorted(CONVOLUTIONS))
        image, (one, other, result) = self.pick_image(), CONVOLUTIONS[op]
        loops = dict(zip(one, image.shape))
        loops["W"], stride, dilation, loops["w"] = self.window(loops["w"])
        loops["f"] = self.random.choice([1, 2])
        shape = [loops[letter] for letter in other]
        count = int(np.prod(shape))
        source = self.pick(lambda value: value.element == image.element and value.shape)
        # A filter is made of the elements of some value, read round and round.
        flat = self.refilled(source, shape) if count else None
        init = self.make_init([(loops[letter], None) for letter in result], image.element, "addf")

        # Zeros that are put around the cotangent meet the filter.
        if not np.all(np.isfinite(self.dual(flat).error)):
            raise duals.Unsuitable("not finite")

        def place(grid, letter, index):
            if letter == "w" and index == 0:
                return grid["w"] * stride + grid["W"] * dilation
            return grid[letter]

        compute = self.products(image, flat, (one, other, result), loops, place)
        return self.named(
            op,
            [image, flat],
            init,
            lambda: compute(init),
            self.window_attributes(stride, dilation),
        )

    def refilled(self, value, shape):
        """A tensor of `shape` with elements of `value`, by a generic operation."""
        if 0 in value.shape:
            raise duals.Unsuitable("empty")
        rank = len(shape)
        places = []
        for dim, size in enumerate(value.shape):
            loop = rank - 1 - dim if dim < rank else 0
            text = f"d{loop} mod {size}" if size > 1 else "0"
            places.append((text, lambda *grid, loop=loop, size=size: grid[loop] % size))
        loops = [(size, None) for size in shape]
        return self.structured([value], [places], loops, list(range(rank)), [], "addf")

    def pool(self):
        op = self.random.choice(sorted(POOLING))
        image = self.pick_image()
        letters = POOLING[op]
        dim = letters.index("w")
        size, stride, dilation, count = self.window(image.shape[dim])
        shape = list(image.shape)
        shape[dim] = count
        sizes = [(size_, None) for size_ in shape]
        start = {"max": -1000.0, "min": 1000.0, "sum": 0.0}[op[-3:]]
        init = self.fill(start, sizes, image.element)
        window, kind = self.empty([(size, None)], image.element)

        def compute():
            grid = list(np.indices([*shape, size]))
            grid[dim] = grid[dim] * stride + grid[3] * dilation
            read = gather(self.dual(image), grid[:3], (*shape, size))
            if op.endswith("sum"):
                return SEVERAL["arith.addf"][2](self.dual(init), duals.add_up(read, 3))
            return duals.find_extremum(read, 3, op.endswith("min"), share=False)

        text = (
            f"{op}{self.window_attributes(stride, dilation)} ins({image.name}, {window} :"
            f" {image.type}, {kind}) outs({init.name} : {init.type}) -> {init.type}"
        )
        return self.add(text, sizes, image.element, compute)

    def softmax(self):
        value = self.pick(lambda value: value.shape and 0 not in value.shape)
        dim = self.random.randrange(len(value.shape))

        def compute():
            x = self.dual(value)
            shift = duals.constant(x.element, x.value.max(dim, keepdims=True), self.directions)
            less = SEVERAL["arith.subf"][2](x, shift)
            power = duals.elementwise(x.element, np.exp, lambda v: [np.exp(v)], less)
            last = power.apply(lambda array: np.moveaxis(array, dim + 1, -1))
            total = duals.add_up(last, len(x.shape) - 1).apply(
                lambda array: np.expand_dims(array, dim + 1)
            )
            return SEVERAL["arith.divf"][2](power, total)

        init, kind = self.empty(value.sizes, value.element)
        text = (
            f"linalg.softmax dimension({dim}) ins({value.name} : {value.type})"
            f" outs({init} : {kind}) -> {kind}"
        )
        return self.add(text, value.sizes, value.element, compute)

"""Whether kernels compute what they should: on fresh random data and on numbers that
are not like others, for sizes that fill tiles and that do not, aligned or not, in place
or not, and without touching what is beside their results."""

import math

import activations

# The error of values and slopes, relative to 1 and above. In f16 and bf16, half a unit
# in the last place of numbers just below 1, and a little more for f32's errors.
TOLERANCE = {"f32": 1e-6, "f16": 1.15 * 2.0**-11, "bf16": 1.15 * 2.0**-8}
# Products may lose what is below the normal numbers of f32, or half of f16's least.
UNDERFLOW = {"f32": 2.0**-126, "f16": 1.15 * 2.0**-25, "bf16": 2.0**-126}
# Elements beside each buffer, so many that vectors stay aligned.
MARGIN = 64
FILLING = 0x5A


class CheckFailed(Exception):
    pass


def get_dtype(torch, kind):
    return {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[kind]


class Buffers:
    """Tensors between margins that nothing may write to."""

    def __init__(self, torch, device, kind, shift=0):
        self.torch, self.device, self.dtype = torch, device, get_dtype(torch, kind)
        self.shift, self.outer = shift, []

    def allocate(self, size):
        """Returns a tensor full of a value that no kernel writes. Its address is that of a vector,
        or `shift` elements behind it."""
        whole = size + 2 * MARGIN + self.shift
        outer = self.torch.empty(whole, dtype=self.dtype, device=self.device)
        outer.view(self.torch.uint8).fill_(FILLING)
        begin = MARGIN + self.shift
        self.outer.append((outer, begin, begin + size))
        return outer[begin : begin + size]

    def copy(self, tensor):
        result = self.allocate(tensor.numel())
        result.copy_(tensor)
        return result

    def are_margins_whole(self):
        return all(
            bool((part.view(self.torch.uint8) == FILLING).all())
            for outer, begin, end in self.outer
            for part in (outer[:begin], outer[end:])
        )


def list_extremes(torch, dtype):
    """Returns the numbers unlike others: zeros, infinities, NaN, those below the normal ones, the
    largest, and arguments where activations pass to their limits."""
    numbers = torch.finfo(dtype)
    least = numbers.smallest_normal * numbers.eps
    positive = [0.0, math.inf, least, 3 * least, numbers.smallest_normal, numbers.max]
    positive += [numbers.max / 2, numbers.max**0.5, 1e4, 88.5, 104.0, 20.0, 5.5, 0.7518]
    return [sign * number for number in positive for sign in (1, -1)] + [math.nan]


def make_numbers(torch, device, kind, size, generator, extremes=True):
    """Random numbers of several magnitudes, with the extreme ones among them."""
    dtype = get_dtype(torch, kind)
    random = torch.randn(size, generator=generator, device=device, dtype=torch.float64)
    spread = torch.rand(size, generator=generator, device=device, dtype=torch.float64)
    numbers = (random * 10 ** (3 * spread - 2)).to(dtype)
    if extremes:
        rare = torch.tensor(list_extremes(torch, dtype), dtype=torch.float64, device=device)
        count = min(size, rare.numel())
        places = torch.randperm(size, generator=generator, device=device)[:count]
        chosen = torch.randperm(rare.numel(), generator=generator, device=device)[:count]
        numbers[places] = rare[chosen].to(dtype)
    return numbers


def compare(torch, what, got, reference, allowed, also=None):
    """Fails unless `got` is as near as `allowed` to the reference, which is in f64, and
    not a number or infinite where that is once it is rounded. `also` says where
    another result is right, and which."""
    rounded = reference.to(got.dtype).double()
    computed = got.double()
    same = (computed == rounded) | (computed.isnan() & rounded.isnan())
    near = (computed - reference).abs() <= allowed
    right = same | (near & rounded.isfinite() & computed.isfinite())
    if also is not None:
        where, value = also
        right |= where & (computed == value)
    wrong = (~right).nonzero().flatten()
    if wrong.numel():
        at = int(wrong[0])
        raise CheckFailed(
            f"{what}: {wrong.numel()} of {got.numel()} are wrong; number {at} is "
            f"{float(computed[at])!r} and should be {float(reference[at])!r}"
        )


def list_sizes(tile):
    return [1, 7, tile - 1, tile, tile + 1, 3 * tile + 5, (1 << 20) + 3]


def list_cases(kernel):
    """Variants, each with the output that shares an input's buffer, or none."""
    parameters = kernel.entry["parameters"][:-1]
    reads = kernel.entry["reads"]
    shared = [(o["role"], i["role"]) for o in parameters[reads:] for i in parameters[:reads]]
    yield "aligned", None
    yield from (("inplace", pair) for pair in shared)
    yield from (("unaligned", pair) for pair in [None, *shared])


def launch(torch, device, kind, kernel, variant, pair, sources):
    """Runs a kernel once on copies of `sources`, which are by role. Returns its
    outputs."""
    buffers = Buffers(torch, device.name, kind, shift=1 if variant == "unaligned" else 0)
    arguments = {role: buffers.copy(tensor) for role, tensor in sources.items()}
    size = next(iter(sources.values())).numel()
    outputs = [each["role"] for each in kernel.entry["parameters"][kernel.entry["reads"] : -1]]
    for role in outputs:
        shares = pair is not None and pair[0] == role
        arguments[role] = arguments[pair[1]] if shares else buffers.allocate(size)
    kernel.prepare(arguments, variant)()
    device.synchronize()
    what = f"{kernel.entry['name']}, {variant}, {size} elements"
    what += f", {pair[0]} in {pair[1]}" if pair else ""
    if not buffers.are_margins_whole():
        raise CheckFailed(f"{what}: writes beside its results")
    for role, tensor in sources.items():
        untouched = arguments[role].view(torch.uint8) == tensor.view(torch.uint8)
        if not (pair and pair[1] == role) and not bool(untouched.all()):
            raise CheckFailed(f"{what}: writes to {role}, which it reads")
    return what, {role: arguments[role] for role in outputs}


def check_forward(torch, device, kernel, size, generator):
    """Returns all cases of a size. Returns, by role, x and what the first computes of it."""
    entry = kernel.entry
    kind = entry["type"]
    x = make_numbers(torch, device.name, kind, size, generator)
    value, slope = activations.ACTIVATIONS[entry["activation"]].reference(x.double(), torch)
    # Minus infinity times a gate that is closed: not a number, or the limit.
    also = {"y": (x.double() == -math.inf, 0.0)}
    references = {"y": value, "d": slope}
    first = None
    for variant, pair in list_cases(kernel):
        what, outputs = launch(torch, device, kind, kernel, variant, pair, {"x": x})
        for role, got in outputs.items():
            reference = references[role]
            allowed = TOLERANCE[kind] * reference.abs().clamp(min=1)
            compare(torch, f"{what}, {role}", got, reference, allowed, also.get(role))
        first = first or {"x": x, **outputs}
    return first, slope


def check_backward(torch, device, kernel, known, slope, generator):
    """Compares the gradients of all cases for random cotangents, computed from the values
    of forward."""
    kind, reads = kernel.entry["type"], kernel.entry["reads"]
    roles = [each["role"] for each in kernel.entry["parameters"][:reads]]
    keeps = "d" in roles
    # The slope is rounded, too, unless it was kept; read off a rounded value, it has
    # the error of that.
    rounded = 4 if "y" in roles else 2
    # A slope that is computed again may be rounded to zero where the reference is not.
    g = make_numbers(torch, device.name, kind, slope.numel(), generator, extremes=keeps)
    sources = {role: g if role == "g" else known[role] for role in roles}
    factor = known["d"].double() if keeps else slope
    reference = g.double() * factor
    scale = g.double().abs() * (factor.abs() if keeps else rounded * factor.abs().clamp(min=1))
    allowed = TOLERANCE[kind] * scale + UNDERFLOW[kind]
    for variant, pair in list_cases(kernel):
        what, outputs = launch(torch, device, kind, kernel, variant, pair, sources)
        compare(torch, f"{what}, dx", outputs["dx"], reference, allowed)


def check_pair(torch, device, pair, generator, sizes=None):
    """Both passes of an activation."""
    forward, backward = pair["forward"], pair["backward"]
    for size in sizes or list_sizes(forward.entry["tile_size"]):
        known, slope = check_forward(torch, device, forward, size, generator)
        check_backward(torch, device, backward, known, slope, generator)


def check_results(torch, what, activation, tensors):
    """Results of others, who may err a little more than fad."""
    x, g = tensors["x"].double(), tensors["g"].double()
    value, slope = activations.ACTIVATIONS[activation].reference(x, torch)
    kind = {get_dtype(torch, each): each for each in TOLERANCE}[tensors["x"].dtype]
    for role, reference in ("y", value), ("d", slope), ("dx", g * slope):
        allowed = 4 * TOLERANCE[kind] * torch.maximum(reference.abs(), g.abs().clamp(min=1))
        compare(torch, f"{what}, {role}", tensors[role], reference, allowed)


def check_stream(torch, device, kernel, generator):
    """Checks that every output of a stream is the exclusive or of its inputs."""
    entry = kernel.entry
    for vectors in 1, entry["tile_size"], 3 * entry["tile_size"] + 5:
        size = 4 * vectors
        buffers = Buffers(torch, device.name, "f32")
        arguments = {each["role"]: buffers.allocate(size) for each in entry["parameters"][:-1]}
        expected = 0
        for role in (f"in{i}" for i in range(entry["reads"])):
            bits = arguments[role].view(torch.int32)
            bits.random_(generator=generator)
            expected = bits ^ expected
        kernel.prepare(arguments)()
        device.synchronize()
        for role in (f"out{i}" for i in range(entry["writes"])):
            if not torch.equal(arguments[role].view(torch.int32), expected):
                raise CheckFailed(f"{entry['name']}, {vectors} vectors: {role} is wrong")
        if not buffers.are_margins_whole():
            raise CheckFailed(f"{entry['name']}, {vectors} vectors: writes beside its results")

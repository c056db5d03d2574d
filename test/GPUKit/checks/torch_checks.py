"""Checks of fad.torch on a device, against PyTorch."""

import contextlib
import functools
import time

from outcomes import Failed, Skip

ENGINES, POLICIES = ("interactive", "deferred"), ("auto", "fad")
# Of the three layers with dropout.
RATES = 0.3, 0.3, 0.5
# Options of the backend, without --quick and with it.
OPTIONS = [
    *({"fad.policy": policy} for policy in ("auto", "fad", "recompute", "bp")),
    *({"fad.budget": share} for share in (0.8, 0.6, 0.3)),
    {"fad.slowdown": 1.0},
]
QUICK_OPTIONS = [{"fad.policy": policy, "fad.engine": "eager"} for policy in POLICIES]


def find_largest(values):
    """The largest of numbers; NaN where one is that."""
    return max(values, key=lambda value: (value != value, value))


def find_error(found, expected):
    """The largest error of tensors, relative to the largest element of each, or to a thousandth of
    that of all: some gradients are zero but for rounding."""
    scales = [each.abs().max().item() for each in expected]
    least = 1e-3 * max(scales)
    return find_largest(
        (one.double() - other.double()).abs().max().item() / max(scale, least)
        for one, other, scale in zip(found, expected, scales, strict=True)
    )


def expect(error, bound):
    # Also where it is NaN.
    if not error <= bound:
        raise Failed(f"an error of {error:.1e}, and at most {bound:.0e} is right")
    return f"error {error:.0e}"


def require_gpu(options):
    if options.device == "cpu":
        raise Skip("takes a GPU")


def make_gelu():
    """GELU as GPT-2 spells it, as a module."""
    import torch

    class Gelu(torch.nn.Module):
        def forward(self, x):
            inner = 0.7978845608 * (x + 0.044715 * torch.pow(x, 3.0))
            return 0.5 * x * (1.0 + torch.tanh(inner))

    return Gelu()


def make_network(device, width=256, layers=3):
    """Layers with an activation that is spelled out, and an input."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    parts = [(nn.Linear(width, width), make_gelu(), nn.LayerNorm(width)) for _ in range(layers)]
    network = nn.Sequential(*(part for each in parts for part in each))
    return network.to(device), torch.randn(64, width).to(device)


def get_gradients(step, network, x):
    network.zero_grad()
    value = step(x)
    value.backward(x.to(value.dtype))
    return [parameter.grad.clone() for parameter in network.parameters()]


def wait_for_kernels(step, network, x):
    """Kernels of deferred sequences are compiled where a sequence recurs."""
    from fad.torch.eager import _kernels

    for _ in range(2):
        get_gradients(step, network, x)
    return _kernels.wait()


def list_saved(options):
    """Bytes that nodes hold are those of the CPU, and the allocator has them."""
    import fad.torch

    def check():
        network, x = make_network(options.device)
        other = make_network("cpu")
        found, expected = (fad.torch.saved_memory(*each) for each in ((network, x), other))
        if found.bytes != expected.bytes or not found.bytes <= found.resident < found.peak:
            raise Failed(
                f"{found.bytes} bytes, resident {found.resident}, peak {found.peak}; "
                f"on the CPU {expected.bytes}"
            )

    yield "fad.torch.saved_memory", check


def list_random(options):
    """Random programs, of which deferred ones are run until they have kernels."""
    import torch

    import check_random
    import fad.torch
    import random_programs
    from fad.torch.eager import _kernels

    torch.set_num_threads(1)
    random_programs.DEVICE = options.device
    seconds = options.random_seconds
    first = time.time_ns() % 1_000_000 if options.seed is None else options.seed
    nest = fad.torch.nest

    @contextlib.contextmanager
    def engine(name):
        fad.torch.nest = functools.partial(nest, engine=name)
        try:
            yield
        finally:
            fad.torch.nest = nest

    def check(name, policy, dtype):
        begin, seed = time.monotonic(), first
        with engine(name):
            while time.monotonic() - begin < seconds or seed == first:
                for _ in range(3 if name == "deferred" else 1):
                    try:
                        check_random.check_seed(policy, seed, False, True, dtype=dtype)
                    except check_random.Wrong as wrong:
                        raise Failed(f"seed {seed}: {wrong}") from None
                    if name == "deferred":
                        count = _kernels.wait()
                seed += 1
        if name == "deferred" and not count:
            raise Failed("no sequence has a kernel")
        return f"{seed - first} programs from {first}"

    def find_planted(policy):
        for name, spoil in check_random.PLANTED.items():
            if not check_random.finds(spoil, policy, range(20)):
                raise Failed(f"a planted bug, {name}, is not found")

    for policy in POLICIES:
        yield f"planted bugs in random programs, {policy}", functools.partial(find_planted, policy)
    kinds = {"float64": torch.float64, "float16": torch.float16, "mixed types": None}
    for name in ENGINES:
        for kind, dtype in kinds.items():
            for policy in POLICIES:
                yield (
                    f"random programs, {name} {policy}, {kind}",
                    functools.partial(check, name, policy, dtype),
                )


def list_autocast(options):
    """Gradients under autocast are as near to those of f64 as eager PyTorch's, and no more bytes
    are kept."""
    import torch

    import fad.torch

    network, x = make_network(options.device)

    def cast(step):
        def call(x):
            with torch.autocast(options.device, torch.bfloat16):
                return step(x)

        return call

    def measure(step):
        wait_for_kernels(cast(step), network, x)
        return get_gradients(cast(step), network, x), fad.torch.saved_memory(cast(step), x).resident

    def check(engine, policy):
        wide = make_network(options.device)[0].double()
        exact = get_gradients(wide, wide, x.double())
        expected, most = measure(network)
        found, kept = measure(fad.torch.nest(network, engine=engine, policy=policy, min_numel=1))
        if kept > most:
            raise Failed(f"keeps {kept} bytes, where eager PyTorch keeps {most}")
        note = expect(find_error(found, exact), 2 * find_error(expected, exact) + 4 * 2.0**-8)
        return f"{note}, keeps {kept / most:.2f} of eager's bytes"

    for engine in ENGINES:
        for policy in POLICIES:
            yield f"autocast, {engine} {policy}", functools.partial(check, engine, policy)


def list_masks(options):
    """Backward has the masks of dropout that forward had."""
    import torch
    import torch.nn.functional as F

    import fad.torch.compile  # noqa: F401

    rows, width = (64, 64) if options.quick else (512, 256)

    def run(weights, x, drop):
        values = []
        for place, activation in enumerate((F.gelu, F.silu, lambda x: x)):
            x = drop(activation(x @ weights[place] / width**0.5), place)
            values.append(x)
        return values

    def check(asked):
        torch._dynamo.reset()
        torch.manual_seed(0)
        x, cotangent = (torch.randn(rows, width, device=options.device) for _ in range(2))
        weights = [torch.randn(width, width, device=options.device) for _ in RATES]
        weights = [each.requires_grad_() for each in weights]
        call = lambda x, *weights: run(weights, x, lambda y, place: F.dropout(y, RATES[place]))
        compiled = torch.compile(call, backend="fad", options=asked)
        errors, before = [], None
        for seed in range(3):
            torch.manual_seed(seed)
            values = compiled(x, *weights)
            found = torch.autograd.grad((values[-1] * cotangent).sum(), weights)
            masks = [value.detach() != 0 for value in values]
            for mask, rate in zip(masks, RATES):
                if abs((~mask).double().mean().item() - rate) > 0.1:
                    raise Failed(f"a mask of {rate} drops {(~mask).double().mean().item():.2f}")
            if before is not None and any(map(torch.equal, masks, before)):
                raise Failed("two seeds have one mask")
            before = masks
            wide = [weight.detach().double().requires_grad_() for weight in weights]
            drop = lambda y, place: y * masks[place] / (1 - RATES[place])
            exact = run(wide, x.double(), drop)[-1]
            expected = torch.autograd.grad((exact * cotangent.double()).sum(), wide)
            errors.append(find_error(found, expected))
        return expect(find_largest(errors), 1e-4)

    for asked in QUICK_OPTIONS if options.quick else OPTIONS:
        name = " ".join(f"{key}={value}" for key, value in asked.items())
        yield f"masks of dropout, {name}", functools.partial(check, asked)


def list_graphs(options):
    """CUDA graphs are made, by torch.compile and by hand, and replayed with right gradients."""
    require_gpu(options)
    import torch
    from torch._dynamo.utils import counters
    from torch._inductor import cudagraph_trees

    import fad.torch.compile

    def check_compiled():
        torch._dynamo.reset()
        counters.clear()
        network, x = make_network(options.device)
        expected = get_gradients(network, network, x)
        compiled = torch.compile(network, backend="fad", mode="reduce-overhead")
        found = [get_gradients(compiled, network, x) for _ in range(5)]
        if skips := counters["inductor"]["cudagraph_skips"]:
            raise Failed(f"Inductor leaves out {skips} graphs")
        if cudagraph_trees.get_manager(x.device.index, create_if_none_exists=False) is None:
            raise Failed("Inductor makes no graph")
        return expect(find_largest(find_error(each, expected) for each in found), 1e-3)

    def check_captured(engine):
        network, x = make_network(options.device)
        step = fad.torch.nest(network, engine=engine, min_numel=1)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            wait_for_kernels(step, network, x)
            get_gradients(step, network, x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = get_gradients(step, network, x)
        # The graph reads the new numbers.
        x.copy_(x.flip(0) * 0.5)
        graph.replay()
        torch.cuda.synchronize()
        found = [each.clone() for each in found]
        return expect(find_error(found, get_gradients(network, network, x)), 1e-3)

    yield "CUDA graphs, torch.compile", check_compiled
    for engine in ENGINES:
        yield f"CUDA graphs, nest {engine}", functools.partial(check_captured, engine)


def make_steps(network):
    """By name, what runs `network` by fad."""
    import torch

    import fad.torch.compile

    steps = {f"nest {engine}": fad.torch.nest(network, engine=engine) for engine in ENGINES}
    return {**steps, "torch.compile": torch.compile(network, backend="fad")}


def list_streams(options):
    """Steps in two streams at once have the gradients of one after the other."""
    require_gpu(options)
    import torch

    def check(name):
        torch._dynamo.reset()
        pairs = [make_network(options.device, width) for width in (256, 512)]
        steps = [make_steps(network)[name] for network, _ in pairs]
        expected = []
        for step, (network, x) in zip(steps, pairs):
            wait_for_kernels(step, network, x)
            expected += get_gradients(network, network, x)
        streams = [torch.cuda.Stream() for _ in pairs]
        errors = []
        for _ in range(20):
            found = []
            for stream, step, (network, x) in zip(streams, steps, pairs):
                stream.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(stream):
                    # So that the streams run at once.
                    torch.cuda._sleep(1_000_000)
                    found += get_gradients(step, network, x)
            torch.cuda.synchronize()
            errors.append(find_error(found, expected))
        return expect(find_largest(errors), 1e-3)

    for name in ("nest interactive", "nest deferred", "torch.compile"):
        yield f"two streams, {name}", functools.partial(check, name)


def list_devices(options):
    """Each device has the gradients of the first one, while that is the current device."""
    require_gpu(options)
    import torch

    if torch.cuda.device_count() < 2:
        raise Skip("there is one GPU")

    def check(device, name):
        torch._dynamo.reset()
        network, x = make_network("cuda:0")
        expected = [each.cpu() for each in get_gradients(network, network, x)]
        network, x = make_network(device)
        step = make_steps(network)[name]
        wait_for_kernels(step, network, x)
        found = [each.cpu() for each in get_gradients(step, network, x)]
        return expect(find_error(found, expected), 1e-3)

    for number in range(1, torch.cuda.device_count()):
        for name in ("nest interactive", "nest deferred", "torch.compile"):
            device = f"cuda:{number}"
            yield f"{device}, {name}", functools.partial(check, device, name)

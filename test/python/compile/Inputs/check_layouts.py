"""The layout of images where backward has gradients of convolutions in groups, on a CPU: "channels last"
where copies of filters are less than images, whose peak is then below that of stock Inductor; gradients
are those of eager PyTorch; a user's options are taken; and of a block of an EfficientNet, no budget
has a warning that another option refutes. The allocator gives what kernels need, whatever they compute, so
that those of all peaks are empty.

usage: check_layouts.py [--every]

Without --every, there are 2 budgets in place of 20, and no other factor of the time."""

import contextlib
import pathlib
import re
import sys
import warnings

import torch
from torch import nn
from torch._inductor.async_compile import AsyncCompile

from fad.torch._releases import copies_filters
from fad.torch.compile._explain import measure_peak

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "benchmarks/common"))

from models import EfficientNet


class Wide(nn.Module):
    """A convolution of each channel by a filter of which a padded copy is more than images."""

    def __init__(self, channels=16):
        super().__init__()
        self.each = nn.Conv2d(channels, channels, 5, padding=2, groups=channels)

    def forward(self, x):
        return self.each(x.sin()).square().mean()


def step(call, model, x):
    """A step, whose gradients are left."""
    for parameter in model.parameters():
        parameter.grad = None
    call(x).backward()


def measure(model, x, options=None, backend="fad"):
    """The peak of a step, and the budgets that warnings name."""
    torch._dynamo.reset()
    call = torch.compile(model, backend=backend, options=options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        step(call, model, x)
    text = "\n".join(str(each.message) for each in caught)
    for parameter in model.parameters():
        parameter.grad = None
    peak = measure_peak(lambda: step(call, model, x))
    named = re.findall("give a budget of ([0-9,]+) or more", text)
    return peak, [int(each.replace(",", "")) for each in named]


@contextlib.contextmanager
def empty_kernels():
    """Kernels of Inductor are empty."""
    before = AsyncCompile.cpp_pybinding
    AsyncCompile.cpp_pybinding = lambda *arguments, **options: lambda *operands: None
    try:
        with torch._inductor.config.patch({"force_disable_caches": True, "cpp.simdlen": 1}):
            yield
    finally:
        AsyncCompile.cpp_pybinding = before


def check_gradients(model, x):
    """Gradients are those of 64 bits, as near as eager PyTorch's."""
    state = {name: value.clone() for name, value in model.state_dict().items()}
    found = []
    compiled = torch.compile(model, backend="fad")
    for call, kind in (model, torch.float64), (model, torch.float32), (compiled, torch.float32):
        model.to(kind).load_state_dict(state)
        step(call, model, x.to(kind))
        found.append([parameter.grad.double() for parameter in model.parameters()])
    exact, eager, own = found
    errors = [
        max(
            float((one - other).abs().max() / exact[0].abs().max())
            for one, other in zip(each, exact)
        )
        for each in (eager, own)
    ]
    print("gradients off by", *errors)
    if errors[1] > 4 * errors[0] + 1e-6:
        yield "gradients are not those of eager PyTorch"


def check_peaks(every):
    torch.manual_seed(0)
    model, x = EfficientNet(16, 1), torch.randn(2, 16, 40, 40)
    stock, _ = measure(model, x, backend="inductor")
    others = {"auto": None, "slowdown": {"fad.slowdown": 1.05}, "fastest": {"fad.budget": 1.0}}
    peaks = {name: measure(model, x, options)[0] for name, options in others.items()}
    for name, peak in peaks.items():
        if peak >= stock:
            yield f"the peak of {name} is {peak}, and that of stock Inductor {stock}"
    lowest = measure(model, x, {"fad.budget": 1})[0]
    known = [stock, *peaks.values(), lowest]
    factors = (1.2, 3.0) if every else ()
    known += [measure(model, x, {"fad.slowdown": factor})[0] for factor in factors]
    count = 20 if every else 2
    for number in range(count):
        budget = int(lowest * (0.9 + number * (1.1 * peaks["fastest"] / lowest - 0.9) / count))
        peak, named = measure(model, x, {"fad.budget": budget})
        known.append(peak)
        if bool(named) != (peak > budget):
            yield f"the budget {budget} has a peak of {peak}, and the warnings {named}"
        if named and (min(known) <= budget or named[0] > min(known)):
            yield f"{named[0]} is named the lowest for {budget}, and there is {min(known)}"
    print(f"stock {stock}, {peaks}, lowest {lowest}, {count} budgets")


def check_filters():
    """Small images of a filter with a large copy are contiguous, and larger ones are not, unless a user
    asks for the other layout."""
    model = Wide()
    for size, other in (4, "force_layout_optimization"), (96, "layout_optimization"):
        x = torch.randn(2, 16, size, size)
        stock = measure(model, x, backend="inductor")[0]
        free, given = (
            measure(model, x, options)[0] for options in (None, {other: other.startswith("force")})
        )
        print(f"images of {size}: {free}, stock {stock}, the other layout {given}")
        if free > stock or free >= given:
            yield f"images of {size} have another layout"


def main():
    torch.manual_seed(0)
    wrong = [*check_gradients(EfficientNet(4, 1), torch.randn(2, 4, 12, 12))]
    # Goes with PyTorch 2.12, whose layouts fad leaves as they are.
    if not copies_filters():
        with empty_kernels():
            wrong += [*check_filters(), *check_peaks("--every" in sys.argv)]
    print("\n".join(wrong) or "right")


main()

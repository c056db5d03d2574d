"""The peak of a step that Inductor has compiled: with checkpoints it is not above eager
PyTorch's, it is within the lowest budget that fad accepts, whose estimate it has, and a budget
takes no more than stock Inductor. The allocator gives what the kernels need, whatever they compute, so that no
compiler is needed: they are empty.

usage: check_inductor_peak.py [--every]

Without --every, one module of one layer has the lowest budget in place of four of one to three,
the checkpoints are of one layer in place of three, and the estimates are of decoders alone."""

import logging
import re
import sys
import warnings

import torch
from torch import nn
from torch._inductor.async_compile import AsyncCompile
from torch.utils.checkpoint import checkpoint

import fad.torch
from fad.torch._releases import copies_filters
from fad.torch.compile._explain import measure_peak


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x):
        x = x + self.inner(self.norm(x)).sin()
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Twice(nn.Module):
    """Two losses by the same checkpointed layers. The first layer of both runs begins with
    the same operations."""

    def __init__(self, size=32, depth=3):
        super().__init__()
        self.layers = nn.ModuleList(Layer(size) for _ in range(depth))

    def run(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return x

    def forward(self, x):
        return self.run(x).square().mean() + self.run(x).sin().sum()


class Gated(nn.Module):
    """A gated layer like those of Llama. The gradients of gate and value are results of
    one kernel, and those of the weights of two normalizations read the same sum."""

    def __init__(self, size):
        super().__init__()
        self.before, self.after = nn.RMSNorm(size), nn.RMSNorm(size)
        self.inner = nn.Linear(size, size, bias=False)
        self.gate, self.up = (nn.Linear(size, 3 * size, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * size, size, bias=False)

    def forward(self, x):
        x = x + self.inner(self.before(x))
        y = self.after(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, size=32, depth=3):
        super().__init__()
        self.layers = nn.Sequential(*(Gated(size) for _ in range(depth)))

    def forward(self, x):
        return self.layers(x).square().mean()


class Products(nn.Module):
    """Two products with a gate. The cotangents of gate and operands are results of one kernel, each of
    which a product of matrices reads: no two of them alone free as many bytes as they take."""

    def __init__(self, size):
        super().__init__()
        self.gate, self.inner, self.up = (nn.Linear(size, size) for _ in range(3))

    def forward(self, x):
        gate, up = self.gate(x).sigmoid(), self.up(x)
        return (gate * self.inner(x).tanh() + (1 - gate) * (up * up)).square().mean()


class Embedded(nn.Module):
    """The gradients of two large embeddings are the last results of backward. They are not
    there yet while the gradients that they sum up are computed."""

    def __init__(self, size=32):
        super().__init__()
        self.words, self.places = nn.Embedding(8192, size), nn.Embedding(1024, size)
        self.norm, self.inner = nn.LayerNorm(size), nn.Linear(size, size)

    def forward(self, x):
        indices = torch.arange(1024)
        y = self.norm(self.words(indices) + self.places(indices) + x)
        return (y + self.inner(y)).square().mean()


class Frozen(nn.Module):
    """Two layers whose inputs are rows of a table, which gets no gradient. Backward computes both inputs
    again, each for the gradient of a weight."""

    def __init__(self, count, size=32):
        super().__init__()
        self.words = nn.Embedding(count, size).requires_grad_(False)
        self.register_buffer("indices", torch.randint(count, (1024,)))
        self.scales = nn.ParameterList(nn.Parameter(torch.ones(size)) for _ in range(2))
        self.before, self.after = nn.Linear(size, size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x):
        before, after = (self.words(self.indices) * scale for scale in self.scales)
        x = x + self.down(nn.functional.gelu(self.up(self.before(before))))
        return self.after(after * x).square().mean()


class Mixed(nn.Module):
    """A layer like those of ConvNeXt, whose convolutions have one channel a group. Backward needs the
    first one's result for the gradient of the second one's filter alone, after its largest tensors."""

    def __init__(self, size):
        super().__init__()
        self.mix = nn.Sequential(
            *(nn.Conv2d(size, size, 7, padding=3, groups=size) for _ in range(2))
        )
        self.norm = nn.LayerNorm(size)
        self.up, self.down = nn.Linear(size, 2 * size), nn.Linear(2 * size, size)

    def forward(self, x):
        y = self.up(self.norm(self.mix(x).permute(0, 2, 3, 1)))
        return x + self.down(nn.functional.gelu(y)).permute(0, 3, 1, 2)


class Depthwise(nn.Module):
    """A low budget repeats the convolutions in backward. In another layout of the images
    their gradients would need more, up to three times the budget, as the processor has it."""

    def __init__(self, size=192, depth=1):
        super().__init__()
        self.layers = nn.Sequential(*(Mixed(size) for _ in range(depth)))

    def forward(self, x):
        return self.layers(x.view(2, -1, 16, 16)).square().mean()


class Classifier(nn.Module):
    """Two kernels read the scores of all classes, and one of them may write over these."""

    def __init__(self, size=32, classes=512):
        super().__init__()
        self.last = nn.Linear(size, classes, bias=False)

    def forward(self, x):
        return nn.functional.cross_entropy(self.last(x), torch.arange(1024) % 512)


def train(model, call, x):
    """A step, whose gradients are left."""
    for tensor in (*model.parameters(), x):
        tensor.grad = None
    call(x).backward()


def measure(model, x, options=None, backend="fad"):
    """The peak of a step, of eager PyTorch without `options`."""
    torch._dynamo.reset()
    call = model if options is None else torch.compile(model, backend=backend, options=options)
    train(model, call, x)
    train(model, call, x)
    for tensor in model.parameters():
        tensor.grad = None
    return measure_peak(lambda: train(model, call, x))


def find_lowest(model, x):
    """The lowest budget that fad accepts, as a lower one's warning names it; and all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fad.torch.explain(model, x, options={"fad.budget": 1})
    (lowest,) = set(
        re.findall("give a budget of ([0-9,]+)", "\n".join(str(each.message) for each in caught))
    )
    return int(lowest.replace(",", "")), caught


def measure_trials(model, x, options):
    """The peak of a step, and the scheduled peak and the estimate of each selection tried."""
    messages = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    logger = logging.getLogger("fad.torch.compile")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    peak = measure(model, x, options)
    logger.removeHandler(handler)
    found = re.findall(
        r"(\d+) bytes at the scheduled peak, for an estimate of (\d+)", "\n".join(messages)
    )
    return peak, [(int(scheduled), int(estimate)) for scheduled, estimate in found]


def check_estimate(model, x):
    """Kernels that compute both cotangents of a gate's product, though a product of matrices is
    between these, have the estimated peak. It would be 9% higher with a kernel for each. With few tokens,
    the gradients of weights come last: it would be 4% higher in the order of the program."""
    peak, trials = measure_trials(model, x, {"fad.budget": 1})
    scheduled, estimate = min((pair for pair in trials if pair[1]), key=lambda pair: pair[1])
    name = f"{type(model).__name__}, {len(x)} tokens"
    print(f"{name}: estimate {estimate}, scheduled {scheduled}, measured {peak}")
    if scheduled != peak:
        yield "the lowest peak is not the scheduled one"
    # Stock Inductor, which is tried, too, has no estimate.
    for scheduled, estimate in trials:
        if estimate and abs(estimate / scheduled - 1) > 0.01:
            yield f"the estimate of a peak is {estimate}, not {scheduled}"


def check_table(x):
    """Two results that read the same rows of a table wait for each other as little as those of a small
    table: Inductor counts all of a table as read by both. The selection that needs no budget would take
    128 KiB more."""
    peaks = []
    for count in 64, 8192:
        _, trials = measure_trials(Frozen(count), x, {"fad.budget": 1})
        peaks += [scheduled for scheduled, estimate in trials if not estimate]
    print("with a table:", peaks)
    if len(peaks) != 2 or peaks[0] != peaks[1]:
        yield f"with a larger table, peaks are {peaks}"


def check_layout(model, x, budget, peak):
    """The layout that fad turns off is taken where the user asks for it. A selection that repeats
    convolutions exceeds the budget there, so that another one is taken."""
    options = {"fad.budget": budget - 1}
    optimized, trials = measure_trials(model, x, {**options, "layout_optimization": True})
    other, others = measure_trials(model, x, {**options, "layout_optimization": False})
    scheduled = [each for each, _ in trials]
    print(f"in the user's layout: scheduled {scheduled}, measured {optimized}")
    if trials == others:
        yield "the user's layout is not taken"
    if other != peak:
        yield "without the layout, the peak is another"
    # In PyTorch 2.15, stock Inductor's peak there is one and a half times the budget, or three times,
    # by the processor, and that of each selection is above the budget. Before, it is 1.25 times.
    stock = measure(model, x, {"layout_optimization": True}, "inductor")
    if optimized > (budget if stock < 1.4 * budget else min(scheduled)):
        yield "another selection has a lower peak in the user's layout"


def main():
    AsyncCompile.cpp_pybinding = lambda *arguments, **options: lambda *operands: None
    torch._inductor.config.force_disable_caches = True
    # Nobody looks at the kernels: those without vectors are written faster.
    torch._inductor.config.cpp.simdlen = 1
    torch.manual_seed(0)
    x = torch.randn(1024, 32)
    wrong = []
    images = torch.randn(2, 192 * 16 * 16)
    every = "--every" in sys.argv
    others = [(Decoder(), x), (Embedded(), x), (Depthwise(depth=2), images)] if every else []
    for model, operand in *others, (Depthwise(), images):
        budget, before = find_lowest(model, operand)
        name = type(model).__name__
        # An error is no exception: that would only warn.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.filterwarnings("error", "fad leaves|no selection", RuntimeWarning)
            peak = measure(model, operand, {"fad.budget": budget})
        said = [each for each in before + caught if "may copy filters" in str(each.message)]
        if copies_filters() and name == "Depthwise":
            # Goes with PyTorch 2.12.
            wrong += ["there is not one warning of filters"] * (len(said) != 1)
            continue
        wrong += ["there is a warning of filters"] * len(said)
        print(f"{name}: budget {budget}, measured {peak}")
        wrong += [f"the budget of {name} is not kept"] * (peak > budget)
    if not copies_filters():
        wrong += check_layout(model, operand, budget, peak)
        wrong += check_estimate(Decoder(128, 2), torch.randn(512, 128))
        wrong += check_estimate(Decoder(64, 2), torch.randn(32, 64))
        wrong += check_table(x)
        if every:
            wrong += check_estimate(Products(128), torch.randn(1024, 128))
    warnings.filterwarnings("error", "fad leaves|no selection", RuntimeWarning)
    model = Classifier()
    stock, peak = measure(model, x, {}, "inductor"), measure(model, x, {"fad.budget": 1.0})
    print(f"stock {stock}, measured {peak}")
    # Goes with PyTorch 2.12, in whose order the scores and their exponentials are there at once.
    bound = 2 * stock if copies_filters() else stock
    wrong += ["the peak is above stock Inductor's"] * (peak > bound)
    model = Twice(depth=3 if every else 1)
    eager, peak = measure(model, x), measure(model, x, {})
    print(f"eager {eager}, measured {peak}")
    wrong += ["the peak is above eager PyTorch's"] * (peak > eager)
    print("\n".join(wrong) or "right")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

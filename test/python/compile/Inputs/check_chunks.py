"""Losses and layers in chunks: gradients against eager PyTorch's in f64, what is left alone and why,
and the memory of a step.

usage: check_chunks.py [--every]

Without --every, each check has some of its cases."""

import contextlib
import copy
import itertools
import math
import warnings
from unittest import mock

import torch
import torch.nn.functional as F
from torch import nn

import fad.torch.compile
from check_chunk_results import (
    check_counts,
    check_joined,
    check_multiplied,
    check_parts,
    check_transposed,
)
from chunk_steps import EVERY, MESSAGES, WORDS, compare, make_inputs, run_step, split
from fad.torch._saved_memory.allocator import watch_allocator
from fad.torch.compile import _sizes
from fad.torch.compile._chunks import choose, cost
from fad.torch.compile._rates import look_up
from wide_losses import LEFT_ALONE, LOSSES


def check_losses():
    """Each loss in chunks of 6 rows, or of 5 with a last one of 4."""
    wrong, chunked, alone = [], 0, 0
    inputs = make_inputs(torch.float64)
    # Neighbours are of one kind.
    for number, (name, loss) in enumerate(list(LOSSES.items())[:: 1 if EVERY else 3]):
        torch._dynamo.reset()
        MESSAGES.texts.clear()
        reference = run_step(loss, inputs)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # PyTorch has its own of functions with gradients.
            warnings.simplefilter("ignore", DeprecationWarning)
            found = run_step(torch.compile(loss, backend=split(4 + number % 2)), inputs)
        is_chunked = bool(MESSAGES.find("is computed in"))
        if compare(found, reference) > 1e-12 or is_chunked == (name in LEFT_ALONE):
            wrong.append(name)
        chunked, alone = chunked + is_chunked, alone + (not is_chunked)
    print(f"losses in chunks: {chunked}, left alone: {alone}, wrong: {wrong}")


class Layer(nn.Module):
    """A gated layer, as Llama has it, or a norm alone, and a loss of its words."""

    def __init__(self, width, words, is_gated=True):
        super().__init__()
        self.is_gated = is_gated
        self.norm = nn.RMSNorm(width)
        if is_gated:
            self.gate = nn.Linear(width, 4 * width, bias=False)
            self.up = nn.Linear(width, 4 * width)
            self.down = nn.Linear(4 * width, width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, hidden, target):
        rows = self.norm(hidden)
        if self.is_gated:
            rows = hidden + self.down(F.silu(self.gate(rows)) * self.up(rows))
        logits = self.head(rows).flatten(0, 1)
        return F.cross_entropy(logits.float(), target.flatten())


def step(model, *inputs, **options):
    """Returns the loss and gradients of a step in f64, and the most bytes that are alive at
    once."""
    torch._dynamo.reset()
    model = copy.deepcopy(model)
    compiled = torch.compile(model, backend="fad", options=options) if options else model
    compiled(*inputs).backward()
    model.zero_grad()
    loss, forward = watch_allocator(lambda: compiled(*inputs), False)
    _, backward = watch_allocator(loss.backward, False)
    gradients = [each.grad.double() for each in model.parameters()]
    peak = max(forward.peak, forward.resident + backward.peak)
    return [loss.detach().double(), *gradients], peak


def check_engines():
    """Gradients are as close to those of f64 as those of eager PyTorch, and the memory of a step is
    a part of the logits'."""
    torch.manual_seed(0)
    rows, words = 512, 2048
    for dtype, engine in itertools.product((torch.float32, torch.bfloat16), ("inductor", "eager")):
        # The compiler of Inductor takes long, and as long for each type.
        is_short = engine == "inductor" and not EVERY
        if is_short and dtype is torch.bfloat16:
            continue
        model = Layer(32, words, is_gated=not is_short).to(dtype)
        hidden = torch.randn(4, rows // 4, 32, dtype=dtype)
        target = torch.randint(0, words, (4, rows // 4))
        reference = step(copy.deepcopy(model).double(), hidden.double(), target)[0]
        own = compare(step(model, hidden, target)[0], reference)
        found, peak = step(model, hidden, target, **{"fad.engine": engine, "fad.chunks": 4})
        print(f"{dtype} {engine}: as close: {compare(found, reference) < 4 * own}")
        print(f"{dtype} {engine}: below the logits: {peak < 4 * rows * words}")


class Wide(nn.Module):
    """A gated layer, whose forward is the peak: no checkpoint lowers it."""

    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(32)
        self.gate, self.up = nn.Linear(32, 128, bias=False), nn.Linear(32, 128, bias=False)
        self.down = nn.Linear(128, 32, bias=False)

    def forward(self, hidden):
        rows = self.norm(hidden)
        hidden = hidden + self.down(F.silu(self.gate(rows)) * self.up(rows))
        # Rows of the layer have no loss of their own.
        return (hidden - hidden.mean(0)).square().mean()


def check_budgets():
    """Layers in chunks where a budget asks for less than any selection of the whole ones takes."""
    torch.manual_seed(0)
    share, model, hidden = 0.6, Wide(), torch.randn(2048, 32)
    reference = step(copy.deepcopy(model).double(), hidden.double())[0]
    before = step(model, hidden)[1]
    cases = ("eager", "off"), ("eager", "auto"), ("inductor", "auto")
    for engine, chunks in cases if EVERY else cases[:2]:
        MESSAGES.texts.clear()
        options = {"fad.engine": engine, "fad.budget": share, "fad.chunks": chunks}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found, peak = step(model, hidden, **options)
        misses = any("no selection" in str(each.message) for each in caught)
        right = compare(found, reference) < 1e-5
        print(f"{engine} {chunks}: the budget is missed: {misses}, gradients are right: {right}")
        print(f"{engine} {chunks}: the peak falls: {peak < share * before}")
    if EVERY:
        tried = [int(text.split()[0]) for text in MESSAGES.find("at the scheduled peak")]
        *whole, chunked = (peak < share * tried[0] for peak in tried)
        print("only chunks keep it:", chunked and len(whole) > 1 and not any(whole))
    bound = int(0.4 * before)
    peak = step(model, hidden, **{"fad.engine": "eager", "fad.budget": bound})[1]
    print("bytes are kept:", peak <= bound)


def check_sizes():
    """Numbers of rows that chunks do not divide, and fewer than chunks."""
    loss = LOSSES["class weights, smoothed labels"]
    errors = []
    for batch, length in ((1, 7), (3, 1), (2, 2), (5, 3), (1, 1)):
        torch._dynamo.reset()
        inputs = make_inputs(torch.float64, batch, length + 1)
        inputs = (inputs[0][:, 1:], *inputs[1:3], inputs[3][:, 1:])
        compiled = torch.compile(loss, backend=split(3), dynamic=False)
        errors.append(compare(run_step(compiled, inputs), run_step(loss, inputs)))
    print("sizes are right:", max(errors) < 1e-12)


def count_graphs(chunks):
    """Returns a backend as that of `split`, and the list of graphs that it compiles."""
    compile_graph, graphs = split(chunks), []

    def compile_counted(graph, inputs):
        graphs.append(graph)
        return compile_graph(graph, inputs)

    return compile_counted, graphs


def run_lengths(compiled, function, make, lengths):
    """Returns the largest error of `compiled` over inputs that `make` makes, and how often each of
    the graphs runs in chunks."""
    torch._dynamo.reset()
    MESSAGES.texts.clear()
    errors = []
    for batch, length in lengths:
        inputs = make(torch.float64, batch, length)
        errors.append(compare(run_step(compiled, inputs), run_step(function, inputs)))
    return max(errors), len(MESSAGES.find("is computed in"))


def check_dynamic():
    """Sizes that are symbols: one graph for all with two rows a chunk, and one for fewer."""
    lengths = (4, 6), (5, 7), (3, 11), (2, 4), (6, 3)
    names = ("mean", "class weights, smoothed labels", "soft margin", "two heads")
    for name in names if EVERY else names[-1:]:
        backend, graphs = count_graphs(4)
        compiled = torch.compile(LOSSES[name], backend=backend, dynamic=True)
        error, chunked = run_lengths(compiled, LOSSES[name], make_inputs, lengths)
        print(f"{name}: {len(graphs)} graph, {chunked} in chunks, right: {error < 1e-12}")

    def scale(hidden, weight, bias, target):
        # A number of sizes that is none itself.
        logits = hidden.flatten(0, 1) @ weight.t() * (7 / hidden.shape[0])
        return F.cross_entropy(logits, target.flatten())

    backend, graphs = count_graphs(4)
    compiled = torch.compile(scale, backend=backend, dynamic=True)
    error, chunked = run_lengths(compiled, scale, make_inputs, lengths[:2])
    print(f"scaled: {len(graphs)} graph, {chunked} in chunks, right: {error < 1e-12}")
    backend, graphs = count_graphs(4)
    compiled = torch.compile(LOSSES["mean"], backend=backend, dynamic=True)
    lengths = (3, 2), (9, 5), (2, 3), (40, 2)
    error, chunked = run_lengths(compiled, LOSSES["mean"], make_inputs, lengths)
    print(f"few rows: {len(graphs)} graphs, {chunked} in chunks, right: {error < 1e-12}")
    print(*MESSAGES.find("at once"), sep="\n")


def check_dynamic_layers():
    """Layers and a loss in float32 over lengths, against float64."""
    torch.manual_seed(0)
    for make, has_words in ((lambda: Layer(32, 256), True), (Wide, False)):
        torch._dynamo.reset()
        MESSAGES.texts.clear()
        model, (backend, graphs) = make(), count_graphs(4)
        compiled, exact = torch.compile(model, backend=backend, dynamic=True), copy.deepcopy(model)
        exact, errors = exact.double(), []
        for batch, length in ((4, 16), (2, 33), (5, 7), (2, 4)):
            words = [torch.randint(0, 256, (batch, length))] if has_words else []
            found = []
            hidden = torch.randn(batch, length, 32)
            for call, rows in ((compiled, hidden), (model, hidden), (exact, hidden.double())):
                rows = rows.clone().requires_grad_()
                own = exact if call is exact else model
                own.zero_grad()
                call(rows, *words).backward()
                found.append([rows.grad.double(), *(p.grad.double() for p in own.parameters())])
            errors.append(compare(found[0], found[2]) < max(1e-6, 4 * compare(found[1], found[2])))
        parts = [text.split()[2] for text in MESSAGES.find("is computed in")]
        print(f"{type(model).__name__}: {len(graphs)} graph, {parts} in chunks, right: {errors}")


def check_data_dependent():
    """A number of rows that depends on data: at once."""
    torch._dynamo.reset()
    MESSAGES.texts.clear()

    def loss(hidden, weight, bias, target):
        chosen = (target.flatten() > 9).nonzero().squeeze(1)
        logits = hidden.flatten(0, 1)[chosen] @ weight.t()
        return F.cross_entropy(logits, target.flatten()[chosen])

    inputs = make_inputs(torch.float64)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(loss, backend=split(4), fullgraph=True)
        print("rows of data:", compare(run_step(compiled, inputs), run_step(loss, inputs)) < 1e-12)
    print(*MESSAGES.find("at once"), sep="\n")


def check_mean_of_rows():
    """A layer that ends in a mean is as a loss: its gradients are forward's, and nothing is repeated."""
    torch._dynamo.reset()
    MESSAGES.texts.clear()
    torch.manual_seed(0)
    layer = Wide()

    def loss(hidden):
        rows = layer.norm(hidden)
        return layer.down(F.silu(layer.gate(rows)) * layer.up(rows)).square().mean()

    hidden = torch.randn(512, 32)
    exact = run_step(loss, [hidden])
    found = run_step(torch.compile(loss, backend=split(4)), [hidden])
    print("a mean of rows is right:", compare(found, exact) < 1e-5)
    print(*MESSAGES.find("is computed in"), sep="\n")


def check_reasons():
    for name in LEFT_ALONE:
        torch._dynamo.reset()
        MESSAGES.texts.clear()
        run_step(torch.compile(LOSSES[name], backend=split(4)), make_inputs(torch.float64))
        print(f"{name}:", *MESSAGES.find("at once"))


def check_wide_weight():
    """A head whose gradient, summed in f32, is larger than its logits: at once by default."""
    torch._dynamo.reset()
    MESSAGES.texts.clear()
    hidden = torch.randn(1024, 512, dtype=torch.bfloat16)
    weight = torch.zeros(16384, 512, dtype=torch.bfloat16, requires_grad=True)
    compiled = torch.compile(LOSSES["mean"], backend=split("auto"))
    compiled(hidden, weight, None, torch.zeros(1024, dtype=torch.int64))
    print(*MESSAGES.find("at once"), sep="\n")


def check_rates():
    """A loss whose products are work for chunks on one device, and for none on a faster one."""
    hidden, weight = torch.randn(4096, 64), torch.zeros(2048, 64, requires_grad=True)
    for rates in (cost.find_rates(hidden.device), look_up("H100")):
        torch._dynamo.reset()
        MESSAGES.texts.clear()
        with contextlib.ExitStack() as stack:
            for module in (cost, _sizes):
                patch = mock.patch.object(module, "find_rates", lambda device, each=rates: each)
                stack.enter_context(patch)
            compiled = torch.compile(LOSSES["mean"], backend=split("auto"))
            compiled(hidden, weight, None, torch.zeros(4096, dtype=torch.int64))
        print(f"rates of {rates.name}:", *MESSAGES.find("is computed"))


def check_labels():
    """A label that is no word is an error in chunks, too."""
    inputs = make_inputs(torch.float32)
    inputs[3][2, 2] = WORDS
    for engine in ("eager", *["inductor"] * EVERY):
        torch._dynamo.reset()
        options = {"fad.chunks": 3, "fad.engine": engine}
        compiled = torch.compile(LOSSES["mean"], backend="fad", options=options)
        try:
            run_step(compiled, inputs)
        except (IndexError, RuntimeError) as error:
            print(f"a wrong label, {engine}:", str(error).splitlines()[0])


def check_halves():
    """A loss in float16, which is multiplied by a large number so that gradients do not vanish: a
    mean of elements whose sum is no float16."""

    def loss(hidden, weight):
        return (hidden @ weight.t()).square().mean()

    torch.manual_seed(0)
    inputs = [torch.randn(1024, 8).half(), torch.randn(2048, 8).half()]
    reference = [each.double() for each in inputs]
    scaled = []
    for function, tensors in ((torch.compile(loss, backend=split(4)), inputs), (loss, reference)):
        for each in tensors:
            each.requires_grad_()
        result = function(*tensors)
        (result.float() * 2**14).backward()
        scaled.append([each.detach().double() for each in (result, *(t.grad for t in tensors))])
    print("halves are right:", compare(*scaled) < 1e-2)


def check_options():
    for chunks in (0, -2, True, 2.0, "none"):
        try:
            torch.compile(LOSSES["mean"], backend="fad", options={"fad.chunks": chunks})(
                *make_inputs(torch.float32)
            )
        except Exception as error:
            print([line for line in str(error).splitlines() if "chunks is" in line][0])


def check_sums():
    """Products that are added to sums, of one type and of another, and the first, which is written."""
    torch.manual_seed(0)
    for dtype in (torch.float64, torch.bfloat16):
        left, right = torch.randn(3000, 4).to(dtype), torch.randn(4, 2000).to(dtype)
        wide = torch.float64 if dtype is torch.float64 else torch.float32
        total = torch.full((3000, 2000), math.nan, dtype=wide)
        error = 4e-2 if dtype is torch.bfloat16 else 1e-12
        for count in (1, 2):
            torch.ops.fad.accumulate(total, left, right, count == 1)
            expected = count * left.double() @ right.double()
            print(
                dtype,
                f"sum of {count} is right:",
                torch.allclose(total.double(), expected, rtol=0, atol=count * error),
            )


if __name__ == "__main__":
    assert fad.torch.compile
    # No program falls back.
    warnings.filterwarnings("error", "fad leaves this graph")
    check_losses()
    check_sizes()
    check_dynamic()
    check_dynamic_layers()
    check_data_dependent()
    check_mean_of_rows()
    check_joined()
    check_parts()
    check_transposed()
    check_multiplied()
    check_reasons()
    check_sums()
    check_wide_weight()
    check_rates()
    check_counts()
    check_halves()
    check_options()
    check_labels()
    check_engines()
    # Layers of a test are small.
    choose._LEAST_BYTES = 2**18
    check_budgets()

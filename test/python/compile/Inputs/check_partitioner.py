"""Trains modules for one step with fad as the partitioner of AOTAutograd's joint graph:
gradients have to be those of PyTorch, and `auto` has to save no more bytes than
PyTorch's partitioner and than the other policies.

The graphs are those of Inductor, with its decompositions; PyTorch executes them
operation by operation, without compiling them.

usage: check_partitioner.py [--every | CASE ...]

Without --every, one of three activations is tested, and one of eight modules has all
policies."""

import sys
import warnings

import torch
import torch.nn.functional as F
from functorch.compile import make_boxed_func
from torch import nn
from torch._dynamo.backends.common import aot_autograd
from torch._functorch import partitioners
from torch._inductor.decomposition import select_decomp_table
from torch.utils.checkpoint import checkpoint

from fad.torch.compile import Partitioner, backend

ACTIVATIONS = (
    nn.ReLU, nn.GELU, nn.SiLU, nn.Mish, nn.ELU, nn.Hardswish, nn.Hardsigmoid, nn.Softplus,
    nn.LeakyReLU, nn.Tanh, nn.LogSigmoid, nn.Softsign, nn.Hardtanh, nn.CELU, nn.ReLU6,
)  # fmt: skip
NAMES = [activation.__name__ for activation in ACTIVATIONS]
POLICIES = ("bp", "recompute", "fad", "auto")


class Attention(nn.Module):
    """Scores with dropout; queries, keys and values are views of one tensor."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(32, 96)

    def forward(self, x):
        q, k, v = self.project(x).chunk(3, -1)
        scores = torch.softmax(q @ k.transpose(-1, -2) / 5.0, -1)
        return F.dropout(scores, 0.1) @ v


class Changed(nn.Module):
    """Forward changes a buffer in place after the last read of it."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.register_buffer("scale", torch.ones(16))

    def forward(self, x):
        y = self.linear(x) * self.scale.sin()
        self.scale.mul_(2.0)
        return torch.tanh(y) * y


class Checkpointed(nn.Module):
    """A checkpoint around a layer, in which nothing is saved."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(16, 64), nn.Linear(64, 16)

    def forward(self, x):
        def layer(x):
            return self.second(F.gelu(self.first(x)))

        return torch.tanh(checkpoint(layer, x, use_reentrant=False)) * x


class Several(nn.Module):
    """Two results that share values, one of which is read twice."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        y = F.silu(self.linear(x))
        return y * torch.sigmoid(y), y.exp()


class Language(nn.Module):
    """An embedding, and its loss."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.linear = nn.Linear(16, 20)

    def forward(self, x):
        y = self.linear(F.gelu(self.embedding(x)))
        return F.cross_entropy(y.flatten(0, 1), x.flatten())


def make_mlp(activation):
    return nn.Sequential(nn.Linear(16, 32), activation, nn.Linear(32, 8))


def make_typed(dtype):
    layers = nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 8)
    return nn.Sequential(*layers).to(dtype)


def make_convolutions():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU6(), nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3), nn.GroupNorm(2, 8), nn.SiLU(), nn.AdaptiveAvgPool2d(1),
    )  # fmt: skip


def make_encoder(**options):
    return nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, **options)


def rows(*shape, dtype=torch.float32):
    return lambda: torch.randn(*shape, dtype=dtype)


CASES = {
    **{a.__name__: (lambda a=a: make_mlp(a()), rows(8, 16)) for a in ACTIVATIONS},
    "attention": (Attention, rows(2, 8, 32)),
    "changed": (Changed, rows(4, 16)),
    "checkpointed": (Checkpointed, rows(4, 16)),
    "several": (Several, rows(4, 16)),
    "language": (Language, lambda: torch.randint(0, 20, (2, 6))),
    "encoder": (lambda: make_encoder(dropout=0.1), rows(2, 8, 32)),
    "pre-norm": (lambda: make_encoder(dropout=0.0, norm_first=True), rows(2, 8, 32)),
    "convolutions": (make_convolutions, rows(4, 3, 16, 16)),
    "cell": (lambda: nn.LSTMCell(8, 16), rows(4, 8)),
    "bf16": (lambda: make_typed(torch.bfloat16), rows(8, 16, dtype=torch.bfloat16)),
    "f64": (lambda: make_typed(torch.float64), rows(8, 16, dtype=torch.float64)),
}
# Their random numbers are those of compiled graphs.
RANDOM = {"attention", "encoder"}
# PyTorch's own partition of this graph fails: it reads the buffer again.
STOCK_FAILS = {"changed"}

saved_bytes = None
saved_constants = 0


def watch(extract):
    def run(graph, saved, **options):
        global saved_bytes, saved_constants
        values = [node.meta["val"] for node in saved if node.op != "placeholder"]
        saved_constants = sum(node.target is torch.ops.aten.full.default for node in saved)
        # Inductor's C++ code for choices among bytes is slow.
        if any(
            node.target is torch.ops.aten.where.self and node.meta["val"].dtype is torch.uint8
            for node in graph.graph.nodes
        ):
            raise AssertionError("few-bit numbers are computed in bytes")
        saved_bytes = sum(value.element_size() * value.numel() for value in values)
        return extract(graph, saved, **options)

    return run


def compile_by(partition):
    def run(graph, _):
        return make_boxed_func(graph.forward)

    return aot_autograd(
        fw_compiler=run,
        bw_compiler=run,
        partition_fn=partition,
        decompositions=select_decomp_table(),
    )


def step(case, partition):
    """The results, gradients and buffers of one step, and the bytes saved."""
    global saved_bytes
    make, make_input = CASES[case]
    torch.manual_seed(0)
    model, x = make(), make_input()
    if x.is_floating_point():
        x.requires_grad_()
    torch._dynamo.reset()
    saved_bytes = None
    call = torch.compile(model, backend=compile_by(partition)) if partition else model
    torch.manual_seed(1)
    results = call(x)
    results = results if isinstance(results, tuple) else (results,)
    sum((y * torch.linspace(-1, 1, y.numel()).view(y.shape)).sum() for y in results).backward()
    gradients = [x.grad] if x.grad is not None else []
    gradients += [parameter.grad for parameter in model.parameters()]
    gradients = [gradient for gradient in gradients if gradient is not None]
    return [*results, *gradients, *model.buffers()], saved_bytes


def difference(a, b):
    a, b = a.detach().double(), b.detach().double()
    return ((a - b).abs().max() / (b.abs().max() + 1e-30)).item()


def check(case, policies):
    errors = []
    stock = partitioners.min_cut_rematerialization_partition
    saved = {}
    if case not in STOCK_FAILS:
        stock_values, saved["PyTorch"] = step(case, stock)
    expected = stock_values if case in RANDOM else step(case, None)[0]
    bound = 3e-2 if case == "bf16" else 1e-5
    for policy in policies:
        values, saved[policy] = step(case, Partitioner(policy))
        if saved_constants:
            errors.append(f"{policy} saves {saved_constants} constants")
        if saved[policy] is None:
            errors.append(f"{policy} did not split the graph")
        worst = max(map(difference, values, expected))
        if not worst <= bound:
            errors.append(f"{policy} differs by {worst:.1e}")
    if saved["auto"] > min(saved.values()):
        errors.append("auto saves more bytes than the least")
    print(case, ", ".join(f"{name} {count}" for name, count in saved.items()))
    for error in errors:
        print(f"{case}: {error}")
    return len(errors)


class Counting(Partitioner):
    """Counts the graphs that it splits."""

    count = 0

    def __call__(self, *arguments, **options):
        Counting.count += 1
        return super().__call__(*arguments, **options)


def check_dynamic():
    """One graph serves all batch sizes; its masks may fill no bytes."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(16, 9), nn.ReLU6(), nn.Linear(9, 16), nn.LayerNorm(16))
    compiled = torch.compile(model, backend=compile_by(Counting("fad")), dynamic=True)
    worst = 0.0
    for batch in 8, 5, 12:
        x = torch.randn(batch, 16)
        torch._dynamo.mark_dynamic(x, 0)
        gradients = []
        for call in model, compiled:
            model.zero_grad()
            (call(x) * torch.linspace(-1, 1, 16)).sum().backward()
            gradients.append([parameter.grad for parameter in model.parameters()])
        worst = max(worst, *map(difference, *gradients))
    print(f"dynamic: {Counting.count} graphs, difference {worst:.1e}")
    return Counting.count != 1 or not worst <= 1e-4


def check_options():
    """Options that there are not, and a graph that fad cannot plan."""
    for options, message in (
        ({"budget": 0.5}, "the option 'budget' is none of Inductor's; did you mean 'fad.budget'?"),
        ({"fad.engine": "fast"}, "fad.engine is 'fast'; choose one of 'inductor', 'eager'"),
        ({"fad.engine": "egaer"}, "; did you mean 'eager'?"),
        (
            {"fad.polcy": "auto"},
            "the backend fad has no option 'fad.polcy'; its own are fad.policy, fad.recompute, "
            "fad.budget, fad.slowdown, fad.residual_budget, fad.derivative_bits, fad.chunks, fad.engine; did you mean "
            "'fad.policy'?",
        ),
        (
            {"fad.policy": "foo"},
            "policy is 'foo'; choose one of 'bp', 'recompute', 'fad', 'auto'",
        ),
        (
            {"fad.recompute": ["all"]},
            "recompute is ['all']; choose one of 'nothing', 'elementwise', 'reductions', 'all', "
            "'contractions'",
        ),
        (
            {"fad.budget": "0.5"},
            "budget is '0.5'; give a fraction as a number, such as 0.5, a number of bytes, or "
            'text such as "2GB"',
        ),
        ({"fad.engine": "eager", "max_autotune": True}, "need fad.engine 'inductor'"),
    ):
        try:
            backend(None, [], options=options)
        except ValueError as error:
            if message not in str(error):
                return f"another error: {error}"
        else:
            return f"no error for {options}"

    if Partitioner(derivative_bits=0) != Partitioner():
        return "0 bits are not those of no rounding"

    class Failing(Partitioner):
        def _choose(self, *arguments):
            raise NotImplementedError("no plan")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values, _ = step("GELU", Failing())
    told = [str(warning.message) for warning in caught if "fad leaves" in str(warning.message)]
    worst = max(map(difference, values, step("GELU", None)[0]))
    if len(told) != 1 or not told[0].endswith("NotImplementedError: no plan"):
        return f"warnings: {told}"
    return "" if worst <= 1e-5 else f"PyTorch's partition differs by {worst:.1e}"


def main():
    warnings.simplefilter("error", RuntimeWarning)
    partitioners._extract_fwd_bwd_modules = watch(partitioners._extract_fwd_bwd_modules)
    every = sys.argv[1:] == ["--every"]
    some = [each for each in CASES if each not in NAMES or NAMES.index(each) % 3 == 0]
    cases = CASES if every else sys.argv[1:] or some
    failed = 0
    for number, case in enumerate(cases):
        is_sample = every or cases is not some or number % 8 == 0
        failed += check(case, POLICIES if is_sample else ("auto",)) > 0
    wrong = check_options()
    print(f"options: {wrong or 'right'}")
    wrong = check_dynamic() or bool(wrong)
    print(f"{len(cases)} modules, {failed} failed; others {'wrong' if wrong else 'right'}")
    return failed != 0 or wrong


if __name__ == "__main__":
    sys.exit(main())

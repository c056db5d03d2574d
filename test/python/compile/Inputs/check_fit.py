"""The memory of steps that fad.torch.fit says, beside that of the allocator; largest batches, texts,
pictures and errors."""

import collections
import contextlib
import functools
import gc
import io
import sys
import tempfile
import xml.dom.minidom
from unittest import mock

import torch
from torch import nn
from torch._inductor import config as inductor_config
from torch._inductor.async_compile import AsyncCompile

import fad.torch
from fad.torch._fit.command import main as run_command
from fad.torch._saved_memory.allocator import watch_allocator
from fad.torch.compile._pytorch import ReuseLine, V
from fad.torch.compile._schedule import _Walk
from fit_layers import check_alternating, check_deep, check_growth, check_windows
from fit_sizes import (
    Mean,
    Mixed,
    Parted,
    Wide,
    check_again,
    check_least,
    check_mixed,
    check_parted,
    check_planted,
    check_search,
    check_steered,
    check_traced,
)


class Gated(nn.Module):
    """Gated layers, whose gradients are summed, with a loss."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.gate, self.up, self.down = nn.Linear(32, 64), nn.Linear(32, 64), nn.Linear(64, 32)

    def forward(self, x):
        y = self.norm(x)
        y = self.down(nn.functional.silu(self.gate(y)) * self.up(y))
        return {"loss": (x + nn.functional.dropout(y, 0.1)).square().mean(), "rows": y}


class First(nn.Module):
    """The first result of a recurrent layer, which torch.compile leaves to eager PyTorch."""

    def forward(self, results):
        return results[0]


def make_convolutions():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, padding=1), nn.GELU(), nn.Flatten(), nn.Linear(512, 4),
    )  # fmt: skip


MODELS = {
    "gated": (Gated, (128, 32)),
    "convolutions": (make_convolutions, (4, 3, 16, 16)),
    "encoder": (lambda: nn.TransformerEncoderLayer(32, 2, 64, batch_first=True), (4, 16, 32)),
}
OPTIMIZERS = {
    "momentum": functools.partial(torch.optim.SGD, momentum=0.9),
    "adamw": torch.optim.AdamW,
    "foreach": functools.partial(torch.optim.AdamW, foreach=True),
}


def measure(model, x, optimizer, call):
    """The most bytes that are there during the second step."""
    optimizer = optimizer(model.parameters())

    def step():
        result = call(x)
        result = result["loss"] if isinstance(result, dict) else result
        torch.autograd.backward(result, torch.ones_like(result))
        del result
        optimizer.step()

    step()
    optimizer.zero_grad()
    gc.collect()
    state = [each for entry in optimizer.state.values() for each in entry.values()]
    tensors = (*model.parameters(), *model.buffers(), x, *(s for s in state if s is not None))
    static = {each.untyped_storage()._cdata: each.untyped_storage().nbytes() for each in tensors}
    return sum(static.values()) + watch_allocator(step, on_gpu=False)[1].peak


def check_eager():
    for name, (make, shape) in MODELS.items():
        for kind, optimizer in OPTIMIZERS.items():
            model, x = make(), torch.randn(shape)
            given = kind if kind in ("adamw", "momentum") else optimizer
            answer = fad.torch.fit(model, x, optimizer=given, plans=["eager"])
            assert all(each.grad is None for each in model.parameters())
            said, measured = answer["eager"].peak, measure(model, x, optimizer, model)
            assert abs(said / measured - 1) < 0.01, (name, kind, said, measured)
    # On a GPU, PyTorch's optimizer has temporary tensors of all parameters at once.
    model, x = Gated(), torch.randn(2, 32)
    answers = [fad.torch.fit(model, x, plans=["eager"], device=each) for each in ("cpu", "cuda")]
    one, all_ = (answer["eager"].update for answer in answers)
    assert all_ - answers[1].gradients >= answers[1].parameters > one - answers[0].gradients
    print("eager: peaks are the allocator's")


def check_plans(model, x, answer, names, limit=0.01):
    """Compares the peaks of compiled steps, by the options of `answer`, with those that it says."""
    for name in names:
        torch._dynamo.reset()
        options = answer[name].options
        keywords = {} if options is None else {"backend": "fad", "options": options or None}

        def call(x):
            result = model(x)
            return result["loss"] if isinstance(result, dict) else result

        compiled = torch.compile(call, dynamic=False, **keywords)
        # Kernels of no instructions need no compiler, and the same memory.
        empty = mock.patch.object(
            AsyncCompile, "cpp_pybinding", lambda *_, **__: lambda *operands: None
        )
        with empty, inductor_config.patch(fx_graph_cache=False):
            measured = measure(model, x, torch.optim.AdamW, compiled)
        said = answer[name].peak
        assert abs(said / measured - 1) < limit, (name, said, measured)


def check_reuse():
    """Inductor holds wide buffers of one layer for those of another, past narrow ones. All memory that
    it reuses is known, of results that kernels of norms write over values of their own, too."""
    hold, held = _Walk._hold_reused, []

    def count(walk):
        hold(walk)
        lines = (line for line in V.graph.wrapper_code.lines if isinstance(line, ReuseLine))
        buffers = [each for line in lines for each in (line.node, line.reused_as)]
        held.extend(walk.held.get(each.get_name()) for each in buffers)

    narrow = [each for _ in range(8) for each in (nn.Linear(32, 32), nn.Tanh())]
    model, x = (
        nn.Sequential(Wide(), *narrow, Wide(), nn.LayerNorm(32), Mean()),
        torch.randn(128, 32),
    )
    check_plans(model, x, fad.torch.fit(model, x, plans=["fad"]), ["fad"], 0.001)
    norms = nn.LayerNorm(32), nn.Linear(32, 128), nn.LayerNorm(128), nn.GELU(), nn.Linear(128, 32)
    with mock.patch.object(_Walk, "_hold_reused", count):
        fad.torch.fit(nn.Sequential(*norms, *norms, Mean()), x, plans=["fad"])
    assert held and None not in held, (len(held), held.count(None))


def check_compiled():
    # Inductor's fusions take less here than those that fad allows with a budget.
    layers = nn.Linear(64, 256), nn.SiLU(), nn.Dropout(0.1), nn.Linear(256, 64)
    model, x = nn.Sequential(nn.LayerNorm(64), *layers), torch.randn(512, 64)
    answer = fad.torch.fit(model, x, plans=["fad", "lowest"])
    assert answer["lowest"].peak <= answer["fad"].peak
    check_plans(model, x, answer, ["lowest"])
    make, shape = MODELS["gated"]
    model, x = make(), torch.randn(shape)
    with mock.patch("fad.torch.compile._partitioner.log_unscheduled") as log:
        answer = fad.torch.fit(model, x)
    assert not log.called
    check_plans(model, x, answer, ["inductor", "fad", "lowest"])
    # The lowest is what its option gives.
    budget = answer["lowest"].options["fad.budget"]
    named = fad.torch.fit(model, x, plans=[], budget=budget)["budget"]
    assert named.peak == answer["lowest"].peak and named.step <= budget, (named, budget)
    # So it is where one graph, with less to save, gives way to the budget of another.
    model, x = Parted(), torch.randn(512, 64)
    lowest = fad.torch.fit(model, x, plans=["lowest"])["lowest"]
    budget = lowest.options["fad.budget"]
    named = fad.torch.fit(model, x, plans=[], budget=budget)["budget"]
    assert (named.peak, named.step) == (lowest.peak, lowest.step), (named, lowest)
    assert answer["fad"].kept < answer["inductor"].kept < answer["eager"].kept
    assert answer["lowest"].peak <= answer["fad"].peak
    print("compiled: peaks are the allocator's")
    broken = fad.torch.fit(Mixed(0), torch.randn(64, 32), plans=["inductor"])
    saved = [each.bytes for each in broken["inductor"].memory.allocations]
    assert sum(saved) > broken["inductor"].step >= 64 * 64 * 4
    assert "tensors between 2 graphs (TORCH_LOGS=graph_breaks)" in broken.unknown
    return answer


def check_largest():
    model = Gated()

    def find(size, **options):
        shape = (2, size, 32) if "vary" in options else (size, 32)
        x = torch.empty(shape, device="meta")
        return fad.torch.fit(model, x, plans=["eager"], **options)

    for options in ({}, {"vary": "length"}):
        answer = find(64, memory="1MB", **options)
        largest = answer["eager"].largest
        assert find(largest, **options)["eager"].peak == answer["eager"].largest_peak <= 10**6
        assert find(largest + 1, **options)["eager"].peak > 10**6
    assert find(4096, memory="1MB").best is None
    for memory in ("1MB", "113KB", "90KB"):
        (line,) = (line for line in str(find(2, memory=memory)).splitlines() if "limited" in line)
        print(line)
    print(find(4096, memory="1MB").summary())
    print(find(4096, memory="90KB").summary())
    print(find(2, memory="113KB").summary())


class Positions(nn.Module):
    """Has 128 positions."""

    def __init__(self):
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(128, 8))

    def forward(self, x):
        return (x + self.positions[: x.shape[1]]).square().mean()


def check_copies():
    """The model and its inputs are as they were: which parts train, what needs a gradient."""
    models = [
        nn.Sequential(nn.Linear(8, 8), each, nn.Linear(8, 8))
        for each in (nn.Dropout(), nn.Identity())
    ]
    models[0][1].eval()
    x = torch.empty(64, 8, device="meta")
    one, other = (fad.torch.fit(model, x, plans=["eager"])["eager"].kept for model in models)
    assert one == other
    frozen = nn.Linear(8, 8).requires_grad_(False)
    answer = fad.torch.fit(frozen, x.requires_grad_(), plans=["eager"], memory="1MB")
    assert answer["eager"].largest > 64 and answer.state == 0
    pairs = collections.namedtuple("Pairs", "x")(torch.empty(2, 16, 8))
    answer = fad.torch.fit(Positions(), pairs, plans=["eager"], memory="1GB", vary="length")
    assert answer["eager"].largest == 128
    assert "does not run with a length of 129" in answer.to_dict()["plans"]["eager"]["limit"]
    # Parameters that share their storage count once.
    tied = nn.Sequential(nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False))
    tied[1].weight.data = tied[0].weight.data
    assert fad.torch.fit(tied, torch.empty(4, 8), plans=["eager"]).parameters == 4 * 64
    # As a name, a function has what PyTorch does on a GPU.
    model, x = nn.Linear(8, 8), torch.empty(4, 8)
    one, other = (
        fad.torch.fit(model, x, plans=["eager"], device="cuda", optimizer=each)["eager"].update
        for each in ("adamw", torch.optim.AdamW)
    )
    assert one == other


def check_texts(answer):
    print(answer)
    with tempfile.NamedTemporaryFile(suffix=".svg") as file:
        answer.draw(file.name, "fad")
        texts = xml.dom.minidom.parse(file.name).getElementsByTagName("text")
    words = {text.firstChild.data for text in texts}
    assert {"forward", "backward", "KiB"} <= words, words
    assert any(word.endswith("parameters, state, inputs") for word in words), words
    data = answer.to_dict()
    at_peak = sum(each["bytes"] for each in data["plans"]["fad"]["at_peak"])
    assert at_peak == answer["fad"].step


def check_progress():
    """Who waits at a terminal sees what is planned, and then nothing of it."""
    with mock.patch.object(sys, "stderr", io.StringIO()) as error:
        error.isatty = lambda: True
        fad.torch.fit(nn.Sequential(nn.Linear(8, 8), Mean()), torch.empty(4, 8), plans=["inductor"])
    assert error.getvalue() == ("\r\033[Kfit plans inductor of batch 4, after 0 steps\r\033[K"), (
        error.getvalue()
    )


def check_errors():
    model, x = Gated(), torch.randn(4, 32)
    for arguments, options in (
        ((torch.nn.functional.gelu, x), {}),
        ((model, x), {"memory": "24 apples"}),
        ((model, x), {"optimizer": "adamv"}),
        ((model, x), {"vary": "width"}),
        ((model, x), {"plans": "egaer"}),
        ((model, x), {"optimizer": torch.optim.SGD(model.parameters())}),
        ((model, x), {"device": "tpu"}),
        ((model, torch.randn(4, 31)), {}),
        ((model, torch.randn(4)), {"vary": "length"}),
        ((model, 3), {}),
        ((model, ()), {}),
        ((nn.Threshold(0.0, 0.0), x), {}),
        ((model, x), {"plans": []}),
        ((model, x), {"chunks": 0}),
        ((model, torch.randn(4, 3, 8, 8)), {"vary": "length"}),
        ((model, torch.randn(0, 32)), {}),
        ((nn.Sequential(nn.GRU(4, 4), First()), torch.randn(3, 2, 4)), {"plans": ["fad"]}),
    ):
        try:
            fad.torch.fit(*arguments, **{"plans": ["eager"], **options})
        except (TypeError, ValueError) as error:
            print(f"{type(error).__name__}: {error}")


def check_command():
    import fad.torch.fit

    assert fad.torch.fit.__name__ == "fit" and callable(fad.torch.fit)
    with contextlib.redirect_stderr(sys.stdout), mock.patch.dict(sys.modules, transformers=None):
        with contextlib.suppress(SystemExit):
            run_command(["gpt2"])


def check_missed():
    """A budget that no selection keeps, and one that the step keeps."""
    model, x = Gated(), torch.randn(128, 32)
    for budget in (0.01, "1GB"):
        answer = fad.torch.fit(model, x, plans=[], budget=budget)
        missed = answer["budget"].missed
        assert (missed is None) == (budget == "1GB"), missed
        lines = [line for line in str(answer).splitlines() if line.startswith("budget: ")]
        print(*lines, sep="\n")


def check_configurations():
    tiny = ["--set", "n_layer=1", "n_embd=32", "n_head=2", "vocab_size=100", "--plans", "eager"]
    with contextlib.redirect_stderr(sys.stdout):
        for arguments in (
            ["gtp2"],
            ["no/config.json"],
            ['{"model_type": "gpt3"}'],
            ["gpt2", "--length", "5000"],
            ["gpt2", "--batch", "0"],
            ["gpt2", "--chunks", "none"],
            ["gpt2", "--svg", "step.png"],
            ["gpt2", "--svg", "/no/step.svg"],
            ["gpt2", "--set", "n_layer"],
            ["gpt2", "--set", "n_layer=-1x"],
            ["gpt2", "--set", "n_layers=1"],
            ["encodec"],
            ["vit", "--set", "num_hidden_layers=1", "--vary=length"],
            ["opt", "--set", "hidden_size=30", "num_attention_heads=4"],
        ):
            with contextlib.suppress(SystemExit):
                run_command(arguments)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = run_command(["gpt2", *tiny, "--memory=4MB", "--length=64", "--batch=64"])
    print(status, out.getvalue().splitlines()[0])
    # The positions are learned, or rotated, which works with more of them.
    llama = ["llama", "--plans=eager", "--memory=1GB", "--length=8", "--vary=length", "--set"]
    llama += ["num_hidden_layers=1", "hidden_size=32", "num_attention_heads=2", "vocab_size=100"]
    llama += ["num_key_value_heads=2", "intermediate_size=64", "max_position_embeddings=128"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run_command(llama)
    print(*(line for line in out.getvalue().splitlines() if "largest" in line), sep="\n")
    kinds = ["--length=16", "--plans=eager"]
    small = ["num_hidden_layers=1", "hidden_size=32", "num_attention_heads=2"]
    for name, changes in (
        ("BertForSequenceClassification", [*small, "vocab_size=100"]),
        ("vit", [*small, "image_size=32"]),
        # There are two classes of the type.
        ("deit", [*small, "image_size=32"]),
        # Any number of positions.
        ("xlnet", ["n_layer=1", "d_model=32", "n_head=2", "vocab_size=100"]),
        # Experts, whose products fake tensors know in bfloat16 alone.
        ("mixtral", [*small, "num_key_value_heads=2", "num_local_experts=2", "vocab_size=100"]),
        ("t5", ["num_layers=1", "d_model=32", "vocab_size=100"]),
        (
            "whisper",
            [
                "encoder_layers=1",
                "decoder_layers=1",
                "encoder_attention_heads=2",
                "decoder_attention_heads=2",
                "d_model=32",
            ],
        ),
    ):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            run_command([name, *kinds, "--set", *changes])
        print(out.getvalue().split(",")[0])


if __name__ == "__main__":
    torch.manual_seed(0)
    if "--configurations" in sys.argv:
        check_configurations()
    elif "--deep" in sys.argv:
        check_steered()
        check_planted()
        check_mixed()
        check_parted()
        check_deep()
    else:
        check_eager()
        check_reuse()
        check_largest()
        check_growth()
        check_windows()
        check_alternating()
        check_search()
        check_least()
        check_again()
        check_traced()
        check_copies()
        check_progress()
        check_errors()
        check_command()
        check_missed()
        check_texts(check_compiled())

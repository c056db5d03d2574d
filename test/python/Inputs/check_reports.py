"""Checks the arguments, the text and the pictures that the three reports have in common."""

import functools
import importlib.util
import itertools
import pathlib
import struct
import tempfile

import torch
from torch import nn

import fad.torch
from fad._bars import draw_bars, list_bars
from fad._figures import choose_unit, compare, show_bytes, show_change, show_milliseconds
from fad._layers import group_rows, label
from fad.torch.eager import report

EAGER = {"fad.engine": "eager"}
# Many equal layers, and the rows with which they keep more than a MiB.
DEEP, ROWS = 16, 96
# A screen of 1080 rows has so many for a picture.
SCREEN = 900


class Block(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.up, self.down = nn.Linear(64, width), nn.Linear(width, 64)

    def forward(self, x, scale=1.0, time=None):
        hidden = self.up(x)
        hidden = hidden * torch.sigmoid(hidden) * scale
        return x + self.down(hidden if time is None else hidden * time)


def raises(message, call, *arguments, **keywords):
    """Whether a call fails with exactly this message."""
    try:
        call(*arguments, **keywords)
    except (TypeError, ValueError) as error:
        assert str(error) == message, error
        return True
    return False


def make(layers=2, widths=None, rows=32):
    torch.manual_seed(0)
    widths = widths or [256] * layers
    return nn.Sequential(*map(Block, widths)), torch.randn(rows, 64)


@functools.cache
def explain_deep():
    """The explanation of many equal layers, whose text and pictures are checked."""
    model, x = make(DEEP, rows=ROWS)
    return fad.torch.explain(model, x, options=EAGER, compare=["aggressive", "budget=0.5"])


def list_reports(model):
    """The reports by name: functions of the model's own arguments."""
    nested = fad.torch.nest(model, min_numel=0)
    return {
        "fad.torch.explain": lambda *a, **k: fad.torch.explain(model, *a, options=EAGER, **k),
        "fad.torch.saved_memory": lambda *a, **k: fad.torch.saved_memory(model, *a, **k),
        "fad_report": nested.fad_report,
        "fad.torch.eager.report": lambda *a, **k: report(nested, *a, **k),
    }


def count(made):
    """The bytes of a report; of saved memory those of inputs, too."""
    if isinstance(made, fad.torch.Explanation):
        return made.fad_bytes
    return sum(made.by_kind.values()) if isinstance(made, fad.torch.SavedMemory) else made.bytes


def check_keywords():
    """Keyword arguments of the model, by themselves or in `kwargs`, give equal reports."""
    model, x = Block(), torch.randn(32, 64)
    time = torch.randn(32, 256)
    for name, call in list_reports(model).items():
        plain = count(call(x))
        assert plain > 0, name
        assert count(call(x=x)) == count(call(kwargs={"x": x})) == plain, name
        # A constant that backward reads.
        more = count(call(x, kwargs={"time": time, "scale": 2.0}))
        assert more >= plain and (name != "fad.torch.saved_memory" or more > plain), (name, more)
        assert count(call(x, scale=2.0, kwargs={"time": time})) == more, name


def check_invalid():
    """Errors say which argument of the report or of the model is wrong."""
    model, x = Block(), torch.randn(32, 64)
    for name, call in list_reports(model).items():
        runs = f"{name} runs the model forward: call it with what the model takes"
        for error, given, keywords in (
            (f"{runs} (got an unexpected keyword argument 'y')", [x], {"y": 1}),
            (f"{runs} (missing a required argument: 'x')", [], {}),
            (
                f"{runs} (got an unexpected keyword argument 'kwarg'); did you mean 'kwargs'?",
                [x],
                {"kwarg": {}},
            ),
            (
                f"{runs} (got an unexpected keyword argument 'scales'); did you mean 'scale'?",
                [x],
                {"scales": 2},
            ),
            (
                f"{name} is given 'scale' twice: by itself, and in kwargs",
                [x],
                {"scale": 2, "kwargs": {"scale": 2}},
            ),
            (
                f"kwargs of {name} is a Tensor; give a mapping such as {{'mask': mask}}, or "
                "where the model has an argument of this name, kwargs={'kwargs': ...}",
                [x],
                {"kwargs": x},
            ),
        ):
            assert raises(error, call, *given, **keywords), (name, error)
    named = "or where the model has an argument of this name, kwargs="
    choices = "choose 'aggressive', or 'budget=SHARE' with a number from 0 to 1, as in 'budget=0.5'"
    for error, keywords in (
        (
            "time of fad.torch.explain is a Tensor; give True or False, " + named + "{'time': ...}",
            {"time": x},
        ),
        (
            "options of fad.torch.explain is a str; give a mapping such as {'fad.budget': 0.5}, "
            + named
            + "{'options': ...}",
            {"options": "fad.budget"},
        ),
        (
            "dynamic of fad.torch.explain is a Tensor; give True, False or None, "
            + named
            + "{'dynamic': ...}",
            {"dynamic": x},
        ),
        (
            "compare of fad.torch.explain is a Tensor; give names such as ['aggressive'], "
            + named
            + "{'compare': ...}",
            {"compare": x},
        ),
        ("compare is 'aggressive'; list it: ['aggressive']", {"compare": "aggressive"}),
        (
            f"compare has 'agressive'; {choices}; did you mean 'aggressive'?",
            {"compare": ["agressive"]},
        ),
        (f"compare has 'budget=1.5'; {choices}", {"compare": ["budget=1.5"]}),
        (f"compare has 'budget=half'; {choices}", {"compare": ["budget=half"]}),
        (f"compare has 'budget=nan'; {choices}", {"compare": ["budget=nan"]}),
        (f"compare has 0.5; {choices}", {"compare": [0.5]}),
    ):
        assert raises(error, fad.torch.explain, model, x, **keywords), error
    error = "measure of fad.torch.saved_memory is a Tensor; give True or False, " + named
    assert raises(error + "{'measure': ...}", fad.torch.saved_memory, model, x, measure=x)
    # Hooks may add arguments, and a function need not say which it takes.
    model.register_forward_pre_hook(lambda *_: (x,), with_kwargs=False)
    assert fad.torch.saved_memory(model, measure=False).bytes > 0
    assert fad.torch.saved_memory(torch.exp, x.clone().requires_grad_()).bytes == x.nbytes


def check_figures():
    """Units, percentages and sentences."""
    for size, expected in (
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.00 KiB"),
        (10240, "10.0 KiB"),
        (int(87.5 * 2**20), "87.5 MiB"),
        (3 * 2**30, "3.00 GiB"),
    ):
        assert show_bytes(size) == expected, (size, show_bytes(size))
    unit = choose_unit([2**20 * 20, None, 3])
    assert [unit.show(n) for n in (None, 0, 3, 2**20)] == ["-", "0", "<0.1", "1.0"]
    assert [show_change(*each) for each in ((1, 2), (2, 1), (999, 1000), (1, 0), (1, None))] == [
        " (-50%)",
        " (+100%)",
        " (0%)",
        "",
        "",
    ]
    counts = {"fad": 28.4, "torch.compile": 52.3, "aggressive": None, "eager": 87.5}
    sizes = {name: each and int(each * 2**20) for name, each in counts.items()}
    sentence = "fad keeps 28.4 MiB, torch.compile 52.3 (-46%), aggressive -, eager 87.5 (-68%)"
    assert compare("keeps", sizes) == sentence, compare("keeps", sizes)
    assert [show_milliseconds(each) for each in (0.5, 0.0821, 0.0012)] == ["500.0", "82.1", "1.20"]


def check_groups():
    """Rows of equal layers are one, and no others."""

    def group(names, figures=lambda name: None):
        return [label(names) for names in group_rows(names, str, figures)]

    layers = [f"h.{number}.{part}" for number in range(24) for part in ("attn", "mlp")]
    assert group(["", *layers, "norm"]) == [
        "(model)",
        "h.0-23.attn (x 24)",
        "h.0-23.mlp (x 24)",
        "norm",
    ]
    # The last layer has other figures, and keeps its own row.
    last = lambda name: name.startswith("h.23.")
    assert group(layers, last)[:2] == ["h.0-22.attn (x 23)", "h.0-22.mlp (x 23)"]
    assert group(layers, last)[2:] == ["h.23.attn", "h.23.mlp"]
    assert group(["0", "2", "4"]) == ["0,2,4 (x 3)"]
    assert group(map(str, range(0, 48, 2))) == ["0,2,..,46 (x 24)"]
    experts = [f"h.{a}.expert.{b}" for a, b in itertools.product(range(3), range(4))]
    assert group(experts) == ["h.0-2.expert.0-3 (x 12)"]
    # The second numbers are those of other modules.
    assert group(["0.0", "0.2", "1.1"]) == ["0.0", "0.2", "1.1"]
    assert group(["0.0", "0.2", "1.0", "1.1"]) == ["0-1.0 (x 2)", "0.2", "1.1"]
    assert group([]) == []


def check_text():
    """Each report begins with a sentence, and the figures of its tables are the objects'."""
    model, x = make(DEEP, rows=ROWS)
    named = list_reports(model)
    explained = explain_deep()
    saved = named["fad.torch.saved_memory"](x)
    nested = named["fad_report"](x)
    kept = DEEP * ROWS * 256 * 4
    # A sequence of the first sum, of which one operand needs no gradient, is kept as well.
    assert nested.bytes == kept + x.nbytes, nested.bytes
    for made, sentence in (
        (explained, compare("keeps", explained.bytes)),
        (
            saved,
            f"autograd keeps {show_bytes(saved.bytes)} for backward, of "
            f"{sum(tensor.counts for tensor in saved.tensors)} tensors; "
            f"peak of a step {show_bytes(saved.peak)}",
        ),
        (
            nested,
            compare("keeps", {"fad": nested.bytes, "eager": nested.eager_bytes})
            + f", of {len(nested.sequences)} nested sequences",
        ),
    ):
        assert made.summary() == sentence and str(made).startswith(sentence + "\n\n"), made
        # All layers together have the rows of one.
        assert len(str(made).splitlines()) < 50, made
    size = f"{kept / 2**20:.2f}"
    for made, words in (
        (explained, [f"0-{DEEP - 1}.up (x {DEEP})", f"float32[{ROWS},256]", "source of a region"]),
        (saved, [f"0-{DEEP - 1} (x {DEEP})", f"float32[{ROWS},256]", "SigmoidBackward0.result"]),
    ):
        (row,) = [line for line in str(made).splitlines() if all(word in line for word in words)]
        assert row.split()[0] == size, row
    # fad keeps one of the tensors of a layer, where eager PyTorch keeps three.
    place = str(nested).partition(f"   0-{DEEP - 1} (x {DEEP}), check_reports.py:")[2].splitlines()
    assert place[2].startswith(f"   fad keeps {size} MiB, eager {3 * kept / 2**20:.2f} "), place
    # Without a measurement, and of one tensor.
    assert fad.torch.saved_memory(
        torch.exp, x.clone().requires_grad_(), measure=False
    ).summary() == ("autograd keeps 24.0 KiB for backward, of 1 tensor")


def check_graphs():
    """Graphs of equal layers are described once, and each run of a graph counts."""
    model, x = make(6)
    x.requires_grad_()
    for block in model:
        # Backward reads no value from before a graph: those are of two graphs.
        block.up.requires_grad_(False)

    def run_in_turn(x):
        for block in model:
            x = block(x)
            torch._dynamo.graph_break()
        return x

    def run_three(x):
        x = model[0](x)
        torch._dynamo.graph_break()
        x = model[1](x)
        torch._dynamo.graph_break()
        return model[2](x)

    for call, heads in (
        (run_in_turn, ["graph 0: {} operations, run 6 times"]),
        (run_three, ["graphs 0-2 (x 3): {} operations each; of the first,"]),
    ):
        explained = fad.torch.explain(call, x, options=EAGER)
        found = [line for line in str(explained).splitlines() if line.startswith("graph")]
        operations = explained.graphs[0].operations
        assert found == [head.format(operations) for head in heads], found
        kept = []
        torch._dynamo.reset()
        compiled = torch.compile(call, backend="fad", options=EAGER)
        keep = lambda tensor: kept.append(tensor) or tensor
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            result = compiled(x)
        own = {tensor.untyped_storage().data_ptr() for tensor in model.parameters()}
        sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
        saved = sum(size for place, size in sizes.items() if place not in own)
        assert explained.fad_bytes == saved > 0, (explained, saved)
        by_module = sum(counts["fad"] for counts in explained.by_module.values())
        assert by_module == saved and result.requires_grad, by_module


def check_layout(axes):
    """No text of a picture overlaps another, and all are within it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = axes.figure
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    width, height = canvas.get_width_height()
    assert height <= SCREEN, height
    # Labels of numbers beyond the limits are not drawn.
    low, high = axes.get_xlim()
    drawn = zip(axes.get_xticks(), axes.get_xticklabels())
    numbers = [text for place, text in drawn if low <= place <= high]
    texts = [*axes.get_yticklabels(), *numbers, axes.xaxis.label, axes.title]
    boxes = [(t.get_text(), t.get_window_extent(renderer)) for t in texts if t.get_text()]
    for (name, box), (other, next_box) in itertools.combinations(boxes, 2):
        assert not box.overlaps(next_box), (name, other)
    for name, box in boxes:
        assert 0 <= box.x0 and box.x1 <= width and 0 <= box.y0 and box.y1 <= height, (name, box)
    # Bars have room beside the names.
    assert axes.get_window_extent(renderer).width > width / 3


def check_pictures():
    """Pictures of many layers fit a screen, with the bytes of all of them."""
    if not importlib.util.find_spec("matplotlib"):
        return
    for layers, widths in ((2, None), (48, None), (48, list(range(40, 88)))):
        model, x = make(layers, widths)
        saved = fad.torch.saved_memory(model, x, measure=False)
        axes = saved.plot()
        check_layout(axes)
        drawn = sum(bar.get_width() for bar in axes.patches)
        unit = choose_unit(sum(each) for _, each in list_bars({"": saved.by_module}))
        assert abs(drawn * unit.size - saved.bytes) < 1, (drawn, saved.bytes)
        check_layout(saved.plot(by="operator"))
    # Names of all forms: long ones, and more kinds than rows.
    names = [
        f"model.language_model.layers.{n}.feed_forward.experts.gate_{n % 40}" for n in range(99)
    ]
    axes = draw_bars({"fad": dict.fromkeys(names, 2**20), "eager": {"other": 3 * 2**20}})
    check_layout(axes)
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert len(labels) == 16 and labels[-1] == "others (x 26)", labels
    explained = explain_deep()
    with tempfile.TemporaryDirectory() as folder:
        for draw in (explained.draw, explained.draw_memory):
            path = pathlib.Path(folder, "picture.png")
            draw(path)
            width, height = struct.unpack(">II", path.read_bytes()[16:24])
            assert height <= SCREEN and width <= 1200, (width, height)
        explained.draw(pathlib.Path(folder, "picture.dot"))
        text = pathlib.Path(folder, "picture.dot").read_text()
        assert text.count(" -> ") < 8 and f"(x {DEEP})" in text, text


def check_bounds():
    """Graphs of Graphviz have a bounded number of edges where all layers differ."""
    model, x = make(30, list(range(40, 70)))
    explained = fad.torch.explain(model, x, options=EAGER)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "picture.dot")
        explained.draw(path)
        text = path.read_text()
    assert 1 < text.count(" -> ") <= 24, text
    assert "30 tensors" in text, text


CHECKS = (
    check_keywords,
    check_invalid,
    check_figures,
    check_groups,
    check_text,
    check_graphs,
    check_pictures,
    check_bounds,
)
for check in CHECKS:
    check()
print(f"{len(CHECKS)} checks passed")
model, x = make()
for call in list(list_reports(model).values())[:3]:
    print(call(x))

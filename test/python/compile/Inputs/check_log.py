"""Checks the plan of the backend `fad` that PyTorch's structured trace has, and the log.

Usage: check_log.py FOLDER, where PyTorch writes its trace."""

import contextlib
import json
import logging
import os
import pathlib
import sys

import torch
from torch import nn
from torch._inductor.async_compile import AsyncCompile

import fad.torch
from fad.torch.compile import _log, _partitioner
from fad.torch.compile._import import NotPlanned

EAGER = {"fad.engine": "eager"}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.drop = nn.LayerNorm(64), nn.Linear(64, 256), nn.Dropout(0.1)
        self.down = nn.Linear(256, 64)

    def forward(self, x):
        hidden = self.up(self.norm(x))
        return self.down(self.drop(nn.functional.silu(hidden)))


def make():
    torch.manual_seed(0)
    return Model(), torch.randn(32, 64)


def read_plans(folder):
    """The artifacts `fad_plan` of the trace, each with what PyTorch says of it."""
    plans = []
    for file in sorted(folder.glob("dedicated_log_torch_trace_*")):
        record, payload = None, []
        for line in [*file.read_text().splitlines(), "V"]:
            if line.startswith("\t"):
                payload.append(line[1:])
                continue
            if record and record.get("artifact", {}).get("name") == "fad_plan":
                plans.append((record, json.loads("\n".join(payload))))
            found = line.partition("] ")[2]
            record, payload = json.loads(found) if found.startswith("{") else None, []
    return plans


def run(model, x, **options):
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="fad", options=options or None)
    saved = {}

    def pack(value):
        saved[value.untyped_storage().data_ptr()] = value
        return value

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
        result = compiled(x)
    known = {x.data_ptr(), *(tensor.data_ptr() for tensor in model.parameters())}
    result.sum().backward()
    return sum(value.untyped_storage().nbytes() for key, value in saved.items() if key not in known)


def check_trace(folder):
    """The artifact has the tensors that autograd is given, and those of the explanation."""
    model, x = make()
    before = len(read_plans(folder))
    saved = run(model, x)
    (record, plan), *others = read_plans(folder)[before:]
    assert not others and record["artifact"]["encoding"] == "json", record
    # The number of the compilation, by which tlparse groups artifacts.
    assert "frame_id" in record and "stack" not in record, record
    assert plan["saved_bytes"] == saved == sum(tensor["bytes"] for tensor in plan["saved"]), plan
    assert saved == sum(kind["bytes"] for kind in plan["kinds"].values())
    assert plan["options"] == {"policy": "auto"} and plan["fallback"] == "", plan
    assert plan["estimate"]["candidates"] >= len(plan["kinds"]) and plan["estimate"]["edges"] > 0
    part = fad.torch.explain(model, x).graphs[0].fad
    for name, of_plan in (
        ("bytes", plan["saved_bytes"]),
        ("peak", plan["peak"]["bytes"]),
        ("peak_operation", plan["peak"]["operation"]),
        ("peak_in_backward", plan["peak"]["in_backward"]),
    ):
        assert getattr(part, name) == of_plan, name
    for tensor, of_plan in zip(part.tensors, plan["saved"], strict=True):
        for name in ("name", "operation", "module", "dtype", "bytes", "line", "reason", "is_input"):
            assert getattr(tensor, name) == of_plan[name], (tensor, of_plan)


def check_budget(folder):
    """A plan with a budget has the options and peaks of the choice."""
    model, x = make()
    before = len(read_plans(folder))
    run(model, x, **EAGER, **{"fad.budget": 0.9})
    (_, plan), *_ = read_plans(folder)[before:]
    assert plan["options"]["peak_fraction"] == 0.9 and "peak_budget" not in plan["options"]
    assert 0 < plan["estimate"]["peak"] <= 0.9 * plan["estimate"]["fastest_peak"], plan


def check_rule(folder):
    """A rule has no candidates, and no edges."""
    model, x = make()
    before = len(read_plans(folder))
    run(model, x, **EAGER, **{"fad.policy": "fad"})
    (_, plan), *_ = read_plans(folder)[before:]
    assert plan["options"] == {"policy": "fad"} and plan["estimate"] == {}, plan


@contextlib.contextmanager
def failing(module, name, error):
    """The lines of the log while the function `name` of `module` raises `error`."""
    lines, function = [], getattr(module, name)
    handler = logging.Handler()
    handler.emit = lambda entry: lines.append(entry.getMessage())

    def fail(*arguments):
        raise error

    setattr(module, name, fail)
    logging.getLogger("fad.torch.compile").addHandler(handler)
    try:
        yield lines
    finally:
        setattr(module, name, function)
        logging.getLogger("fad.torch.compile").removeHandler(handler)


def check_fallback(folder):
    """A graph that is left to PyTorch's partitioner says why, in both, and nothing of a plan of
    fad's: neither before there is one, nor where it cannot be applied."""
    for name in ("import_joint", "apply_plan"):
        model, x = make()
        before = len(read_plans(folder))
        with failing(_partitioner, name, NotPlanned("no plan")) as lines:
            saved = run(model, x, **EAGER)
        (_, record), *_ = read_plans(folder)[before:]
        assert record["fallback"] == "NotPlanned: no plan", record
        assert record["saved_bytes"] == saved, (saved, record)
        assert {"estimate", "new_operations", "not_repeated"}.isdisjoint(record), (name, record)
        assert "left to PyTorch's partitioner: NotPlanned: no plan" in lines, lines
        assert any(line.startswith("PyTorch's choice: ") for line in lines), lines
        assert not any(line.endswith((": ", ":")) for line in lines), lines
        assert not any(line.startswith(("candidates", "adds", "never")) for line in lines), lines


def check_failure(folder):
    """A compilation goes on where its record fails, whether a log or the trace asks for it."""
    model, x = make()
    before = len(read_plans(folder))
    with failing(_log, "_describe", ValueError("no record")) as lines:
        assert run(model, x, **EAGER) > 0
    assert lines == ["no record of this graph: ValueError: no record"], lines
    assert len(read_plans(folder)) == before


def check_silence(folder):
    """Nothing is described where nobody asks: levels are those of `set_logs`, and the trace has
    no handler."""
    model, x = make()
    described, describe = [], _log._describe
    trace = logging.getLogger("torch.__trace")
    # `set_logs` does nothing where the variable is set.
    del os.environ["TORCH_LOGS"]
    _log._describe = lambda *arguments: described.append(1) or describe(*arguments)
    try:
        for level, count in ((logging.WARNING, 0), (logging.INFO, 1)):
            torch._logging.set_logs(modules={"fad.torch.compile": level})
            for handler in list(trace.handlers):
                trace.removeHandler(handler)
            run(model, x, **EAGER)
            assert len(described) == count, (level, described)
    finally:
        _log._describe = describe


def main():
    # Kernels are empty, which need no compiler: no value is looked at.
    AsyncCompile.cpp_pybinding = lambda *arguments, **options: lambda *operands: None
    folder = pathlib.Path(sys.argv[1])
    checks = check_trace, check_budget, check_rule, check_fallback, check_failure, check_silence
    for check in checks:
        check(folder)
        print(f"{check.__name__}: right")
    print(f"{len(checks)} checks passed")


if __name__ == "__main__":
    sys.exit(main())

"""Inductor's ways to compile, with fad's choices; and fad with another release's internals.

usage: check_inductor.py [--every]

With --every, each warning is looked for a second time, in vain, parts are compiled in other
processes, too, and graphs with a budget are found in caches."""

import logging
import pickle
import sys
import uuid
import warnings
from unittest import mock

import fad.torch.compile
import torch
from fad.torch.compile import _inductor
from fad.torch.compile._backend import make_inner
from torch import fx, nn
from torch._dynamo.utils import counters
from torch._inductor import compile_fx, utils
from torch._inductor.choices import InductorChoices
from torch._inductor.virtualized import V


EVERY = "--every" in sys.argv
# Where memory counts, fad makes some of Inductor's choices; the fastest selection has Inductor's.
BUDGET = {"fad.budget": "1GB"}


def train(**options):
    """The gradients of a small model with the backend fad, and the warnings of fad."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 4))
    compiled = torch.compile(model, backend="fad", options=options)
    x = torch.randn(2, 8)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled(x).square().sum().backward()
    found = [each.grad.clone() for each in model.parameters()]
    model.zero_grad()
    model(x).square().sum().backward()
    for each, gradient in zip(model.parameters(), found):
        torch.testing.assert_close(gradient, each.grad)
    return [str(each.message) for each in caught if str(each.message).startswith("fad ")]


def missing():
    """A release that lacks a function: one warning for several graphs with a budget, and then none.
    Other graphs are compiled as ever."""
    module = "fad.torch.compile._inductor"
    with mock.patch.dict(sys.modules), mock.patch.object(utils, "is_nonfreeable_buffers"):
        sys.modules.pop(module, None)
        del utils.is_nonfreeable_buffers
        print("without a budget:", *train())
        print(*train(**BUDGET), *(train(**BUDGET) if EVERY else ()), sep="\n")
        # The rest of the failed import.
        vars(fad.torch.compile).pop("_inductor", None)


def renamed():
    """A release that lacks a function which fad overrides, so that nothing would call fad's."""
    with mock.patch.dict(sys.modules), mock.patch.object(InductorChoices, "can_fuse_vertical"):
        sys.modules.pop("fad.torch.compile._inductor", None)
        del InductorChoices.can_fuse_vertical
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            inner = make_inner(fad.torch.compile.Partitioner(budget="1GB"), {})
            # Inductor itself would miss the function.
            with mock.patch.object(compile_fx, "compile_fx_inner", lambda *_: "Inductor"):
                part = fx.GraphModule({}, fx.Graph())
                print(inner(part, []), *(each.message for each in caught))
        vars(fad.torch.compile).pop("_inductor", None)


def unused():
    """Neither function of the next two cases is called without a budget: fad refuses no fusion
    then, and has no order of its own."""
    error = AssertionError("called")
    with (
        mock.patch.object(_inductor.Choices, "_may_wait", side_effect=error),
        mock.patch.object(_inductor, "OrderedSet", side_effect=error),
    ):
        print("without a budget:", *train())


def changed():
    """A release in which a function takes other arguments."""
    error = TypeError("missing 1 required argument: 'size'")
    with mock.patch.object(_inductor.Choices, "_may_wait", side_effect=error):
        print(*train(**BUDGET), *(train(**BUDGET) if EVERY else ()), sep="\n")


def fused():
    """A release in which kernels have other attributes, once they are fused: before fad has changed
    any, and after it has changed some."""
    reorder = _inductor.OrderedSet
    for last in 0, 1:
        changed = []

        def reorder_some(reads):
            if len(changed) == last:
                raise AttributeError(f"no attribute 'reads{last}'")
            changed.append(reads)
            return reorder(reads)

        with mock.patch.object(_inductor, "OrderedSet", reorder_some):
            print(*train(**BUDGET), *(train(**BUDGET) if EVERY else ()), sep="\n")
            print(len(changed))


def pickled():
    copy = pickle.loads(pickle.dumps(_inductor.Choices()))
    print(type(copy).__name__, len(copy._last))


def failed():
    """An error of Inductor leaves its options and choices as they were."""
    before = torch._inductor.config.save_config_portable(), V.choices
    within = []

    def fail(*_, **__):
        after = torch._inductor.config.save_config_portable(), V.choices
        within.extend(each == other for each, other in zip(before, after))
        raise KeyError("inner")

    with mock.patch.object(_inductor, "compile_fx_inner", fail):
        try:
            train(**BUDGET)
        except torch._dynamo.exc.BackendCompilerFailed as error:
            print(type(error.inner_exception).__name__, *within)
    print(before == (torch._inductor.config.save_config_portable(), V.choices))


def serialized(mode):
    """Parts are compiled from bytes, in this process or in another."""
    logging.getLogger("torch._inductor").setLevel(logging.WARNING)
    compile_fx.FxCompile._reset_stats()
    with mock.patch.object(compile_fx, "fx_compile_mode", compile_fx.FxCompileMode[mode]):
        warned = train(**BUDGET)
    stats = compile_fx.FxCompile._compile_stats
    counts = [
        each.codegen_and_compile for kind, each in stats.items() if "InProcess" not in kind.__name__
    ]
    print(*warned, *counts)


def cached(threads):
    """Equal graphs are found in Inductor's own cache, whose keys have fad's options."""
    for options in ({}, {}, BUDGET, BUDGET, {})[: 5 if EVERY else 3]:
        counters.clear()
        with torch._inductor.config.patch(fx_graph_cache=True, compile_threads=threads):
            warned = train(**options)
        found = counters["inductor"]
        print(*warned, *(f"{kind} {found[f'fxgraph_cache_{kind}']}" for kind in ("miss", "hit")))


def main():
    with (
        # Graphs of other runs are not found, and kernels are, since both are in one folder.
        torch.compiler.config.patch(cache_key_tag=uuid.uuid4().hex),
        torch._functorch.config.patch(enable_autograd_cache=False),
    ):
        with torch._inductor.config.patch(fx_graph_cache=False, compile_threads=1):
            for case in missing, renamed, unused, changed, fused, pickled, failed:
                print(f"{case.__name__}:")
                case()
            for mode in "SERIALIZE", "SUBPROCESS":
                if mode == "SERIALIZE" or EVERY:
                    print(f"{mode}:")
                    serialized(mode)
        print("cached:")
        cached(2 if EVERY else 1)


if __name__ == "__main__":
    main()

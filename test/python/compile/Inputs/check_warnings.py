"""Warnings of the backend fad stand at the user's line; of a budget, there is one for all graphs
of a model, which says how many exceed it and a budget that all of them keep.

usage: check_warnings.py [--every]

Without --every, models are compiled by the engine eager alone."""

import atexit
import contextlib
import inspect
import os
import re
import sys
import unittest
import warnings
from unittest import mock

import torch
import torch._functorch.config as functorch_config
from torch import nn

import fad.torch
import fad.torch.compile

EVERY = "--every" in sys.argv
ENGINES = ("eager", "inductor") if EVERY else ("eager",)
OPTIONS = {"fad.budget": 1, "fad.engine": "eager"}


class Layers(nn.Module):
    """A graph for each of four layers, of which the first is large."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(16, width), nn.GELU(), nn.Linear(width, 16))
            for width in (64, 4, 4, 4)
        )

    def forward(self, x):
        # PyTorch compiles no loop that has a break.
        first, second, third, fourth = self.layers
        x = first(x)
        torch._dynamo.graph_break()
        x = second(x)
        torch._dynamo.graph_break()
        x = third(x)
        torch._dynamo.graph_break()
        return fourth(x)


@contextlib.contextmanager
def caught():
    """The warnings of fad, as pairs of the text and the place."""
    found = []
    with warnings.catch_warnings(record=True) as everything:
        warnings.simplefilter("always")
        yield found
    for each in everything:
        if each.category is RuntimeWarning:
            found.append((str(each.message), (each.filename, each.lineno)))


def get_line():
    """The line that calls."""
    return __file__, inspect.currentframe().f_back.f_lineno


def step(options, model=None):
    """The warnings of a step, and the place of its call."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    compiled = torch.compile(model or Layers(), backend="fad", options=options)
    x = torch.randn(32, 16)
    with caught() as found:
        place, result = get_line(), compiled(x)
        result.sum().backward()
    return found, place


class Budgets(unittest.TestCase):
    FORMS = {
        "fad.budget": (
            "no selection that fad tries keeps {} within a peak of {:,} bytes; give a budget of "
            "(.*) or more, or make batches smaller"
        ),
        "fad.residual_budget": (
            "no selection that fad tries saves no more than {:,} bytes of {}; give a "
            "residual_budget of (.*) or more, or let backward repeat more by recompute"
        ),
        "fraction": (
            "no selection that fad tries keeps {} within {} of the peak of the fastest; give a "
            "budget of (.*) or more"
        ),
    }

    def check(self, name, budget, graphs, engine="eager", model=None):
        """The budget that the only warning of a step says."""
        with self.subTest(name, budget=budget, engine=engine):
            options = {name: budget, "fad.engine": engine}
            ((text, found), *others), place = step(options, model)
            self.assertEqual((others, found), ([], place))
            form = self.FORMS["fraction" if isinstance(budget, float) else name]
            pattern = form.format(*((graphs, budget) if "keeps" in form else (budget, graphs)))
            self.assertRegex(text, f"^{pattern}$")
            most = re.match(pattern, text)[1].replace(",", "")
            return float(most) if isinstance(budget, float) else int(most)

    def test_graph_breaks(self):
        for engine in ENGINES:
            for name in "fad.budget", "fad.residual_budget":
                most = self.check(name, 1, "4 of 4 graphs", engine)
                if name == "fad.residual_budget" and not EVERY:
                    continue
                options = {name: most, "fad.engine": engine}
                self.assertEqual(step(options)[0], [], options)
                # The first graph is larger than the others.
                self.assertEqual(self.check(name, most - 1, "1 of 4 graphs", engine), most)
            least = self.check("fad.budget", 0.01, "4 of 4 graphs", engine)
            self.assertEqual(step({"fad.budget": least, "fad.engine": engine})[0], [])

    def test_one_graph(self):
        self.check("fad.budget", 1, "the graph", model=Layers().layers[0])

    def test_of_pytorch(self):
        with functorch_config.patch(activation_memory_budget=0.5):
            ((text, found),), place = step({"fad.engine": "eager"})
        self.assertEqual(
            text,
            "activation_memory_budget and region_activation_memory_budget are for PyTorch's "
            "partitioner, and fad does not read them; the option fad.budget bounds the peak",
        )
        self.assertEqual(found, place)

    def test_several_steps(self):
        """Steps that compile nothing are silent."""
        torch._dynamo.reset()
        compiled = torch.compile(Layers().layers[0], backend="fad", options=OPTIONS)
        with caught() as found:
            for _ in range(3):
                compiled(torch.randn(32, 16)).sum().backward()
        self.assertEqual(len(found), 1, found)

    def test_forward_fails(self):
        """There is no backward pass."""

        @torch.library.custom_op("fad_warnings::fail", mutates_args=())
        def fail(x: torch.Tensor) -> torch.Tensor:
            raise MemoryError

        fail.register_fake(torch.empty_like)
        torch._dynamo.reset()
        compiled = torch.compile(
            lambda x: x.sigmoid() + fail(x.detach()), backend="fad", options=OPTIONS
        )
        with caught() as found, self.assertRaises(MemoryError):
            file, line = get_line()
            compiled(torch.ones(2, requires_grad=True))
        self.assertEqual([place for _, place in found], [(file, line + 1)])

    def test_no_backward(self):
        """The warning comes when the process ends."""
        torch._dynamo.reset()
        compiled = torch.compile(Layers(), backend="fad", options=OPTIONS)
        with caught() as found:
            compiled(torch.randn(32, 16))
        self.assertEqual(found, [])
        reading, writing = os.pipe()
        if not os.fork():
            with caught() as found:
                atexit._run_exitfuncs()
            os.write(writing, repr([text for text, _ in found]).encode())
            os._exit(0)
        os.wait()
        text = os.read(reading, 4096).decode()
        self.assertEqual(text.count("keeps 4 of 4 graphs within a peak of 1 bytes"), 1, text)
        with caught() as found:
            fad.torch.compile._log.warn_of_budgets()
        self.assertEqual(len(found), 1)

    def test_partitioner(self):
        """Of a partitioner alone, nobody knows when the model is complete."""
        torch._dynamo.reset()
        options = {"custom_partitioner_fn": fad.torch.compile.Partitioner(budget=1)}

        def call(x):
            y = x.sigmoid()
            torch._dynamo.graph_break()
            return y.sigmoid()

        with caught() as found:
            torch.compile(call, options=options)(torch.ones(4, requires_grad=True))
        texts = [text for text, _ in found]
        self.assertEqual(len(texts), 2, texts)
        for text in texts:
            self.assertIn("keeps the graph within a peak of 1 bytes", text)

    def test_explain(self):
        model, x = Layers(), torch.randn(32, 16)
        for time in (False, True) if EVERY else (False,):
            with caught() as found:
                file, line = get_line()
                fad.torch.explain(model, x, options=OPTIONS, time=time)
            ((text, where),) = found
            self.assertIn("keeps 4 of 4 graphs within a peak of 1 bytes", text)
            self.assertEqual(where, (file, line + 1))


class Fallback(unittest.TestCase):
    def test_place(self):
        name = "fad.torch.compile._parts.write_last"
        with mock.patch(name, side_effect=KeyError("no plan")):
            found, place = step({"fad.engine": "eager"}, Layers().layers[0])
        text = "fad leaves this graph to PyTorch's partitioner: KeyError: 'no plan'"
        self.assertEqual(found, [(text, place)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""Releases of PyTorch that fad is not tested with, by their numbers alone."""

import importlib
import pathlib
import re
import sys
import unittest
import warnings
from unittest import mock

import torch
from fad import _doctor
from fad.torch import _releases
from fad.torch.compile import Partitioner
from fad.torch.eager import ExtensionError, _extension

# Before the first tested release and after the last.
OTHERS = "2.10.0+cu128", "2.99.1", "3.11.0"
TESTED = "2.11, 2.12, 2.13, 2.14 and 2.15"


def release(number):
    return mock.patch.object(torch, "__version__", number)


def collect(call):
    """The warnings of calls."""
    _releases.warn_of_release.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            call()
    return [(each.category, str(each.message)) for each in caught]


def train():
    """The gradients of a small model, compiled, are those of the model."""
    torch._dynamo.reset()
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Mish())
    x = torch.randn(2, 8)
    compiled = torch.compile(model, backend="fad", options={"fad.engine": "eager"})
    found = torch.autograd.grad(compiled(x).sum(), list(model.parameters()))
    expected = torch.autograd.grad(model(x).sum(), list(model.parameters()))
    torch.testing.assert_close(found, expected)


class Releases(unittest.TestCase):
    def test_compile(self):
        for number in OTHERS:
            with self.subTest(number), release(number):
                warned = (
                    RuntimeWarning,
                    f"fad is tested with PyTorch {TESTED}, and this is {number}; the backend fad "
                    "leaves to PyTorch what it does not know of this release, with a warning of "
                    "each; pip install torch==2.15.* has all of fad",
                )
                self.assertEqual(collect(Partitioner), [warned])
                self.assertEqual(collect(train), [warned])

    def test_tested(self):
        for number in "2.11.0", "2.12.1+cpu", "2.13.0a0+git1234567", "2.15.1":
            with self.subTest(number), release(number):
                self.assertEqual(collect(Partitioner), [])

    def test_missing(self):
        """A name that fad cannot do without."""
        package = [name for name in sys.modules if name.startswith("fad.torch.compile")]
        for number, start in (
            ("2.99.1", f"fad is tested with PyTorch {TESTED}, and"),
            ("2.12.1", ""),
        ):
            with (
                self.subTest(number),
                release(number),
                mock.patch.dict(sys.modules),
                mock.patch.object(torch._inductor, "list_mode_options"),
            ):
                for name in package:
                    del sys.modules[name]
                del torch._inductor.list_mode_options
                with self.assertRaises(ImportError) as raised:
                    importlib.import_module("fad.torch.compile")
            said = "cannot import name 'list_mode_options' from 'torch._inductor'"
            message = str(raised.exception)
            if start:
                self.assertEqual(
                    re.sub(r" \(/[^ )]*\)", "", message),
                    f"{start} this is {number}, which lacks a name that the backend fad needs "
                    f"({said}); pip install torch==2.15.*",
                )
            else:
                self.assertTrue(message.startswith(said), message)

    def test_nest(self):
        for number in OTHERS:
            with self.subTest(number), release(number):
                with self.assertRaises(ExtensionError) as raised:
                    _extension.build()
                self.assertEqual(
                    str(raised.exception),
                    f"fad.torch.nest is tested with PyTorch {TESTED}, and this is {number}; install "
                    "a tested release, or set FAD_UNTESTED_TORCH=1 in the environment to try this "
                    "one",
                )

    def test_doctor(self):
        for number in OTHERS:
            with self.subTest(number), release(number):
                check = next(_doctor._check_torch())
                self.assertEqual(
                    check.advice,
                    f"fad is tested with PyTorch {TESTED}; fad.torch.nest refuses others",
                )
        with release("2.12.1"):
            self.assertEqual(next(_doctor._check_torch()).advice, "")

    def test_documented(self):
        """Pages have the releases that are tested."""
        root = pathlib.Path(sys.argv[1])
        pages = "README.md", "docs/Compatibility.md", "docs/TorchCompile.md", "docs/EagerPyTorch.md"
        for page in pages:
            self.assertIn(TESTED, " ".join((root / page).read_text().split()), page)
        major, minor = map(int, _releases.TESTED[-1].split("."))
        needed = f'"torch>={_releases.TESTED[0]},<{major}.{minor + 1}"'
        self.assertIn(needed, (root / "pyproject.toml").read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

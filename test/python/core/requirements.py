# RUN: %fad_python %s
"""Parts of the package that need other packages say which, and how to get them;
everything public has a docstring."""

import importlib
import inspect
import sys
import typing
import unittest
from unittest import mock

import fad
import fad.iree


def hide(package):
    """Makes `package` one that is not installed."""
    return mock.patch.dict(sys.modules, {package: None})


class Missing(unittest.TestCase):
    def test_torch(self):
        for name in [each for each in sys.modules if each.startswith("fad.torch")]:
            del sys.modules[name]
        with (
            hide("torch"),
            self.assertRaisesRegex(
                ImportError,
                "^fad.torch needs PyTorch; install it with: pip install torch$",
            ),
        ):
            importlib.import_module("fad.torch")

    def test_iree_compiler(self):
        with (
            hide("iree.compiler"),
            self.assertRaisesRegex(
                ImportError,
                "^compiling with IREE needs its compiler; install it with: "
                "pip install iree-base-compiler$",
            ),
        ):
            fad.iree.compile(fad.parse(""))

    def test_iree_runtime(self):
        with (
            hide("iree"),
            self.assertRaisesRegex(
                ImportError,
                "^running with IREE needs its runtime; install it with: "
                "pip install iree-base-runtime$",
            ),
        ):
            fad.iree.Executable(b"", "local-task", fad.parse(""), {})


class Documentation(unittest.TestCase):
    def test_docstrings(self):
        for package in (fad, fad.iree):
            for name in package.__all__:
                value = getattr(package, name)
                # Types of choices, as typing.Literal, have no docstrings.
                if not callable(value) or typing.get_origin(value) is typing.Literal:
                    continue
                with self.subTest(name=name):
                    self.assertTrue(value.__doc__)
                for part, member in vars(value).items():
                    if not part.startswith("_") and inspect.isfunction(member):
                        with self.subTest(name=f"{name}.{part}"):
                            self.assertTrue(member.__doc__)


if __name__ == "__main__":
    unittest.main()

"""Parts that networks are made of, as functions of tensors to a scalar loss: those
that test/Integration/blocks holds the exports of."""

import importlib.util
import pathlib

from torch import randn

_path = pathlib.Path(__file__).parents[3] / "Integration" / "blocks" / "export.py"
_spec = importlib.util.spec_from_file_location("export_blocks", _path)
_export = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_export)


def _find_case(name):
    return next(case for case in _export.make_cases() if case[0].__name__ == name)


# A function or a module, and its arguments.
CASES = {
    case[0].__name__: lambda name=case[0].__name__: _find_case(name)
    for case in _export.make_cases()
}
CASES["conv_bn_relu_train"] = lambda: (_export.ConvNormRelu(), randn(2, 3, 8, 8))

"""Builds the extension of fad.torch.nest: python -m fad.torch.eager"""

from . import build

print(build())

"""Builds the extension of fad.torch.nest, as `python -m fad.torch.eager` does, without fad's
library: a build has it compiled beside that, and not after it.

usage: build_extension.py VERSION

VERSION is fad's, which the library would tell."""

import sys
from unittest import mock

sys.modules["fad._fad"] = mock.MagicMock(version=sys.argv[1])
from fad.torch.eager import build

print(build())

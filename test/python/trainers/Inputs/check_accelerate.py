"""Accelerate with a model that is compiled in place: the example
examples/trainers/with_accelerate.py, against eager PyTorch.

usage: check_accelerate.py EXAMPLES FOLDER [ENGINE]"""

import sys

from safetensors.torch import load_file
from torch import nn
from torch._inductor import config

import fad.torch.compile  # noqa: F401


def main(examples, folder, engine="eager"):
    sys.path.insert(0, examples)
    from with_accelerate import train

    # Inductor has other random numbers than eager PyTorch, which the dropouts show.
    config.fallback_random = True
    compiled, options = f"{folder}/fad", {"fad.engine": engine, "fad.budget": "20GB"}
    losses = [train(compiled, options, resume, cpu=True) for resume in (False, True)]
    # The same without the line.
    nn.Module.compile, original = lambda *_, **__: None, nn.Module.compile
    plain = f"{folder}/plain"
    expected = [train(plain, {}, resume, cpu=True) for resume in (False, True)]
    nn.Module.compile = original
    for name, loss, right in zip(("trained", "resumed"), losses, expected, strict=True):
        off = abs(loss - right) / right
        print(f"{name}: {'right' if off < 1e-3 else f'off by {off:.1e}'}")
    keys = [sorted(load_file(f"{each}/model.safetensors")) for each in (compiled, plain)]
    print("keys:", keys[0] == keys[1])


if __name__ == "__main__":
    main(*sys.argv[1:])

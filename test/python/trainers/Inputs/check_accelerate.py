"""Accelerate with a model that is compiled in place: the example
examples/trainers/with_accelerate.py, against eager PyTorch.

usage: check_accelerate.py EXAMPLES FOLDER [ENGINE]

The example's model has two equal layers; with the engine `eager`, it has one."""

import sys
from unittest import mock

from safetensors.torch import load_file
from torch import nn
from torch._inductor import config

import fad.torch.compile  # noqa: F401


def main(examples, folder, engine="eager"):
    sys.path.insert(0, examples)
    import with_accelerate
    from with_accelerate import train

    if engine == "eager":
        original = with_accelerate.BertConfig
        with_accelerate.BertConfig = lambda **sizes: original(**{**sizes, "num_hidden_layers": 1})
    # Inductor has other random numbers than eager PyTorch, which the dropouts show.
    config.fallback_random = True
    compiled, options = f"{folder}/fad", {"fad.engine": engine, "fad.budget": "20GB"}
    losses = [train(compiled, options, resume, cpu=True) for resume in (False, True)]
    # The same without the line.
    plain = f"{folder}/plain"
    with mock.patch.object(nn.Module, "compile"):
        expected = [train(plain, {}, resume, cpu=True) for resume in (False, True)]
    for name, loss, right in zip(("trained", "resumed"), losses, expected, strict=True):
        off = abs(loss - right) / right
        print(f"{name}: {'right' if off < 1e-3 else f'off by {off:.1e}'}")
    keys = [sorted(load_file(f"{each}/model.safetensors")) for each in (compiled, plain)]
    print("keys:", keys[0] == keys[1])


if __name__ == "__main__":
    main(*sys.argv[1:])

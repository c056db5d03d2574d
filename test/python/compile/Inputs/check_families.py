"""Trains families of `transformers` for three steps with `torch.compile(backend="fad")`.

usage: check_families.py [--every N | FAMILY ...] [--engine ENGINE]
       [--inductor FAMILY ...] [--times] [--limit SECONDS]"""

import sys

import families
import torch
import train
import walk


class Loss(torch.nn.Module):
    """The loss of `model`, or one of its results."""

    def __init__(self, model, inputs):
        super().__init__()
        self.model, self.inputs = model, inputs

    def forward(self):
        results = self.model(**self.inputs)
        loss = results.get("loss")
        return results.get("action_preds") if loss is None else loss


def check(name, engine):
    model, inputs = families.FAMILIES[name]()
    if engine == "inductor" and name in families.AMPLIFYING:
        model = model.double()
        inputs = {
            key: value.double() if value.is_floating_point() else value
            for key, value in inputs.items()
        }
    # With PyTorch's random numbers, losses with dropout are comparable with eager ones.
    options = {"fallback_random": True} if engine == "inductor" else None
    return train.check_training(Loss(model, inputs), (), engine, options=options)


if __name__ == "__main__":
    sys.exit(walk.main("families", families.FAMILIES, check))

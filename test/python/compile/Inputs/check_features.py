"""Compares ways to train with `torch.compile(backend="fad")` with PyTorch alone.

usage: check_features.py [--every N | FEATURE ...] [--engine ENGINE]
       [--inductor FEATURE ...] [--times] [--limit SECONDS]"""

import sys

import features
import operators  # noqa: F401, more features
import train
import training  # noqa: F401, more features
import walk

# Types of few digits, in which Inductor rounds less often.
ROUGH = ("autocast", "autocast_inside", "halves", "scaler")


def check(name, engine):
    return train.check(
        features.FEATURES[name],
        engine,
        bound=2e-2 if name in ROUGH else 1e-5,
        number_of_plans=features.PLANS.get(name),
    )


if __name__ == "__main__":
    sys.exit(walk.main("features", features.FEATURES, check))

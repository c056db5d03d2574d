"""Runs the exported blocks of test/Integration through IREE and compares results and
gradients with those of fad's own lowering.

usage: check_blocks_iree.py FOLDER [BLOCK ...]"""

import pathlib
import sys

import fad
import fad.iree
import numpy as np

# f32 sums in another order.
BOUND = 1e-5
# How many words and labels there are.
INTEGERS = {"embedding_loss": (50, 10)}


def make_arguments(name, signature):
    """Small numbers, which saturate no softmax."""
    generator = np.random.default_rng(0)
    limits = iter(INTEGERS.get(name, ()))
    return [
        np.asarray(generator.normal(0, 0.5, type_.shape), type_.dtype)
        if type_.dtype.startswith("float")
        else generator.integers(0, next(limits), type_.shape, type_.dtype)
        for type_ in signature.arguments
    ]


def is_close(got, expected):
    got, expected = np.asarray(got, "f8"), np.asarray(expected, "f8")
    bound = BOUND * np.linalg.norm(expected)
    return got.shape == expected.shape and np.linalg.norm(got - expected) <= bound


def check(path):
    """Differences of IREE's results. Either starts with the seed of the file, so that
    the mask of a dropout is the same."""
    module = fad.parse_file(str(path))
    nested = fad.nest(module, policy="fad")
    arguments = make_arguments(path.stem, module.signature(path.stem))
    compiled, own = fad.iree.compile(nested), fad.compile(nested)
    results, residuals = compiled.forward(*arguments)
    ones = [np.ones(each.shape, each.dtype) for each in nested.cotangents]
    gradients = compiled.backward(residuals, *ones)
    expected = own.call(nested.forward, *arguments)
    count = len(nested.results)
    expected_gradients = own.call(nested.backward, *expected[count:], *ones)
    named = [(f"result {i}", *pair) for i, pair in enumerate(zip(results, expected))]
    named += [
        (f"gradient {each.argument}", *pair)
        for each, *pair in zip(nested.gradients, gradients, expected_gradients, strict=True)
    ]
    return [place for place, got, wanted in named if not is_close(got, wanted)]


def main():
    folder, *names = sys.argv[1:]
    paths = sorted(pathlib.Path(folder).glob("*.mlir"))
    failed = 0
    for path in paths:
        if names and path.stem not in names:
            continue
        wrong = check(path)
        failed += bool(wrong)
        print(f"{path.stem}: {', '.join(wrong) or 'ok'}", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

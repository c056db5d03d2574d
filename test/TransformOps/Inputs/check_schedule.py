"""Executes what a schedule has made of two functions.

The references are numpy's values and central differences of them.

Usage: check_schedule.py MODULE"""

import pathlib
import sys

import fad
import numpy as np


def attention(x, w):
    return np.tanh(x) @ w


def ffn(x, w):
    return np.sin(x / (1 + np.exp(-x))) * w


def differentiate(function, arguments, cotangent, index):
    """The gradient of `cotangent * function` by central differences."""
    gradient = np.zeros_like(arguments[index])
    for place in np.ndindex(gradient.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = [argument.copy() for argument in arguments]
            moved[index][place] += step
            ends.append((cotangent * function(*moved)).sum())
        gradient[place] = (ends[0] - ends[1]) / 2e-6
    return gradient


def main():
    text = pathlib.Path(sys.argv[1]).read_text()
    # The rest of the schedule is no program.
    module = fad.parse(text[: text.index("  transform.named_sequence")] + "}")
    random = np.random.default_rng(0)
    for function, shapes in [(attention, [(3, 4), (4, 2)]), (ffn, [(5,), (5,)])]:
        name = function.__name__
        arguments = [random.standard_normal(shape) for shape in shapes]
        value, *residuals = fad.run(module, f"{name}_forward", *arguments)
        np.testing.assert_allclose(value, function(*arguments), rtol=1e-12)
        cotangent = random.standard_normal(value.shape)
        gradients = fad.run(module, f"{name}_backward", *residuals, cotangent)
        for index, gradient in enumerate(gradients):
            expected = differentiate(function, arguments, cotangent, index)
            np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)
        print(f"{name}: {len(residuals)} residuals, {len(gradients)} gradients")


if __name__ == "__main__":
    main()

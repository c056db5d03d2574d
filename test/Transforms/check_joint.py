"""Checks that a joint function, split under each policy, gives the gradients that it
gives as a whole: for ordinary numbers and, with --extremes, also where arguments have
infinities, NaN, zeros and tiny numbers among them; an element that is NaN as a whole
may then be anything. With --empty, dynamic sizes of 0 are tried, too."""

import argparse
import pathlib
import re
import sys

import fad
import ml_dtypes
import numpy

POLICIES = ("bp", "recompute", "fad", "auto")
DTYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": ml_dtypes.bfloat16, "i1": "?"}
# Errors relative to the greatest element of a tensor, or to each element.
BOUNDS = {"f64": 1e-12, "f32": 1e-5, "f16": 1e-2, "bf16": 8e-2}
EXTREMES = (numpy.inf, -numpy.inf, numpy.nan, 0.0, -0.0, 1e-30, -3.0, 3.0)


def get_element(text):
    """The element type of a tensor type."""
    return text[len("tensor<") : -1].split("x")[-1]


def make_arguments(types, size, extremes):
    random = numpy.random.default_rng(0)
    for text in types:
        shape = text[len("tensor<") : -1].split("x")[:-1]
        values = random.normal(size=[size if s == "?" else int(s) for s in shape])
        if extremes:
            chosen = random.random(values.shape) < 0.5
            values = numpy.where(chosen, random.choice(EXTREMES, values.shape), values)
        element = get_element(text)
        values = values > 0 if element == "i1" else values
        yield numpy.asarray(values, DTYPES[element])


def compare(what, got, expected, element, extremes):
    got, expected = numpy.asarray(got, "f8"), numpy.asarray(expected, "f8")
    finite = numpy.isfinite(expected)
    wrong = ~finite & ~numpy.isnan(expected) & (got != expected)
    # One element of several magnitudes says nothing about the others.
    scale = numpy.abs(expected, where=finite, out=numpy.zeros(expected.shape))
    scale = numpy.maximum(scale, 1e-30) if extremes else scale.max(initial=0)
    with numpy.errstate(invalid="ignore"):
        wrong |= finite & ~(numpy.abs(got - expected) <= BOUNDS[element] * scale)
    if wrong.any():
        sys.exit(
            f"{what}: {got[wrong][:5]} instead of {expected[wrong][:5]} at "
            f"{numpy.argwhere(wrong)[:5].tolist()}"
        )


def check(options, entry):
    module = fad.parse_file(options.file)
    module.run(f"symbol-privatize{{exclude={entry}}},symbol-dce")
    marked = module.clone()
    marked.run(f"fad-mark-joint{{entry={entry} {options.mark}}}")
    header = re.search(rf"func.func @{entry}\((.*)", str(marked))[1]
    pattern = r"(tensor<[^>]*>)( \{fad)?"
    arguments, results = (re.findall(pattern, part) for part in header.split(") -> ("))
    whole = fad.compile(marked)
    pairs = {}
    for policy in POLICIES:
        nested = module.clone()
        nested.run(f"fad-nest{{entry={entry} policy={policy} {options.mark}}}")
        pairs[policy] = fad.compile(nested)
    points = [(7, False)] + [(7, True)] * options.extremes + [(0, False)] * options.empty
    for size, extremes in points:
        values = list(make_arguments([type for type, _ in arguments], size, extremes))
        primal = [x for x, (_, mark) in zip(values, arguments) if not mark]
        cotangents = [x for x, (_, mark) in zip(values, arguments) if mark]
        made = list(zip(whole.call(entry, *values), results))
        expected = [(x, get_element(type)) for x, (type, mark) in made if not mark]
        gradients = [(x, get_element(type)) for x, (type, mark) in made if mark]
        for policy, pair in pairs.items():
            forward = pair.call(f"{entry}_forward", *primal)
            kept = forward[len(expected) :]
            backward = pair.call(f"{entry}_backward", *kept, *cotangents)
            found = [*zip(forward, expected), *zip(backward, gradients, strict=True)]
            for number, (got, (reference, element)) in enumerate(found):
                what = f"{entry}, policy {policy}, size {size}, result {number}"
                compare(what, got, reference, element, extremes)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("entries", nargs="+")
    parser.add_argument("--mark", default="", help="options of fad-mark-joint")
    parser.add_argument("--extremes", action="store_true")
    parser.add_argument("--empty", action="store_true")
    options = parser.parse_args()
    for entry in options.entries:
        check(options, entry)
        print(f"{entry}: equal")


if __name__ == "__main__":
    main()

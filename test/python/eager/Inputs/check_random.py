"""Compares random programs in eager PyTorch with the same programs under fad.torch.nest.

Results are equal, or nest raises an error that is one of those that are documented.
Where eager refuses because a saved tensor was changed in place, and nest does not, the
reference is the program with copies of all operands. Bugs that are planted have to be
found."""

import argparse
import collections
import contextlib
import functools
import sys
import traceback

import torch

from random_programs import describe, generate, run

# What nest may raise where eager does not, by a part of its message.
RAISES = {
    "hook and second derivative": "has a hook, or retain_grad, and its second derivative",
    "skipped value": "the gradient of a value inside of a nested sequence",
    "no second derivative": "there is no second derivative",
    "modified in place": "modified by an inplace operation",
}
# What eager may raise where nest does not.
MODIFIED = "modified by an inplace operation"


class Wrong(Exception):
    """A difference that is an error of nest."""


def try_run(*arguments, **keywords):
    """The results, or the error."""
    try:
        return run(*arguments, **keywords), None
    except (RuntimeError, NotImplementedError) as error:
        return None, str(error)


def compare(found, expected):
    if len(found) != len(expected):
        raise Wrong(f"{len(found)} results, and not {len(expected)}")
    for number, (one, other) in enumerate(zip(found, expected)):
        if (one is None) != (other is None):
            raise Wrong(f"result {number} is {one}, and not {other}")
        if one is None:
            continue
        scale = 1 + other.abs().nan_to_num(0, 0, 0).max().item()
        if not torch.allclose(one, other, 1e-7, 1e-9 * scale, equal_nan=True):
            raise Wrong(f"result {number} is\n{one}\nand not\n{other}")


def check(program, nest, spoil=None):
    """What came of `program`: "equal", or the class of an error. Raises Wrong."""
    expected, refused = try_run(program)
    found, raised = try_run(program, nest, spoil=spoil)
    if raised is not None:
        if refused is not None:
            return "both raise"
        for name, part in RAISES.items():
            if part in raised:
                return f"nest raises: {name}"
        raise Wrong(f"an error of no class: {raised}")
    if refused is None:
        compare(found, expected)
        return "equal"
    if MODIFIED not in refused:
        raise Wrong(f"eager raises, and nest does not: {refused}")
    expected, refused = try_run(program, copies=True)
    if refused is not None:
        raise Wrong(f"with copies, eager raises: {refused}")
    compare(found, expected)
    return "eager alone raises, and nest is right"


def spoil_gradient(execution, loss):
    """A planted bug: a gradient that is off by a millionth."""
    if loss.requires_grad:
        loss.register_hook(lambda gradient: gradient * (1 + 1e-6))


def spoil_leaf(execution, loss):
    """A planted bug: a gradient in place of none, or a partial one."""
    leaf = execution.leaves[0]
    leaf.register_hook(lambda gradient: gradient * (leaf.detach() > 0))


def spoil_error(execution, loss):
    """A planted bug: an error that nobody has documented."""
    raise RuntimeError("a planted error")


PLANTED = {"gradient": spoil_gradient, "leaf": spoil_leaf, "error": spoil_error}


def make_nest(policy):
    if policy == "eager":
        return contextlib.nullcontext
    import fad.torch

    return functools.partial(fad.torch.nest, policy=policy, min_numel=0)


def finds(spoil, nest, seeds):
    """Whether one of the programs shows the bug that `spoil` plants."""
    for seed in seeds:
        try:
            check(generate(seed), nest, spoil)
        except Wrong:
            return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="programs for each policy")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first")
    parser.add_argument("--policies", nargs="+", default=["auto", "fad"])
    parser.add_argument("--failures", type=int, default=5, help="so many are printed")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    failed = 0
    for policy in arguments.policies:
        nest, counts = make_nest(policy), collections.Counter()
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            program = generate(seed)
            try:
                counts[check(program, nest)] += 1
            except Exception as error:
                counts["wrong"] += 1
                failed += 1
                if failed <= arguments.failures:
                    kind = "" if isinstance(error, Wrong) else traceback.format_exc()
                    print(f"policy {policy}, seed {seed}: {error}\n{kind}{describe(program)}\n")
        for name, count in sorted(counts.items()):
            print(f"{policy}: {count} {name}")
        print(f"{policy}: {sum(counts.values())} programs, {counts['wrong']} wrong")
        for name, spoil in PLANTED.items():
            if not finds(spoil, nest, range(20)):
                failed += 1
                print(f"{policy}: a planted bug, {name}, is not found")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

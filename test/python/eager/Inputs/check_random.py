"""Compares random programs in eager PyTorch with the same programs under fad.torch.nest.

Results are equal, or both raise the same error, or nest raises one that is documented,
and the program has done what that is about. Where eager refuses because a saved tensor
was changed in place, and nest does not, the reference is the program with copies of all
operands. Bugs that are planted have to be found."""

import argparse
import collections
import contextlib
import gc
import sys
import threading
import time
import traceback

import torch

from random_programs import SMALL, describe, generate, run

# Errors that nest may raise, by a part of its message: the policies, and the facts of a program,
# of which one explains it. All of the facts of a group have to be there.
RAISES = {
    "hook and second derivative": (
        "has a hook, or retain_grad, and its second derivative",
        ("auto", "fad"),
        [{"hooked", "second"}, {"inner", "second"}],
    ),
    "skipped value": (
        "the gradient of a value inside of a nested sequence",
        ("auto", "fad"),
        [{"hooked after use"}, {"inner"}],
    ),
    "no second derivative": ("there is no second derivative", ("fad",), [{"second"}]),
    "source modified in place": (
        "from which a sequence is computed",
        ("auto",),
        [{"written past copies"}],
    ),
    "modified in place, as PyTorch says": (
        "one of the variables needed for gradient computation has been modified",
        ("auto", "fad"),
        [{"written"}],
    ),
}
# Errors that eager may raise where nest does not.
MODIFIED = "modified by an inplace operation"


class Wrong(Exception):
    """A difference that is an error of nest."""


def try_run(*arguments, **keywords):
    """The results, or the error."""
    try:
        return run(*arguments, **keywords), None
    except (RuntimeError, NotImplementedError) as error:
        return None, str(error)


# Outcomes of small programs in eager PyTorch, which all policies are compared with. Of many
# programs, this has those that come first.
EXPECTED, MOST = {}, 5000


def expect(program):
    """The same as try_run, once for all policies."""
    key = program.seed, describe(program)
    if key in EXPECTED:
        return EXPECTED[key]
    results, error = try_run(program)
    if program.size == SMALL and len(EXPECTED) < MOST:
        if results is not None:
            results = [each if each is None else each.detach() for each in results]
        EXPECTED[key] = results, error
    return results, error


def compare_exactly(found, expected):
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


def size_of(error, scale):
    error = error[error.isfinite()].abs()
    return (error.max().item() if len(error) else 0.0) / scale


def find_eps(program):
    """That of the narrowest type."""
    names = [name for kind, name, _ in program.instructions if kind == "cast"]
    types = [program.dtype, *(getattr(torch, name) for name in names)]
    types += [] if program.autocast is None else [program.autocast]
    return max(torch.finfo(each).eps for each in types)


def compare_rounded(found, expected, exact, eps):
    """Results in 16 bits with those of eager PyTorch, which `exact` has in 64. Returns whether
    one is finite in eager PyTorch alone."""
    for number, (one, other, right) in enumerate(zip(found, expected, exact, strict=True)):
        if (one is None) != (other is None):
            raise Wrong(f"result {number} is {one}, and not {other}")
        if one is None or torch.equal(one, other):
            continue
        one, other, right = (each.detach().double() for each in (one, other, right))
        if (other.isfinite() & ~one.isfinite()).any():
            return True
        right = right.masked_fill(~(one + other).isfinite(), torch.nan)
        scale = 1 + right.abs().nan_to_num(0).max().item()
        errors = size_of(one - right, scale), size_of(other - right, scale)
        if errors[0] > 2 * errors[1] + 4 * eps:
            raise Wrong(
                f"the error of result {number} is {errors[0]}, and that of eager {errors[1]}"
            )
    return False


def compare(found, expected, program, nest, policies, copies=False):
    """The name of how results are alike."""
    if program.dtype is torch.float64:
        compare_exactly(found, expected)
        return "equal"
    if all(map(is_same, found, expected)):
        return "equal"
    exact, _ = try_run(program, copies=copies, dtype=torch.float64)
    if exact is None:
        # A cast that is none leaves a tensor that is written to later.
        exact, _ = try_run(program, copies=True, dtype=torch.float64)
    # The loss may be all that is compared.
    if not compare_rounded(found, expected, exact[: len(found)], find_eps(program)):
        return "equal but for rounding"
    # The policy fad multiplies derivatives before a gradient comes. In 32 bits, none of these
    # overflows.
    wide, _ = try_run(program, nest, dtype=torch.float32)
    is_overflow = "fad" in policies and program.dtype is torch.float16
    if not is_overflow or not all(each is None or each.isfinite().all() for each in wide):
        raise Wrong("a result is finite in eager PyTorch alone")
    return "finite in eager PyTorch alone, as a derivative overflows"


def is_same(one, other):
    return one is other or (one is not None and other is not None and torch.equal(one, other))


def classify(message, policies, facts):
    """The name of an error of nest; None for one that is none of nest's, that nothing
    explains, or that forward ends with."""
    if "backward" not in facts:
        return None
    for name, (part, of_policies, explanations) in RAISES.items():
        if part in message:
            is_explained = any(group <= facts for group in explanations)
            return name if is_explained and policies & set(of_policies) else None
    return None


def check(program, nest, policies, spoil=None):
    """The outcome of `program`: "equal", or the class of an error. Raises Wrong."""
    expected, refused = expect(program)
    facts = set()
    found, raised = try_run(program, nest, spoil=spoil, facts=facts)
    if raised is not None:
        if raised == refused:
            return "both raise the same"
        # Where eager refuses to read a tensor that was written to, each policy may.
        is_refused = refused is not None and MODIFIED in refused and MODIFIED in raised
        name = classify(raised, {"auto", "fad"} if is_refused else policies, facts)
        if name is None:
            raise Wrong(
                f"an error that nothing explains; {sorted(facts)}: {raised}\n"
                f"where eager raises: {refused}"
            )
        return f"{'both raise' if refused is not None else 'nest alone raises'}: {name}"
    if refused is None:
        return compare(found, expected, program, nest, policies)
    if MODIFIED not in refused or "written" not in facts:
        raise Wrong(f"eager raises, and nest does not: {refused}")
    expected, refused = try_run(program, copies=True)
    if refused is not None:
        raise Wrong(f"with copies, eager raises: {refused}")
    if {"hooked", "second"} <= facts:
        # A second derivative reaches results that operators have saved, and these are not
        # the copies, which have the hooks. The loss is what can be compared.
        compare(found[:1], expected[:1], program, nest, policies, copies=True)
        return "eager alone raises, and nest has the same loss"
    compare(found, expected, program, nest, policies, copies=True)
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


def spoil_refusal(execution, loss):
    """A planted bug: a documented error of which the program has not the reason."""
    if "inner" not in execution.facts and "hooked after use" not in execution.facts:
        raise RuntimeError("the gradient of a value inside of a nested sequence is asked for")


def spoil_forward(execution, loss):
    """A planted bug: a documented error, but not of backward."""
    execution.facts.add("inner")
    execution.facts.discard("backward")
    raise RuntimeError("the gradient of a value inside of a nested sequence is asked for")


# Programs that were wrong once: the seed, and whether the program is plain, and has activations
# in place.
FORMER = [
    # A backward with create_graph reads a value whose derivative could be bits.
    (104530, True, False),
    # A second derivative goes through PyTorch's node of an operator before that of its
    # sequence.
    (7026886, False, False),
    # An activation writes to a constant, which no sequence gets a copy of.
    (827, False, True),
]


PLANTED = {
    "forward": spoil_forward,
    "gradient": spoil_gradient,
    "leaf": spoil_leaf,
    "error": spoil_error,
    "refusal": spoil_refusal,
}
OTHER = {"auto": "fad", "fad": "auto"}


def make_nest(policy, program):
    """The arguments of `run`, and the policies that the program meets."""
    if policy == "eager":
        return contextlib.nullcontext, {"auto", "fad"}
    import fad.torch

    options = {} if program.min_numel is None else {"min_numel": program.min_numel}
    kinds = {kind for kind, _, _ in program.instructions}
    met = {policy, OTHER[policy]} if kinds & {"policy", "within"} else {policy}

    def nest(other=False):
        return fad.torch.nest(policy=OTHER[policy] if other else policy, **options)

    return nest, met


def check_seed(policy, seed, plain, active, spoil=None, dtype=torch.float64, is_warm=False):
    """`dtype` is None for a program of several types. One that `is_warm` has kernels of the
    deferred engine, which compiles those of sequences that it has met twice."""
    program = generate(seed, plain, active, mixed=dtype is None)
    program.dtype = dtype or program.dtype
    nest, met = make_nest(policy, program)
    if is_warm:
        from fad.torch.eager import _kernels

        for _ in range(2):
            try_run(program, nest)
        _kernels.wait()
    return check(program, nest, met, spoil)


def finds(spoil, policy, seeds):
    """Whether one of the programs shows the bug that `spoil` plants."""
    for seed in seeds:
        try:
            check_seed(policy, seed, False, True, spoil)
        except Wrong:
            return True
    return False


@contextlib.contextmanager
def collecting():
    """Meanwhile, a thread collects garbage all the time."""
    is_over = threading.Event()

    def collect():
        while not is_over.is_set():
            gc.collect(0)

    thread = threading.Thread(target=collect)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


class Tally:
    """The outcomes of the programs of a policy."""

    def __init__(self, policy, arguments):
        self.policy, self.arguments = policy, arguments
        self.counts = collections.Counter()
        numbers = range(arguments.seed, arguments.seed + arguments.count)
        self.seeds = ((seed, arguments.plain, True) for seed in numbers)
        self.dtype = None if arguments.dtype == "mixed" else getattr(torch, arguments.dtype)
        self.lock = threading.Lock()
        self.end = time.monotonic() + arguments.seconds if arguments.seconds else None

    def work(self):
        """Checks programs until there are no more. Several threads may call this."""
        while True:
            with self.lock:
                seed, plain, active = next(self.seeds, (None, None, None))
            if seed is None or (self.end is not None and time.monotonic() > self.end):
                return
            try:
                name = check_seed(
                    self.policy, seed, plain, active, dtype=self.dtype, is_warm=self.arguments.warm
                )
            except Exception as error:
                name = "wrong"
                self.show(seed, plain, active, error)
            with self.lock:
                self.counts[name] += 1

    def show(self, seed, plain, active, error):
        with self.lock:
            if self.counts["wrong"] < self.arguments.failures:
                kind = "" if isinstance(error, Wrong) else traceback.format_exc()
                mixed = self.dtype is None
                program = describe(generate(seed, plain, active, mixed))
                print(
                    f"policy {self.policy}, seed {seed}{', plain' * plain}: {error}\n{kind}{program}\n"
                )

    def run(self):
        others = [threading.Thread(target=self.work) for _ in range(self.arguments.threads - 1)]
        with collecting() if self.arguments.collect else contextlib.nullcontext():
            for thread in others:
                thread.start()
            self.work()
            for thread in others:
                thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="programs for each policy")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first")
    parser.add_argument("--policies", nargs="+", default=["auto", "fad"])
    parser.add_argument("--failures", type=int, default=5, help="so many are printed")
    parser.add_argument("--dtype", default="float64", help="of numbers, or mixed")
    parser.add_argument("--threads", type=int, default=1, help="that run programs at once")
    parser.add_argument(
        "--collect", action="store_true", help="another thread collects garbage all the time"
    )
    parser.add_argument(
        "--warm", action="store_true", help="programs have kernels of the deferred engine"
    )
    parser.add_argument("--seconds", type=float, help="a policy begins no program after these")
    parser.add_argument(
        "--plain", action="store_true", help="one policy, one thread and small values in a program"
    )
    parser.add_argument(
        "--former", action="store_true", help="then the programs that were wrong once, under auto"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    failed = 0
    for policy in arguments.policies:
        tally = Tally(policy, arguments)
        tally.run()
        counts = tally.counts
        failed += counts["wrong"]
        for name, count in sorted(counts.items()):
            print(f"{policy}: {count} {name}")
        print(f"{policy}: {sum(counts.values())} programs, {counts['wrong']} wrong")
        for name, spoil in PLANTED.items():
            if not finds(spoil, policy, range(20)):
                failed += 1
                print(f"{policy}: a planted bug, {name}, is not found")
    if arguments.former:
        tally = Tally("auto", arguments)
        tally.seeds = iter(FORMER)
        tally.run()
        failed += tally.counts["wrong"]
        print(f"former: {len(FORMER)} programs, {tally.counts['wrong']} wrong")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

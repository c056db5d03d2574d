"""Numbers of chunks, and their results: halves and parts of a product, and transposed ones."""

from unittest import mock

import torch
import torch.nn.functional as F
from chunk_steps import EVERY, MESSAGES, compare, make_inputs, run_step, split
from fad.torch._saved_memory.allocator import watch_allocator
from fad.torch.compile._chunks import choose, insert, operators


def check_joined():
    """Halves of a product are in its chunks, but for those of as many elements as the operand."""
    for width in (128, 32):
        torch._dynamo.reset()
        MESSAGES.texts.clear()

        def loss(hidden, joined, down):
            gate, rows = (hidden @ joined).chunk(2, -1)
            return (F.silu(gate) * rows @ down).square().mean()

        inputs = [torch.randn(512, 32), torch.randn(32, 2 * width), torch.randn(width, 32)]
        compiled = torch.compile(loss, backend=split(4))
        found, exact = run_step(compiled, inputs), run_step(loss, inputs)
        _, taken = watch_allocator(lambda: run_step(compiled, inputs), False)
        is_right, is_less = compare(found, exact) < 1e-5, taken.peak < 8 * 512 * 2 * width
        print(f"a gate of {width} is right: {is_right}, less: {is_less}")
        print(*MESSAGES.find("is computed"), sep="\n")


def check_parts():
    """Parts of a product that leave its chunks, for attention, are memory of their own to Inductor."""

    def loss(hidden, joined):
        parts = (hidden @ joined).unflatten(0, (4, 1, 128)).split(64, -1)
        return F.scaled_dot_product_attention(*parts).square().mean()

    torch._dynamo.reset()
    MESSAGES.texts.clear()
    compiled = torch.compile(loss, backend="fad", options={"fad.chunks": 4})
    inputs = [torch.randn(512, 64), torch.randn(64, 192)]
    error = compare(run_step(compiled, inputs), run_step(loss, inputs))
    print(f"parts are right: {error < 1e-5}", *MESSAGES.find("is computed"), sep="\n")


def check_transposed():
    """The gradient of logits, which a product reads transposed, leaves its chunks without a copy; where
    they return the gradient itself, too, with one."""

    def loss(hidden, weight, target):
        return F.cross_entropy(F.linear(hidden, weight), target)

    def loss_of_two(hidden, weight, other, factor, target):
        return F.cross_entropy(F.linear(hidden, weight) + other @ factor, target)

    def make(*arguments):
        loops.append(make_loop(*arguments))
        return loops[-1]

    make_loop = insert.make_loop
    hidden, weight, _, target = make_inputs(torch.float64)
    rows, target = hidden.flatten(0, 1), target.flatten()
    others = torch.randn_like(rows), torch.randn_like(weight.T)
    for function, inputs in (
        (loss, (rows, weight, target)),
        (loss_of_two, (rows, weight, *others, target)),
    ):
        loops = []
        torch._dynamo.reset()
        with mock.patch.object(insert, "make_loop", make):
            found = run_step(torch.compile(function, backend=split(4)), inputs)
        error = compare(found, run_step(function, inputs))
        targets = [node.target for body in loops[0].bodies.values() for node in body.graph.nodes]
        copies = targets.count(torch.ops.aten.clone.default)
        print(f"transposed: {copies} copies, right: {error < 1e-12}")


def check_multiplied():
    """Few rows of f32 meet many transposed weights in oneDNN's product, and other rows and weights in
    that of PyTorch, which is right for all, and which the chunks of a loss have for these alone."""

    def loss(hidden, weight, target):
        return F.cross_entropy(F.linear(hidden, weight), target)

    def make(*arguments):
        loops.append(make_loop(*arguments))
        return loops[-1]

    make_loop = insert.make_loop
    find_linear = operators.find_linear

    def find():
        linear = find_linear()
        return linear and (lambda *tensors: calls.append(linear) or linear(*tensors))

    for rows, words, dtype, is_available in (
        (32, 16384, torch.float32, True),
        (32, 16384, torch.float32, False),
        (513, 16384, torch.float32, True),
        (32, 1024, torch.float32, True),
        (32, 16384, torch.float64, True),
    ):
        torch._dynamo.reset()
        loops, calls = [], []
        inputs = [
            torch.randn(4 * rows, 64, dtype=dtype, requires_grad=True),
            torch.randn(words, 64, dtype=dtype, requires_grad=True),
            torch.randint(0, words, (4 * rows,)),
        ]
        exact = [each.detach().double().requires_grad_() for each in inputs[:2]]
        with (
            mock.patch.object(torch.backends.mkldnn, "is_available", lambda: is_available),
            mock.patch.object(insert, "make_loop", make),
            mock.patch.object(operators, "find_linear", find),
        ):
            found = run_step(torch.compile(loss, backend=split(4)), inputs)
        error = compare(found, run_step(loss, [*exact, inputs[2]]))
        targets = [node.target for body in loops[0].bodies.values() for node in body.graph.nodes]
        print(
            f"{rows} rows, {words} words, {dtype}: {targets.count(torch.ops.fad.multiply.default)} in "
            f"chunks, by oneDNN: {len(calls)}, right: {error < 1e-5}"
        )
    if not EVERY:
        return
    inputs = [each.detach().float().requires_grad_() for each in exact] + inputs[2:]
    calls = []
    compiled = torch.compile(loss, backend="fad", options={"fad.chunks": 4}, dynamic=False)
    with mock.patch.object(operators, "find_linear", find):
        error = compare(run_step(compiled, inputs), run_step(loss, [*exact, inputs[2]]))
    print(f"inductor, by oneDNN: {len(calls)}, right: {error < 1e-5}")


def check_counts():
    """The chunks of a loss are so many that one, and the rows that all read, take an eighth of the logits
    of 8 MiB, or a sixteenth where a budget asks; but where rows alone take most of that."""

    def loss(hidden, weight, target):
        return F.cross_entropy((hidden * 1.0) @ weight.t(), target)

    def step():
        results = loss_of(hidden, weight, target)
        results.backward()
        hidden.grad = weight.grad = None

    rows, words = 2048, 1024
    target = torch.randint(0, words, (rows,))
    with mock.patch.object(choose, "_LEAST_BYTES", 2**20):
        cases = ((16, (None, 16)), (48, (None,)), (128, (None,))) if EVERY else ((16, (None,)),)
        for width, budgets in cases:
            hidden = torch.randn(rows, width, requires_grad=True)
            weight = torch.randn(words, width, requires_grad=True)
            results, logits = 4 * (hidden.numel() + weight.numel()), 4 * rows * words
            for parts in budgets:
                torch._dynamo.reset()
                MESSAGES.texts.clear()
                options = {} if parts is None else {"fad.budget": results + logits // parts}
                loss_of = torch.compile(loss, backend="fad", options=options)
                step()
                _, taken = watch_allocator(step, False)
                part = (taken.peak - results) / logits
                print(f"width {width}, a part of {1 / (parts or 8)}: {part <= 1 / (parts or 8)}")
                print(*MESSAGES.find("is computed"), sep="\n")

"""A user's own operator in Triton, on fake CUDA tensors: fad leaves it as it is. Inductor's
text has its kernel, once in a step unless a checkpoint repeats it."""

import functools
import re
import sys
import warnings

import fake_cuda
import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from fad.torch.compile._backend import make_inner
from torch import nn
from torch.library import triton_op, wrap_triton
from torch.utils import checkpoint as checkpoints

WIDTH, BATCH = 64, 32


@triton.jit
def swing_kernel(x, y, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + places, mask=places < count)
    tl.store(y + places, tl.sin(values) * values, mask=places < count)


@triton.jit
def swing_gradient_kernel(x, g, y, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + places, mask=places < count)
    gradient = tl.load(g + places, mask=places < count)
    slope = tl.sin(values) + values * tl.cos(values)
    tl.store(y + places, gradient * slope, mask=places < count)


def launch(kernel, *arguments):
    result = torch.empty_like(arguments[0])
    grid = (triton.cdiv(result.numel(), 256),)
    wrap_triton(kernel)[grid](*arguments, result, result.numel(), BLOCK=256)
    return result


@triton_op("fad_test::swing", mutates_args={})
def swing(x: torch.Tensor) -> torch.Tensor:
    return launch(swing_kernel, x)


@triton_op("fad_test::swing_gradient", mutates_args={})
def swing_gradient(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    return launch(swing_gradient_kernel, x, g)


swing.register_autograd(
    lambda ctx, g: swing_gradient(ctx.saved_tensors[0], g),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
)


class Model(nn.Module):
    """The operator between an activation and dropout; `wrap` may be a checkpoint around it."""

    def __init__(self, wrap):
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.wrap = wrap

    def forward(self, x):
        y = self.wrap(lambda x: swing(F.mish(self.first(x))), x)
        return self.second(F.dropout(y.sigmoid() * y, 0.1)) + x


def checkpoint(policy=None):
    """A checkpoint, all of whose operations have the `policy` of selective checkpoints."""
    options = {}
    if policy is not None:
        options["context_fn"] = functools.partial(
            checkpoints.create_selective_checkpoint_contexts, lambda *_, **__: policy
        )
    return lambda function, x: checkpoints.checkpoint(function, x, use_reentrant=False, **options)


# By name, what is around the operator, and the options of fad.
CASES = {
    "plain": (lambda function, x: function(x), {}),
    "contractions": (lambda function, x: function(x), {"recompute": "contractions"}),
    "fad": (lambda function, x: function(x), {"policy": "fad"}),
    "checkpoint": (checkpoint(), {}),
    "save": (checkpoint(checkpoints.CheckpointPolicy.MUST_SAVE), {}),
    "recompute": (checkpoint(checkpoints.CheckpointPolicy.MUST_RECOMPUTE), {}),
}


# Text in the source of a kernel.
WRITES = {"swing": "tl.sin(values) * values", "swing_gradient": "gradient * slope"}


def find_kernels(part):
    """The user's kernels that `part` launches, in this order, each with its source."""
    for launched in part.launches:
        if kernel := re.fullmatch(r"(swing(_gradient)?)_kernel_\d+", launched):
            yield kernel[1], part.sources.get(launched, "")


def main():
    warnings.simplefilter("error", RuntimeWarning)
    is_wrong = False
    for name, (wrap, options) in CASES.items():
        partitioner = fake_cuda.Moved(**options)
        inner = make_inner(partitioner, {})
        # PyTorch asks Triton which operands a kernel changes, and Triton asks its driver.
        with fake_cuda.pretend():
            parts = fake_cuda.write(Model(wrap), [torch.randn(BATCH, WIDTH)], partitioner, inner)
        kernels = [list(find_kernels(part)) for part in parts]
        forward, backward = (" ".join(kernel for kernel, _ in each) for each in kernels)
        print(f"{name}: forward {forward}, backward {backward}")
        for kernel, source in (pair for each in kernels for pair in each):
            if f"tl.store(y + places, {WRITES[kernel]}, " not in source:
                is_wrong = True
                print(f"{name}: the text has no kernel of {kernel}")
    print("wrong" if is_wrong else "right")
    return is_wrong


if __name__ == "__main__":
    sys.exit(main())

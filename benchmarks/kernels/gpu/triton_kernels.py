"""Kernels in Triton, by hand: value and derivative of an activation, and the product
with the cotangent. The derivative is kept, as by fad."""

import itertools

import triton
import triton.language as tl

BLOCKS, WARPS = (1024, 2048, 4096), (4, 8)
ACTIVATIONS = "gelu", "gelu_tanh", "silu", "mish"


@triton.jit
def value_and_slope(x, ACTIVATION: tl.constexpr):
    if ACTIVATION == "gelu":
        gate = 0.5 + 0.5 * tl.erf(x * 0.7071067811865476)
        return x * gate, gate + x * 0.3989422804014327 * tl.exp(-0.5 * x * x)
    elif ACTIVATION == "gelu_tanh":
        square = x * x
        gate = tl.sigmoid(x * (1.5957691216057308 + 0.07135481282553503 * square))
        inner = x * (1.5957691216057308 + 0.2140644384766051 * square)
        return x * gate, gate + gate * (1 - gate) * inner
    elif ACTIVATION == "silu":
        gate = tl.sigmoid(x)
        return x * gate, gate + x * gate * (1 - gate)
    else:
        # Above 20, tanh(softplus(x)) is 1.
        e = tl.exp(tl.minimum(x, 20.0))
        n = e * (e + 2)
        gate = n / (n + 2)
        return x * gate, gate + x * (1 - gate * gate) * tl.sigmoid(x)


@triton.jit
def forward(x_ptr, y_ptr, d_ptr, count, ACTIVATION: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside).to(tl.float32)
    y, d = value_and_slope(x, ACTIVATION)
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)
    tl.store(d_ptr + offsets, d.to(d_ptr.dtype.element_ty), mask=inside)


@triton.jit
def backward(d_ptr, g_ptr, dx_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    d = tl.load(d_ptr + offsets, mask=inside).to(tl.float32)
    g = tl.load(g_ptr + offsets, mask=inside).to(tl.float32)
    tl.store(dx_ptr + offsets, (d * g).to(dx_ptr.dtype.element_ty), mask=inside)


def list_configurations():
    return list(itertools.product(BLOCKS, WARPS))


def make(name, tensors, configurations):
    """Returns the passes of an activation, with a configuration for each of the two."""
    x, y, d, g, dx = (tensors[role] for role in ("x", "y", "d", "g", "dx"))
    count = x.numel()
    (block, warps), (block_back, warps_back) = configurations
    launch = forward[(triton.cdiv(count, block),)]
    launch_back = backward[(triton.cdiv(count, block_back),)]
    passes = {
        "forward": lambda: launch(x, y, d, count, ACTIVATION=name, BLOCK=block, num_warps=warps),
        "backward": lambda: launch_back(d, g, dx, count, BLOCK=block_back, num_warps=warps_back),
    }
    passes["both"] = lambda: (passes["forward"](), passes["backward"]())
    return passes

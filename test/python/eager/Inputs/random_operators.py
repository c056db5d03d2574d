"""The operators of random programs, by names: functions of matrices."""

import torch
import torch.nn.functional as F

UNARY = {
    "abs": torch.abs,
    "clamp": lambda x: torch.clamp(x, -0.5, 0.75),
    "cos": torch.cos,
    "elu": F.elu,
    "erf": torch.erf,
    "exp": lambda x: torch.exp(-torch.abs(x)),
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "hardtanh": F.hardtanh,
    "leaky_relu": F.leaky_relu,
    "log": lambda x: torch.log(x * x + 1.5),
    "mish": F.mish,
    "neg": torch.neg,
    "new_gelu": lambda x: 0.5 * x * (1.0 + torch.tanh(0.8 * (x + 0.045 * torch.pow(x, 3.0)))),
    "pow": lambda x: torch.pow(torch.tanh(x), 3.0),
    "reciprocal": lambda x: torch.reciprocal(x * x + 1.0),
    "relu": torch.relu,
    "rsub": lambda x: 1.0 - x,
    "scale": lambda x: x * 0.7,
    "shift": lambda x: x + 0.3,
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "sin": torch.sin,
    "softplus": F.softplus,
    "sqrt": lambda x: torch.sqrt(torch.sigmoid(x)),
    "tanh": torch.tanh,
}
BINARY = {
    "add": torch.add,
    "add_alpha": lambda x, y: torch.add(x, y, alpha=-0.5),
    "div": lambda x, y: x / (y * y + 1.0),
    "gate": lambda x, y: F.silu(x) * y,
    "mul": torch.mul,
    "sub": torch.sub,
}


def widen(x):
    return x if x.dtype is torch.float64 else x.float()


def _normalize(x):
    wide = widen(x)
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 0.1)).to(x.dtype)


# Functions that compute in a wide type.
MIXED = {
    "layer_norm": lambda x: F.layer_norm(widen(x), x.shape[1:]).to(x.dtype),
    "new_gelu": lambda x: 0.5 * x * (1.0 + torch.tanh(0.8 * (x + 0.045 * widen(x).pow(3.0)))),
    "rms_norm": _normalize,
    "silu": lambda x: F.silu(widen(x)).to(x.dtype) * x,
    "tanh": lambda x: torch.tanh(widen(x)),
}
NARROW = ("float16", "bfloat16")
# Operations that are no part of a sequence, and read values.
CONSUMERS = {
    "cat": lambda x: torch.cat([x[:1], x[1:]]),
    "clone": torch.clone,
    "cumsum": lambda x: torch.cumsum(x, 0) * 0.5,
    "flip": lambda x: torch.flip(x, (1,)),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[1:]),
    "mean": lambda x: x - x.mean(0, keepdim=True),
    "parts": lambda x: torch.cat([F.silu(x[:1]) * x[:1], torch.tanh(x[1:]) * x[1:]]),
    "softmax": lambda x: torch.softmax(x, 1),
    "tril": torch.tril,
}
VIEWS = {
    "alias": lambda x: x[:, :],
    "as_strided": lambda x: x.as_strided((1, x.shape[1]), (x.shape[1], 1)).expand(x.shape),
    "chunk": lambda x: x.chunk(x.shape[0])[1].expand(x.shape),
    "expand": lambda x: x[0].expand(x.shape),
    "reshape": lambda x: x.reshape(-1).view(x.shape),
    "row": lambda x: x[-1:].expand(x.shape),
    "split": lambda x: x.split(1, 1)[0].expand(x.shape),
    "transpose": lambda x: x.t(),
    "unbind": lambda x: x.unbind(0)[1].expand(x.shape),
    "unsqueeze": lambda x: x.unsqueeze(0).squeeze(0),
}
IN_PLACE = {
    "add_": lambda x: x.add_(0.25),
    "add_self_": lambda x: x.add_(x.detach() * 0.5),
    "copy_row_": lambda x: x[0].copy_(x[1].detach()),
    "mul_": lambda x: x.mul_(0.8),
    "relu_": torch.relu_,
    "row_": lambda x: x[0].mul_(0.5),
    "tanh_": torch.tanh_,
    "transpose_": lambda x: x.t().mul_(1.1),
}
# Activations in place, of which PyTorch keeps a copy of the values that they overwrite.
ACTIVATIONS_IN_PLACE = {
    "clamp_": lambda x: x.clamp_(-0.5, 0.75),
    "gelu_": torch.ops.aten.gelu_,
    "hardswish_": lambda x: F.hardswish(x, inplace=True),
    "hardtanh_": lambda x: F.hardtanh(x, -0.5, 0.75, inplace=True),
    "mish_": lambda x: F.mish(x, inplace=True),
    "silu_": lambda x: F.silu(x, inplace=True),
}

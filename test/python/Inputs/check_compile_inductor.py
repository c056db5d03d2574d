"""Trains convolutions for a step with `torch.compile(backend="fad")`: gradients have to
be those of PyTorch, and no filter may be saved as a copy in another layout."""

import sys
import warnings

import torch
from torch import nn

import fad.torch.compile  # noqa: F401, registers the backend


def run(model, call, x):
    model.zero_grad()
    loss = call(x).square().mean()
    node = loss.grad_fn
    while hasattr(node, "next_functions") and not hasattr(node, "_tensors_no_vc_check"):
        if not node.next_functions:
            break
        node = node.next_functions[0][0]
    saved = list(getattr(node, "saved_tensors", ()))
    loss.backward()
    return [parameter.grad.clone() for parameter in model.parameters()], saved


def main():
    warnings.simplefilter("error", RuntimeWarning)
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.GELU(approximate="tanh"), nn.Conv2d(8, 8, 3), nn.Mish()
    )
    x = torch.randn(4, 3, 12, 12, requires_grad=True)
    expected, _ = run(model, model, x)
    gradients, saved = run(model, torch.compile(model, backend="fad"), x)
    worst = max(
        ((a - b).abs().max() / b.abs().max()).item() for a, b in zip(gradients, expected)
    )
    filters = {p.untyped_storage().data_ptr() for p in model.parameters() if p.dim() == 4}
    kept = filters & {tensor.untyped_storage().data_ptr() for tensor in saved}
    copies = [t for t in saved if t.numel() in (8 * 3 * 9, 8 * 8 * 9)]
    right = worst <= 1e-5 and len(copies) == len(kept)
    print(
        f"gradients {'right' if right else f'wrong: {worst:.1e}, {len(copies)} copies'}; "
        f"{len(kept)} of {len(filters)} filters saved as they are"
    )
    return not right


if __name__ == "__main__":
    sys.exit(main())

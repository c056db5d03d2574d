"""Forms of activations that dropins.py compares, and what it measures of them."""

import math
import time

import torch
import torch.nn.functional as F

import fad.torch

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f64": torch.float64}


def compose_gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
    return 0.5 * x * (1.0 + torch.tanh(inner))


# Composed, and built in.
ACTIVATIONS = {
    "gelu_tanh": (compose_gelu, lambda x: F.gelu(x, approximate="tanh")),
    "silu": (lambda x: x * torch.sigmoid(x), F.silu),
    "mish": (lambda x: x * torch.tanh(F.softplus(x)), F.mish),
}


def make_forms(name):
    composed, built_in = ACTIVATIONS[name]
    # The composition as fad's own, as a user would write it.
    return {
        "composed": composed,
        "built in": built_in,
        "fad": fad.torch.elementwise(composed),
        "fad, derivative": fad.torch.elementwise(composed, keep="derivative"),
        "fad, 3 bits": fad.torch.elementwise(composed, derivative_bits=3),
    }


def measure_times(forms, x, repetitions):
    ones = torch.ones_like(x)
    least = dict.fromkeys(forms, math.inf)
    for _ in range(repetitions):
        for name, form in forms.items():
            torch.autograd.grad(form(x), x, ones)
            start = time.thread_time()
            torch.autograd.grad(form(x), x, ones)
            least[name] = min(least[name], time.thread_time() - start)
    return least


def count_kept(form, x):
    """Of a tensor that only the activation keeps, and whose result another operation
    keeps in any case."""
    with_result = fad.torch.saved_memory(lambda: torch.square(form(x * 1.0)), measure=False)
    alone = fad.torch.saved_memory(lambda: torch.square(x * 1.0), measure=False)
    return with_result.bytes - alone.bytes


def measure(name, size, dtype, repetitions):
    torch.manual_seed(0)
    x = torch.randn(size, dtype=DTYPES[dtype], requires_grad=True)
    forms = make_forms(name)
    times = measure_times(forms, x, repetitions)
    return [
        {
            "activation": name,
            "elements": size,
            "dtype": dtype,
            "form": form,
            "seconds": times[form],
            "to_composed": times[form] / times["composed"],
            "to_built_in": times[form] / times["built in"],
            "kept_a_element": count_kept(call, x) / size / DTYPES[dtype].itemsize,
        }
        for form, call in forms.items()
    ]

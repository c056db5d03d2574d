"""Peers of kernels in comparisons: PyTorch and Triton. Functions of passes, by who
computes and by pass, on tensors that are there."""

import activations

# The functions of PyTorch that write into given tensors, with the names of their gradients that
# do, and the operands of these behind the cotangent, tensors by name. Not all have a gradient.
INTO = {
    "elu": ("elu_backward", (1, 1, 1, False, "x")),
    "gelu": ("gelu_backward", ("x",)),
    "hardsigmoid": ("hardsigmoid_backward", ("x",)),
    "hardswish": None,
    "hardtanh": ("hardtanh_backward", ("x", -1, 1)),
    "leaky_relu": ("leaky_relu_backward", ("x", 0.01, False)),
    "mish": None,
    "relu": ("threshold_backward", ("y", 0)),
    "sigmoid": ("sigmoid_backward", ("y",)),
    "silu": ("silu_backward", ("x",)),
    "softplus": ("softplus_backward", ("x", 1, 20)),
    "tanh": ("tanh_backward", ("y",)),
}


def make_autograd(torch, function, x, g):
    """As training calls it: forward as autograd records it."""
    leaf = x.detach().requires_grad_()
    y = function(leaf)

    def both():
        result = function(leaf)
        return torch.autograd.grad(result, leaf, g)

    return {
        "forward": lambda: function(leaf),
        "backward": lambda: torch.autograd.grad(y, leaf, g, retain_graph=True),
        "both": both,
    }


def make_into(torch, name, tensors):
    """PyTorch's own functions without autograd, into tensors that are there."""
    activation = activations.ACTIVATIONS[name]
    arguments = activation.torch_arguments
    x, g, y, dx = (tensors[role] for role in ("x", "g", "y", "dx"))
    forward = getattr(torch.ops.aten, activation.torch_name).out
    passes = {"forward": lambda: forward(x, **arguments, out=y)}
    backward = INTO[activation.torch_name]
    if backward:
        name, operands = backward
        operands = [tensors[each] if isinstance(each, str) else each for each in operands]
        gradient = getattr(torch.ops.aten, name).grad_input
        passes["backward"] = lambda: gradient(g, *operands, **arguments, grad_input=dx)
        passes["both"] = lambda: (passes["forward"](), passes["backward"]())
    return passes


def make_eager(torch, name, tensors):
    x, g = tensors["x"], tensors["g"]
    peers = {"PyTorch": lambda: make_autograd(torch, activations.get_torch_function(name), x, g)}
    if activations.ACTIVATIONS[name].torch_name in INTO:
        peers["into outputs"] = lambda: make_into(torch, name, tensors)
    if name in activations.COMPOSED:
        composed = lambda t: activations.COMPOSED[name](torch, t)
        peers["composed"] = lambda: make_autograd(torch, composed, x, g)
    return peers


def make_compiled(torch, name, tensors):
    def make():
        torch._dynamo.reset()
        # Backward is called again and again for one call of forward.
        torch._functorch.config.donated_buffer = False
        function = activations.get_torch_function(name)
        compiled = torch.compile(lambda t: function(t), dynamic=False)
        return make_autograd(torch, compiled, tensors["x"], tensors["g"])

    return {"compiled": make}

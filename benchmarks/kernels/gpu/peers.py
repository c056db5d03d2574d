"""Peers of kernels in comparisons: PyTorch and Triton. Functions of passes, by who
computes and by pass, on tensors that are there."""

import activations

# The functions of PyTorch that write into given tensors, and the names of their
# gradients that do, with what those take: the argument or the result. Not all have one.
INTO = {
    "gelu": ("gelu_backward", "x"),
    "silu": ("silu_backward", "x"),
    "tanh": ("tanh_backward", "y"),
    "sigmoid": ("sigmoid_backward", "y"),
    "mish": None,
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
        name, kept = backward
        gradient = getattr(torch.ops.aten, name).grad_input
        passes["backward"] = lambda: gradient(g, tensors[kept], **arguments, grad_input=dx)
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

"""Training loops around models that `torch.compile` trains."""

import contextlib
import threading

import torch
import torch.nn.functional as F
from features import Module, backward, feature, input, mlp, run, run_function, weigh
from torch import nn


@feature
def normalization(compile):
    torch.manual_seed(0)
    norms = nn.BatchNorm2d(8), nn.BatchNorm2d(8, momentum=0.3)
    layers = nn.Conv2d(3, 8, 3, bias=False), norms[0], nn.ReLU(), norms[1]
    model = nn.Sequential(*layers)
    call = compile(model)
    values = [each for _ in range(2) for each in backward(model, call, input(2, 3, 8, 8))]
    model.eval()
    return [*values, *backward(model, call, input(2, 3, 8, 8)), *model.buffers()]


@feature
def accumulation(compile):
    model = mlp()
    call = compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    norms = []
    for _ in range(2):
        for part in range(3):
            (weigh(call(input(4, 16) + part)) / 3).backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), 0.5))
        optimizer.step()
        optimizer.zero_grad()
    return [*norms, *model.parameters()]


@feature
def scaler(compile):
    model = mlp()
    call, scaler = compile(model), torch.amp.GradScaler("cpu", init_scale=64.0)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for step in range(3):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            y = weigh(call(input(4, 16)).float())
        scaler.scale(y * float("inf") if step == 1 else y).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    return [torch.tensor(scaler.get_scale()), *model.parameters()]


@feature
def second_derivatives(compile):
    """Compiled functions refuse them."""
    x = input(4, 16)
    try:
        (first,) = torch.autograd.grad(weigh(compile(mlp())(x)), x, create_graph=True)
        return [torch.autograd.grad(weigh(first.sin()), x)[0]]
    except RuntimeError as error:
        if "double backward" not in str(error):
            raise
        return None


@feature
def hooks(compile):
    model = mlp()
    model[0].register_forward_hook(lambda module, args, y: y * 1.5)
    model[2].register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    model[3].register_full_backward_hook(lambda module, into, out: (into[0] * 2,))
    model[0].weight.register_hook(lambda gradient: gradient.clamp(-0.1, 0.1))
    return run(compile, model, input(4, 16))


@feature
def hooks_of_values(compile):
    def function(net, x):
        y = F.mish(net(x))
        y.register_hook(lambda gradient: torch.where(gradient > 0, gradient, 2 * gradient.sign()))
        return y * F.silu(x)

    return run_function(compile, function, input(4, 16))


@feature
def exceptions(compile):
    """A step that fails in the middle, and the steps after it."""

    def function(net, x, fail):
        y = net(x)
        if fail:
            raise KeyError("no such step")
        return y * F.silu(x)

    model = Module(function)
    call = compile(model)
    values = backward(model, call, input(4, 16), False)
    for arguments in (input(4, 16), True), (input(4, 15), False):
        with contextlib.suppress(KeyError, RuntimeError, torch._dynamo.exc.TorchRuntimeError):
            call(*arguments)
            raise AssertionError("no exception")
    return [*values, *backward(model, call, input(4, 16), False)]


@feature
def threads(compile):
    """Models that threads compile and train at once."""
    models = [nn.Sequential(mlp(), kind()) for kind in (nn.SiLU, nn.GELU, nn.Mish)]
    results = [None] * 3

    def work(number):
        x = torch.linspace(-2, 2, 64).reshape(4, 16).requires_grad_()
        results[number] = run(compile, models[number], x)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    return [value for result in results for value in result]

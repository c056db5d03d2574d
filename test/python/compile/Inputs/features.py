"""Ways to train with `torch.compile`.

Each function of `FEATURES` takes `compile`, which is `torch.compile` or does nothing,
and returns tensors that have to be the same with both."""

import functools

import torch
import torch.nn.functional as F
from torch import nn

FEATURES = {}
# How many graphs fad plans, where it is more than to be there.
PLANS = {}


def feature(function=None, plans=None):
    if function is None:
        return functools.partial(feature, plans=plans)
    FEATURES[function.__name__] = function
    if plans is not None:
        PLANS[function.__name__] = plans
    return function


def mlp(width=16, activation=nn.GELU):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(width, 32), activation(), nn.LayerNorm(32), nn.Linear(32, width))


def weigh(y):
    steps = torch.linspace(-1.0, 1.5, y.numel(), device=y.device).reshape(y.shape)
    return (y * steps.to(y.dtype)).sum()


def gradients(module):
    return [each.grad.clone() for each in module.parameters() if each.grad is not None]


def input(*shape, dtype=torch.float32, grad=True):
    torch.manual_seed(1)
    return torch.randn(*shape, dtype=dtype).requires_grad_(grad)


def backward(model, call, *inputs):
    """The results and gradients of one step."""
    model.zero_grad()
    results = call(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    sum(weigh(y) for y in results if y.requires_grad).backward()
    grads = [x.grad.clone() for x in inputs if getattr(x, "grad", None) is not None]
    return [*results, *grads, *gradients(model)]


def run(compile, model, *inputs):
    return backward(model, compile(model), *inputs)


class Module(nn.Module):
    """`function` of the parameters of a small network and of inputs."""

    def __init__(self, function):
        super().__init__()
        self.net, self.function = mlp(), function

    def forward(self, *inputs):
        return self.function(self.net, *inputs)


def run_function(compile, function, *inputs):
    return run(compile, Module(function), *inputs)


# Types


@feature
def autocast(compile):
    model = mlp()
    with torch.autocast("cpu", torch.bfloat16):
        y = compile(model)(input(4, 16))
    weigh(y.float()).backward()
    return [y, *gradients(model)]


@feature
def autocast_inside(compile):
    def function(net, x):
        with torch.autocast("cpu", torch.bfloat16):
            y = F.silu(net(x))
        return y.float() * x

    return run_function(compile, function, input(4, 16))


@feature
def halves(compile):
    values = []
    for dtype in torch.float16, torch.bfloat16:
        values += run(compile, mlp().to(dtype), input(4, 16, dtype=dtype))
    return values


@feature
def doubles(compile):
    return run(compile, mlp().double(), input(4, 16, dtype=torch.float64))


@feature
def integers(compile):
    def function(net, x, i, b):
        return net(x * i) * b + i // 2 + (i << 1).to(torch.int8)

    i = torch.arange(64).reshape(4, 16) % 5
    return run_function(compile, function, input(4, 16), i, i > 2)


@feature
def not_numbers(compile):
    x = input(4, 16, grad=False)
    x[0, 0], x[1, 1], x[2, 2] = float("nan"), float("inf"), -float("inf")
    return run(compile, mlp(activation=nn.SiLU), x.requires_grad_())


# Shapes


@feature(plans=1)
def dynamic_batch(compile):
    model, values = mlp(), []
    call = compile(model)
    for size in 6, 3, 9:
        x = input(size, 16)
        torch._dynamo.maybe_mark_dynamic(x, 0)
        values += backward(model, call, x)
    return values


@feature(plans=1)
def dynamic_sequence(compile):
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)
    call, values = compile(model), []
    for batch, length in (2, 7), (3, 5), (5, 9):
        x = input(batch, length, 16)
        torch._dynamo.maybe_mark_dynamic(x, 0)
        torch._dynamo.maybe_mark_dynamic(x, 1)
        values += backward(model, call, x)
    return values


@feature
def dynamic_dropout(compile):
    """A mask whose size is known at run time; random numbers are in order."""
    model, values = nn.Sequential(mlp(), nn.Dropout(0.3), nn.ReLU6()), []
    call = compile(model)
    for size in 6, 3, 9:
        x = input(size, 16)
        torch._dynamo.maybe_mark_dynamic(x, 0)
        torch.manual_seed(2)
        values += backward(model, call, x)
    return values


@feature
def empty(compile):
    def function(net, x, y):
        return torch.cat([net(x), y]).relu().square(), y.sigmoid() * y

    return run_function(compile, function, input(4, 16), input(0, 16))


@feature
def all_empty(compile):
    return run(compile, mlp(), input(0, 16))


@feature
def scalars(compile):
    def function(net, s, x):
        scale = s.exp().tanh()
        return net(x) * scale * s, scale + net(x).sigmoid().mean()

    return run_function(compile, function, torch.tensor(0.5, requires_grad=True), input(4, 16))


@feature
def strides(compile):
    x = input(16, 4)
    torch.manual_seed(0)
    # A bias before a normalization has a gradient of zero but for rounding.
    layers = nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.SiLU(), nn.Conv2d(8, 4, 1)
    images = nn.Sequential(*layers).to(memory_format=torch.channels_last)
    y = input(2, 3, 8, 8, grad=False).to(memory_format=torch.channels_last).requires_grad_()
    every_other = input(4, 32)
    return [
        *run(compile, mlp(), x.T),
        *run(compile, mlp(), every_other[:, ::2]),
        *run(compile, images, y),
        *run(compile, mlp(), input(1, 16).expand(4, 16)),
        x.grad,
        every_other.grad,
    ]


# Graphs


@feature(plans=2)
def graph_break(compile):
    def function(net, x):
        y = F.mish(net(x))
        torch._dynamo.graph_break()
        return F.mish(net(y)) * x

    return run_function(compile, function, input(4, 16))


@feature
def several_losses(compile):
    def function(net, x):
        y = net(x)
        return y.square().mean(), F.silu(y).sum(), y.detach().sum()

    model, x = Module(function), input(4, 16)
    first, second, third = compile(model)(x)
    first.backward(retain_graph=True)
    before = gradients(model)
    second.backward()
    return [first, second, third, *before, *gradients(model), x.grad]


@feature
def unused_result(compile):
    """Only one of two results has a gradient."""

    def function(net, x):
        y = net(x)
        return y.sin(), y.tanh()

    model = Module(function)
    weigh(compile(model)(input(4, 16))[1]).backward()
    return gradients(model)


@feature
def retained(compile):
    model, x = mlp(), input(4, 16)
    y = weigh(compile(model)(x))
    for _ in range(3):
        y.backward(retain_graph=True)
    return [y, x.grad, *gradients(model)]


@feature
def frozen(compile):
    model = mlp(activation=nn.ReLU)
    model[0].requires_grad_(False)
    model[3].weight.requires_grad_(False)
    return [*run(compile, model, input(4, 16, grad=False)), *run(compile, model, input(4, 16))]


@feature
def used_twice(compile):
    def function(net, x):
        y = net(x)
        return y, y, y.view(-1), x, x.view(-1)[:3]

    return run_function(compile, function, input(4, 16))


@feature
def views(compile):
    """An input, views of it, and a result that is a view of one."""

    def function(net, x, a, b):
        return net(x) * a.T.sum(), b[:, :4].unsqueeze(0), a.exp() * b.exp()

    x = input(4, 16)
    y = x * 1
    return [*run_function(compile, function, y, y[:2], y[2:]), x.grad]


@feature
def changed_input(compile):
    """A buffer and an input that forward changes after it has read them."""

    class Changing(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = mlp()
            self.register_buffer("count", torch.ones(16))

        def forward(self, x, state):
            y = self.net(x) * self.count.sin() * state.cos()
            self.count.mul_(2.0)
            state.add_(y.detach().mean()).exp_()
            return y * state.tanh()

    model, state = Changing(), input(4, 16, grad=False)
    call = compile(model)
    values = backward(model, call, input(4, 16), state)
    return [*values, *backward(model, call, input(4, 16), state), state, model.count]


@feature
def changed_view(compile):
    def function(net, x, state):
        y = net(x) * state[0].exp()
        state[0].mul_(0.5)
        state[1] = y.detach()[0]
        return y * state[1].sigmoid()

    state = torch.ones(2, 16)
    return [*run_function(compile, function, input(4, 16), state), state]


@feature
def tied(compile):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.embedding = nn.Embedding(20, 16)
            self.net = mlp()
            self.head = nn.Linear(16, 20, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, ids):
            y = self.head(self.net(self.embedding(ids)))
            return F.cross_entropy(y.flatten(0, 1), ids.flatten())

    torch.manual_seed(1)
    return run(compile, Tied(), torch.randint(0, 20, (2, 5)))


@feature
def nested(compile):
    """A compiled function called by a compiled function."""
    inner = compile(F.mish)

    def function(net, x):
        return inner(net(x)) * F.silu(x)

    return run_function(compile, function, input(4, 16))


@feature
def random_order(compile):
    """Dropout by the seed; numbers of later operations are the same."""

    def function(net, x):
        return F.dropout(net(F.dropout(x, 0.2)), 0.5) + torch.rand_like(x) * x

    torch.manual_seed(5)
    values = run_function(compile, function, input(4, 16))
    return [*values, torch.rand(3)]


class _Noisy(torch.autograd.Function):
    """Backward draws random numbers, which stand after those of forward."""

    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        return gradient * (torch.rand_like(x) + x)


@feature
def random_in_backward(compile):
    def function(net, x):
        return F.dropout(net(_Noisy.apply(x)), 0.4)

    torch.manual_seed(6)
    return run_function(compile, function, input(4, 16))

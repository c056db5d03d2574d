"""Checkpoints and operators in models that `torch.compile` trains.

Not here are loops with an unknown number of steps and flexible attention, which PyTorch
cannot train on CPUs without Inductor."""

import functools

import torch
import torch.nn.functional as F
from fad.torch._releases import is_before
from features import feature, gradients, input, mlp, run_function, weigh
from torch.utils import checkpoint as checkpoints

# Checkpoints


def block(net, x):
    return F.mish(net(F.dropout(x, 0.2)))


@feature
def checkpoint(compile):
    def function(net, x):
        y = checkpoints.checkpoint(block, net, x, use_reentrant=False)
        return y * x.sigmoid()

    torch.manual_seed(2)
    return run_function(compile, function, input(4, 16))


@feature
def checkpoint_reentrant(compile):
    def function(net, x):
        y = checkpoints.checkpoint(lambda x: F.mish(net(x)), x, use_reentrant=True)
        return y * x.sigmoid()

    return run_function(compile, function, input(4, 16))


@feature
def checkpoint_policies(compile):
    policy = checkpoints.CheckpointPolicy
    aten = torch.ops.aten
    values = []
    for choose in (
        lambda _, op, *args, **kwargs: (
            policy.MUST_SAVE if op is aten.addmm.default else policy.PREFER_RECOMPUTE
        ),
        lambda _, op, *args, **kwargs: (
            policy.PREFER_SAVE if op is aten.mish.default else policy.MUST_RECOMPUTE
        ),
        [aten.addmm.default],
    ):
        context = functools.partial(checkpoints.create_selective_checkpoint_contexts, choose)

        def function(net, x, context=context):
            y = checkpoints.checkpoint(
                lambda x: F.mish(net(x)), x, use_reentrant=False, context_fn=context
            )
            return y * x.sigmoid()

        values += run_function(compile, function, input(4, 16))
    return values


# Operators


@torch.library.custom_op("fad_test::cube", mutates_args=())
def cube(x: torch.Tensor, scale: float) -> torch.Tensor:
    return x**3 * scale


@cube.register_fake
def _(x, scale):
    return torch.empty_like(x)


@torch.library.custom_op("fad_test::accumulate", mutates_args={"total"})
def accumulate(x: torch.Tensor, total: torch.Tensor) -> None:
    total.add_(x.sum())


def _save_cube(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.scale = inputs[1]


cube.register_autograd(
    lambda ctx, g: (3 * g * ctx.saved_tensors[0] ** 2 * ctx.scale, None),
    setup_context=_save_cube,
)


@feature
def custom_operator(compile):
    def function(net, x, total):
        y = cube(net(x), 0.5)
        accumulate(y.detach(), total)
        return y * F.silu(x) * total.sin()

    total = torch.ones(())
    return [*run_function(compile, function, input(4, 16), total), total]


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y.exp())
        return x * y.exp()

    @staticmethod
    def backward(ctx, g):
        x, e = ctx.saved_tensors
        return g * e, g * x * e


@feature
def custom_function(compile):
    def function(net, x):
        return Scaled.apply(net(x), x.tanh())

    return run_function(compile, function, input(4, 16))


@feature
def condition(compile):
    def function(net, x, s):
        y = net(x)
        return torch.cond(s.sum() > 0, lambda y: y.sin() * y, lambda y: F.mish(y), (y,)) * x

    return [
        *run_function(compile, function, input(4, 16), torch.ones(2)),
        *run_function(compile, function, input(4, 16), -torch.ones(2)),
    ]


def scanned(compile):
    from torch._higher_order_ops.scan import scan

    def function(net, x):
        def step(state, row):
            state = torch.tanh(state * 0.5 + row)
            # A saved result may not be a result of the step, too.
            return state.clone(), state * row

        last, every = scan(step, torch.zeros(16), net(x), dim=0)
        return last * 2, every * F.silu(x)

    return run_function(compile, function, input(4, 16))


# Goes with PyTorch 2.12, in which AOTAutograd refuses the scan.
if not is_before("2.13"):
    feature(scanned)


@feature
def mapped(compile):
    from torch._higher_order_ops.map import map as map_rows

    def function(net, x):
        return map_rows(lambda row, w: F.silu(row) @ w, net(x), net[0].weight.T) * 2

    return run_function(compile, function, input(4, 16))


@feature
def regions(compile):
    """A region that is compiled once for all of its calls."""
    region = torch.compiler.nested_compile_region(lambda x, w: F.mish(x @ w).sigmoid())

    def function(net, x):
        return region(region(net(x), net[0].weight.T[:, :16]), net[0].weight.T[:, :16])

    return run_function(compile, function, input(4, 16))


@feature
def compiled_autograd(compile):
    model = mlp()
    call = compile(model)
    y = weigh(call(input(4, 16)).sin())
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
        y.backward()
    return [y, *gradients(model)]


@feature
def vectorized(compile):
    """Gradients of samples by functional transforms."""
    model = mlp()
    parameters = {name: each.detach() for name, each in model.named_parameters()}

    def loss(parameters, x):
        return weigh(torch.func.functional_call(model, parameters, (x,)))

    def function(x):
        return torch.func.vmap(torch.func.grad(loss), (None, 0))(parameters, x), x.sin().cos()

    x = input(4, 16)
    grads, y = compile(function)(x)
    weigh(y).backward()
    return [*grads.values(), x.grad]

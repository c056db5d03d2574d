"""Training of small models, and what it is compared by."""

import copy

import torch
from fad.torch.compile import _partitioner

# How many graphs fad has planned.
plans = 0
# How values differed by AOTAutograd or Inductor without fad, and the errors that Inductor
# has without fad.
OTHER, REFUSED = [], []

_apply_plan = _partitioner.apply_plan


def _watch(graph, plan, *arguments):
    global plans
    plans += 1
    return _apply_plan(graph, plan, *arguments)


_partitioner.apply_plan = _watch


def reset():
    global plans
    plans = 0
    torch._dynamo.reset()


def weigh(y):
    """A scalar to which each element of `y` contributes in another proportion."""
    if y.is_complex():
        y = torch.view_as_real(y)
    steps = torch.linspace(0.5, 1.5, y.numel(), dtype=y.dtype if y.is_floating_point() else None)
    return (y.reshape(-1) * steps).sum()


def train(model, inputs, call, steps=3):
    """The losses of `steps` steps, and the tensors of the model after them."""
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    losses = []
    for step in range(steps):
        torch.manual_seed(step)
        optimizer.zero_grad()
        results = call(*inputs)
        results = results if isinstance(results, tuple) else (results,)
        loss = sum(weigh(y) for y in results)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [*losses, *model.parameters(), *model.buffers()]


def difference(a, b):
    a, b = a.detach(), b.detach()
    if a.numel() == 0:
        return 0.0
    if a.is_complex():
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    a, b = a.double(), b.double()
    same = (a == b) | (a.isnan() & b.isnan())
    # Some gradients are zero but for rounding.
    scale = b[b.isfinite()].abs().max().item() if b.isfinite().any() else 1.0
    return (torch.where(same, 0.0, (a - b).abs()).max() / max(scale, 1e-4)).item()


def compile_with(engine, options=None):
    options = {"fad.engine": engine, **(options or {})}

    def compile(function):
        return torch.compile(function, backend="fad", options=options)

    return compile


def check(run, engine, bound=1e-5, number_of_plans=None, options=None):
    """The error of the values of `run(compile)`, if there is one: they have to be those
    of `run` with a `compile` that does nothing. By default, fad plans at least one
    graph. `options` are for Inductor."""
    reset()
    expected = run(lambda function: function)
    try:
        values = run(compile_with(engine, options))
    except torch._inductor.exc.InductorError as error:
        if not _is_refused(run, error):
            raise
        REFUSED.append(str(error))
        return ""
    if plans != number_of_plans if number_of_plans is not None else not plans:
        return f"fad has planned {plans} graphs"
    if values is None:
        return ""
    worst = max(difference(*pair) for pair in zip(values, expected, strict=True))
    if engine == "eager" and worst > 0:
        # Some operations of AOTAutograd have another order than PyTorch's.
        if any(map(difference, values, _run_by_aot(run))):
            return f"bits differ, by {worst:.1e}"
        OTHER.append(worst)
        return ""
    if engine == "inductor" and worst > bound:
        # Inductor draws other random numbers, and orders sums in another way.
        reset()
        others = run(lambda function: torch.compile(function, options=options))
        with_stock = max(difference(*pair) for pair in zip(values, others, strict=True))
        if with_stock <= bound:
            OTHER.append(worst)
            return ""
    return "" if worst <= bound else f"differs by {worst:.1e}"


def _run_by_aot(run):
    """The values by AOTAutograd without fad. Of some graphs, those without
    decompositions fail at a view of other strides."""
    reset()
    try:
        return run(torch.compile(backend="aot_eager"))
    except RuntimeError:
        reset()
        return run(torch.compile(backend="aot_eager_decomp_partition"))


def _is_refused(run, error):
    """Whether Inductor without fad has the same error."""
    reset()
    try:
        run(torch.compile)
    except torch._inductor.exc.InductorError as other:
        return str(other).splitlines()[0] == str(error).splitlines()[0]
    return False


def check_training(model, inputs, engine, **options):
    """The error of the training of `model`, if there is one."""

    def run(compile):
        trained = copy.deepcopy(model)
        return train(trained, inputs, compile(trained))

    return check(run, engine, **options)

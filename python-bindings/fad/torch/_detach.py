"""Values through which no gradient flows.

MLIR has no operation for these. A value that is detached is computed from
arguments that are not differentiated: each trained parameter that it depends on
is passed a second time."""

import copy

from ._requirements import torch

_DETACHED = "fad_detached"


@torch.library.custom_op("fad::detach", mutates_args=())
def detach(x: "torch.Tensor") -> "torch.Tensor":
    """Stands for a detached value until `separate` has removed it."""
    return x.clone()


@detach.register_fake
def _(x):
    return torch.empty_like(x)


def embed(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """An embedding whose row `padding_idx` gets no gradient."""
    if scale_grad_by_freq:
        raise ValueError(
            "an embedding with scale_grad_by_freq has a gradient that is not that "
            "of its values; scale the gradient after the step instead"
        )
    if padding_idx < 0:
        return NotImplemented
    rows = torch.nn.functional.embedding(indices, weight)
    padding = (indices == padding_idx).unsqueeze(-1)
    return torch.where(padding, detach(weight[padding_idx]), rows)


def mark_no_grad(exported) -> None:
    """Detaches what is computed under `torch.no_grad()`."""
    graph = exported.graph
    for node in list(graph.nodes):
        if node.target is not torch.ops.higher_order.wrap_with_set_grad_enabled:
            continue
        if node.args[0]:
            continue
        for result in list(node.users):
            with graph.inserting_after(result):
                detached = graph.call_function(torch.ops.aten.detach.default, (result,))
            detached.meta = copy.copy(result.meta)
            # New values of buffers have no gradient anyway.
            result.replace_all_uses_with(
                detached,
                delete_user_cb=lambda user: user is not detached
                and user.op != "output",
            )


def is_detached(node) -> bool:
    """Whether the placeholder `node` is a parameter passed a second time."""
    return node.meta.get(_DETACHED, False)


class RandomError(Exception):
    """A detached value depends on random numbers, which are drawn once."""


def separate(exported, trained) -> None:
    """Removes `detach` from the graph. `trained` is the placeholders of the
    parameters that are trained."""
    graph = exported.graph
    marks = [each for each in graph.nodes if each.target is _get_target()]
    if not marks:
        return
    copies = {}
    for mark in marks:
        for node in _find_varied(mark.args[0], trained, copies):
            if node in trained:
                copies[node] = _copy_placeholder(exported, node)
            else:
                copies[node] = _copy_node(graph, node, copies)
        source = mark.args[0]
        mark.replace_all_uses_with(copies.get(source, source))
        graph.erase_node(mark)
    graph.eliminate_dead_code()


def _get_target():
    return torch.ops.fad.detach.default


def _find_varied(value, trained, copies) -> list:
    """What `value` is computed from and depends on a trained parameter, in
    order, as far as it has no copy yet."""
    needed, stack = set(), [value]
    while stack:
        node = stack.pop()
        if node not in needed:
            needed.add(node)
            stack.extend(node.all_input_nodes)
    varied, order = set(copies), []
    for node in value.graph.nodes:
        if node not in needed or node in copies:
            continue
        if node in trained or any(each in varied for each in node.all_input_nodes):
            varied.add(node)
            order.append(node)
    return order


def _copy_placeholder(exported, node):
    graph = exported.graph
    with graph.inserting_after(node):
        second = graph.placeholder(f"{node.name}_detached")
    second.meta = {**node.meta, _DETACHED: True}
    specs = exported.graph_signature.input_specs
    index = next(i for i, spec in enumerate(specs) if spec.arg.name == node.name)
    spec = copy.copy(specs[index])
    spec.arg = type(spec.arg)(name=second.name)
    specs.insert(index + 1, spec)
    return second


def _copy_node(graph, node, copies):
    tags = getattr(node.target, "tags", ())
    if torch.Tag.nondeterministic_seeded in tags:
        raise RandomError(
            f"a detached value depends on {node.target}, which draws random numbers; "
            "draw them outside of the model and pass them as an input"
        )
    with graph.inserting_after(node):
        second = graph.node_copy(node, lambda each: copies.get(each, each))
    second.meta = copy.copy(node.meta)
    return second

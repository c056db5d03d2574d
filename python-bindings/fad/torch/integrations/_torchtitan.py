"""fad as a memory policy of torchtitan's graph_trainer.

torchtitan traces a step, forward, loss and backward, to one graph, and a memory policy marks the
operations of forward whose results are saved; its pass repeats the others in backward. Marks
name operations of the graph, so that a derivative or a mask in few bits, which fad would save in
their place, is not to be had: the tensors that they are computed from are saved."""

import operator
from typing import Any, Mapping

import torch
from torch import fx
from torch.utils.checkpoint import CheckpointPolicy

from ..compile._backend import read_options
from ..compile._graph import find_target
from ..compile._import import import_joint
from ..compile._graph import copy_graph
from ..compile._partitioner import Partitioner
from ..compile._pytorch import get_annotations, get_policy, is_of_autograd, set_policy

try:
    from torchtitan.experiments.graph_trainer import registry
except ImportError as error:
    raise ImportError(
        "fad.torch.integrations.register_memory_policy needs torchtitan 0.3; install it with: "
        "pip install torchtitan"
    ) from error

# The module of the loss and of the head, in the names of torchtitan, whose pass repeats nothing
# there.
_UNMARKED = ("lm_head", "loss")


def register_memory_policy(
    name: str = "fad",
    budget: int | float | str | None = None,
    *,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Adds the memory policy `name` to torchtitan's graph_trainer, for its configuration
    `compile.memory_policy`.

    `budget` bounds the peak of a step, as the option `fad.budget` of `torch.compile` does,
    and `options` are the others whose names begin with `fad.`."""
    own = {**(options or {}), **({} if budget is None else {"fad.budget": budget})}
    for each in own:
        if not each.startswith("fad.") or each == "fad.engine":
            raise ValueError(f"a memory policy has no option {each!r}; its own begin with 'fad.'")
    read_options(own, None, Partitioner)

    def tag(gm: fx.GraphModule, *, config: Any) -> fx.GraphModule:
        return tag_by_fad(gm, read_options(own, None, Partitioner)[0])

    registry.register_memory_policy(name)(tag)


def tag_by_fad(gm: fx.GraphModule, partitioner: Partitioner) -> fx.GraphModule:
    """Marks the operations of forward in a graph of torchtitan's, by a plan of fad's."""
    partitioner.is_fused = False
    joint = _make_joint(gm.graph)
    imported = import_joint(joint, 1, set(), False)
    plan = partitioner.find_plan(
        imported.module,
        {"target": find_target(joint), "reassociate": "never", **partitioner.options},
        imported.gradient_bytes,
    )
    saved = _find_saved(plan)
    backward = _find_backward(gm.graph)
    for node in gm.graph.nodes:
        fqn = get_annotations(node).get("module_fqn", "")
        if node.op != "call_function" or node in backward or fqn.startswith(_UNMARKED):
            continue
        policy = CheckpointPolicy.PREFER_RECOMPUTE
        if node.name in saved or _is_bound(node):
            policy = CheckpointPolicy.MUST_SAVE
        # Parts of a result are of the operation.
        if node.target is operator.getitem:
            whole = node.args[0]
            if node.name in saved:
                set_policy(whole, CheckpointPolicy.MUST_SAVE)
            decided = get_policy(whole)
            policy = policy if decided is None else decided
        set_policy(node, policy)
    return gm


def _find_backward(graph: fx.Graph) -> set[fx.Node]:
    return {node for node in graph.nodes if is_of_autograd(node)}


def _is_bound(node: fx.Node) -> bool:
    """Tells whether torchtitan's pass must not repeat `node`: random numbers, and numbers."""
    is_random = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
    return is_random or not isinstance(node.meta.get("val"), (torch.Tensor, tuple, list))


# Operations that make the cotangent of a loss.
_SEEDS = {torch.ops.aten.ones_like.default, torch.ops.aten.full_like.default}


def _make_joint(graph: fx.Graph) -> fx.Graph:
    """Returns a copy of a step's graph in the form of AOTAutograd: the cotangent of the loss, which
    backward makes in the step, is an input. A loss in chunks has one for each, of one shape."""
    joint = copy_graph(graph)
    backward = _find_backward(joint)
    seeds = [
        node
        for node in joint.nodes
        if node.target in _SEEDS and node not in backward and backward.issuperset(node.users)
    ]
    shapes = {tuple(node.meta["val"].shape) for node in seeds}
    if len(shapes) != 1:
        raise ValueError(
            f"fad's memory policy needs a step with one loss, or one in equal chunks, and this "
            f"has cotangents of {len(shapes)} shapes"
        )
    with joint.inserting_before(next(iter(joint.nodes))):
        tangent = joint.placeholder("tangents_1")
    tangent.meta = dict(seeds[0].meta)
    for node in seeds:
        node.replace_all_uses_with(tangent)
        joint.erase_node(node)
    return joint


def _find_saved(plan: Mapping[str, Any]) -> set[str]:
    """Returns the names of the operations whose results `plan` saves, or computes new ones from."""
    new = {entry["name"]: entry["args"] for entry in plan["new"]}
    worklist = [entry["name"] for entry in plan["saved"]]
    saved = set()
    while worklist:
        name = worklist.pop()
        if name in new:
            worklist += [argument for argument in new[name] if isinstance(argument, str)]
        else:
            saved.add(name)
    return saved

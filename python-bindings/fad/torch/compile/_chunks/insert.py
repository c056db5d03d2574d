"""The places of regions in a joint graph, as operators that a plan sees."""

import operator

import torch
from torch import fx

from .._build import Builder, Values
from .._graph import KIND, SCRATCH, find_makers
from .._pytorch import PLACE, get_schema
from .._sizes import TIME
from .loop import LOOP, Loop, make_loop
from .operators import REGION
from .regions import Region
from .sizes import NotSeparable, find_inputs

aten, prims = torch.ops.aten, torch.ops.prims


def insert_regions(graph: fx.Graph, regions: list[Region], chunks: int, is_fused: bool) -> None:
    """Replaces the operations of `regions` in `graph` by `fad::region`, for a compiler that fuses
    operations or not. Raises NotSeparable, and changes nothing, where these would change the order of effects."""
    values = Values(graph)
    inside = {node for region in regions for node in region.nodes}
    for region in regions:
        _check_moved(_find_moved(graph, region, region.find_inputs(), inside)[1])
    loops = [make_loop(region, chunks, values, is_fused) for region in regions]
    replaced: dict[fx.Node, fx.Node] = {}
    for region, loop in zip(regions, loops):
        inputs = [replaced.get(node, node) for node in region.find_inputs()]
        node = _insert(graph, region, loop, inputs, inside)
        replaced |= _read_results(graph, values, region, node, inside)
        for old in region.results:
            old.replace_all_uses_with(replaced[old], lambda user: user not in inside)
    for node in reversed(graph.nodes):
        if node in inside and not node.users:
            graph.erase_node(node)


def _find_moved(
    graph: fx.Graph, region: Region, inputs: list[fx.Node], inside: set[fx.Node]
) -> tuple[fx.Node, list[fx.Node]]:
    """Returns the first reader of `region`, and what the `inputs` need of the nodes behind it, which
    have to move before it."""
    order = {node: place for place, node in enumerate(graph.nodes)}
    readers = [user for node in region.results for user in node.users if user not in inside]
    first = min(readers, key=order.__getitem__)
    makers = find_makers(inputs, lambda node: order[node] >= order[first] and node not in inside)
    return first, sorted(makers, key=order.__getitem__)


def _check_moved(nodes: list[fx.Node]) -> None:
    for node in nodes:
        schema = get_schema(node)
        is_random = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
        if is_random or (schema is not None and schema.is_mutable):
            raise NotSeparable(f"{node.name} has an effect, and others would come after it")


def _insert(
    graph: fx.Graph, region: Region, loop: Loop, inputs: list[fx.Node], inside: set[fx.Node]
) -> fx.Node:
    """Adds `fad::region` before its first reader, and after all that it reads."""
    first, moved = _find_moved(graph, region, inputs, inside)
    for node in moved:
        first.prepend(node)
    known = find_inputs(graph)
    operands = (inputs, [known[symbol] for symbol in loop.symbols], loop.name)
    with graph.inserting_before(first):
        node = graph.call_function(REGION, operands)
    place = region.seed.meta
    node.meta.update({key: place[key] for key in PLACE if key in place})
    node.meta["val"], node.meta[LOOP] = loop.values, loop
    node.meta[SCRATCH], node.meta[TIME] = loop.scratch, loop.time
    # Backward may repeat a layer of forward as it may repeat a product. A loss has its gradients.
    node.meta[KIND] = "keep" if region.cotangent else "contraction"
    return node


def _read_results(
    graph: fx.Graph, values: Values, region: Region, node: fx.Node, inside: set[fx.Node]
) -> dict[fx.Node, fx.Node]:
    """Returns the results of `node` by those of `region`, multiplied by the cotangent."""
    found, last = {}, node
    for number, old in enumerate(region.results):
        with graph.inserting_after(last):
            last = new = graph.call_function(operator.getitem, (node, number))
        new.meta.update({key: node.meta[key] for key in PLACE if key in node.meta})
        new.meta["val"] = node.meta["val"][number]
        build = Builder(graph, values, new)
        if old in region.scaled:
            # The product takes other memory, and so it waits for its first reader.
            build.last = min(user for user in old.users if user not in inside).prev
            new = build(aten.mul.Tensor, new, region.cotangent)
        dtype = old.meta["val"].dtype
        if new.meta["val"].dtype != dtype:
            new = build(prims.convert_element_type.default, new, dtype)
        found[old] = new
    return found

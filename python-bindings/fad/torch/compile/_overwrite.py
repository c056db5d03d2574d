"""Results of a kernel of a GPU in the memory of its operands.

Inductor lets an operation write over an operand where it depends on all others that read the
operand. A kernel may have several results of the same operands, such as the gradients of both factors
of a gated layer, of which none depends on another: each takes memory of its own while all operands
are there.

A kernel without reductions loads all of an element before it stores its results, and has its
operations in some order. So the last one that reads an operand may write over it. fad tells Inductor
that it follows the others, and chooses an order in which more operations are the last to read one.
Inductor compares elements that are read by the same name: an operand that is in the memory of
another one of the kernel stays."""

from typing import Any, Container, Sequence

from ._pytorch import (
    BaseSchedulerNode,
    FusedSchedulerNode,
    MemoryDep,
    OrderedSet,
    can_match_buffer_size,
)

# By operation of a kernel and operand that it reads, whether it may write over it.
_Reads = dict[BaseSchedulerNode, dict[str, bool]]


def let_overwrite(kernel: BaseSchedulerNode, kept: Container[str]) -> None:
    """Lets each operation of a fused `kernel` write over an operand that the others have read before.
    Operands that are `kept`, as later kernels read them, stay, and so do those that are not the
    graph's to free."""
    if type(kernel) is not FusedSchedulerNode or not _is_elementwise(kernel):
        return
    read = {read.name for read in kernel.read_writes.reads}
    operands = {name for name in read if name not in kept and _find(kernel, name)}
    kernel.snodes = _order(kernel.get_nodes(), operands)
    shared = _find_shared(kernel.get_nodes())
    before: OrderedSet[str] = OrderedSet()
    for node in kernel.get_nodes():
        if shared.isdisjoint(read.name for read in node.read_writes.reads):
            node.ancestors = node.ancestors | before
        before |= node.get_operation_names()


def find_overwritten(kernel: BaseSchedulerNode, last: Container[str], results: int) -> list[str]:
    """Returns those of the operands `last`, which nothing reads behind `kernel`, that results of the
    kernel are written over, of which so many `results` are in memory."""
    if not _is_elementwise(kernel):
        return []
    order = _order(kernel.get_nodes(), last)
    # An intermediate value may be over another operand, which saves nothing.
    return _list_overwritten(order, _find_reads(order, last))[:results]


def _is_elementwise(kernel: BaseSchedulerNode) -> bool:
    return not (kernel.is_extern() or kernel.is_template() or kernel.is_reduction())


def _find_shared(nodes: Sequence[BaseSchedulerNode]) -> set[str]:
    """Returns the operands of `nodes` whose memory another one of them uses by another name, such as a
    part of a concatenation."""
    users: dict[str, set[str]] = {}
    for node in nodes:
        for read in node.read_writes.reads:
            users.setdefault(read.name, set()).add(node.get_name())
    names = {node.get_name() for node in nodes}
    # Inductor has one list of users for all names of a buffer.
    buffers = nodes[0].scheduler.name_to_buf
    return {
        name
        for name, own in users.items()
        if name in buffers
        and any(
            user.get_name() in names and user.get_name() not in own for user in buffers[name].users
        )
    }


def _find_reads(nodes: Sequence[BaseSchedulerNode], operands: Container[str]) -> _Reads:
    shared = _find_shared(nodes)
    accesses: dict[str, set[object]] = {}
    for node in nodes:
        for read in node.read_writes.reads:
            accesses.setdefault(read.name, set()).add(read)
    return {
        node: {
            read.name: len(accesses[read.name]) == 1
            and read.name not in shared
            and all(_matches(node, read, write) for write in node.read_writes.writes)
            for read in node.read_writes.reads
            if read.name in operands
        }
        for node in nodes
    }


def _matches(node: BaseSchedulerNode, read: object, write: object) -> bool:
    """Tells whether `node` writes an element where it has read one, and Inductor may have all that it
    writes in the memory of all that it reads."""
    if not isinstance(read, MemoryDep) or not isinstance(write, MemoryDep):
        return False
    if (read.index, read.size) != (write.index, write.size):
        return False
    operand, result = _find(node, read.name), _find(node, write.name)
    # Results of kernels that a user has written have no layout.
    has_layouts = all(each is not None and each.maybe_get_layout() for each in (operand, result))
    if not has_layouts or result.get_mutation_names():
        return False
    return can_match_buffer_size(operand, result)


def _find(node: BaseSchedulerNode, name: str) -> Any:
    """Returns the buffer `name` of the graph of `node`; None for an input that is not the graph's to
    free."""
    scheduler = node.scheduler
    found = scheduler.name_to_donated_buffer.get(name) or scheduler.name_to_buf.get(name)
    return found and found.node


def _list_overwritten(nodes: Sequence[BaseSchedulerNode], reads: _Reads) -> list[str]:
    """Returns an operand for each of `nodes`, in their order, that is the last to read one that it may
    write over."""
    seen: set[str] = set()
    found = []
    for node in reversed(nodes):
        fits = [name for name, matches in reads[node].items() if matches and name not in seen]
        found += fits[:1]
        seen |= reads[node].keys()
    return found


def _order(nodes: Sequence[BaseSchedulerNode], operands: Container[str]) -> list[BaseSchedulerNode]:
    """Returns `nodes` in an order in which more of them write over `operands`, if one is found: from
    the last to the first, each reads as few as possible that are not read behind it."""
    reads = _find_reads(nodes, operands)
    names = {node.get_name() for node in nodes}
    needed = {node: names & node.ancestors for node in nodes}
    rest, order = list(nodes), []
    seen: set[str] = set()

    def rate(node: BaseSchedulerNode) -> tuple[bool, int]:
        new = reads[node].keys() - seen
        return not any(reads[node][name] for name in new), len(new)

    while rest:
        others = set().union(*(needed[node] for node in rest))
        free = [node for node in reversed(rest) if node.get_name() not in others]
        chosen = min(free, key=rate)
        rest.remove(chosen)
        order.insert(0, chosen)
        seen |= reads[chosen].keys()
    more = len(_list_overwritten(order, reads)) > len(_list_overwritten(nodes, reads))
    return order if more else list(nodes)

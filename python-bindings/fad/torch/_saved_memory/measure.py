"""Memory that autograd holds between forward and backward: `saved_memory`."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..._dict import AsJson
from ..._figures import choose_unit, show_bytes
from ..._layers import group_rows, label
from .allocator import is_on_gpu, watch_allocator
from .arguments import check_own, take_keywords
from .held import Graph, Held, find_storages, walk_graph
from .modules import ModuleMarks
from .referred import find_modules, find_tensors, restored
from .._pytorch import get_storage_id, is_compiled, tree_leaves
from .._requirements import torch
from .._text import align

# So many tensors are listed in a table.
_LISTED = 20


@dataclass(frozen=True)
class HeldTensor:
    """A storage that autograd holds.

    `operator` is the name of the first node in the order of forward that holds it, such
    as "MulBackward0", `name` what the node has it as, and `module` the innermost module
    that ran when the node was made; the model itself has the empty name. `shape` and
    `dtype` are those of the tensor there. `bytes` are those of the whole storage. `kind`
    is "saved", "result" for one that the function returns as well, or "parameter",
    "buffer" or "input" for one that is alive anyway. `holders` are all nodes that hold
    it, with their names of it."""

    operator: str
    name: str
    module: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    bytes: int
    kind: str
    holders: tuple[str, ...]

    @property
    def counts(self) -> bool:
        """Whether the bytes are kept for backward, and not alive anyway."""
        return self.kind in ("saved", "result")


def _get_row(tensor: HeldTensor) -> tuple[int, str, str]:
    """Returns the bytes of a tensor, and what a row has of it beside its module."""
    type_ = f"{tensor.dtype}[{','.join(map(str, tensor.shape))}]"
    return tensor.bytes, type_, ", ".join(tensor.holders)


@dataclass(frozen=True)
class SavedMemory(AsJson):
    """Bytes that autograd holds after forward, and those of the allocator.

    `tensors` has each storage once, in the order of forward. `bytes` is the sum of those
    that count: neither parameters nor buffers nor inputs. `resident` is what PyTorch's
    allocator gave during forward and has not got back, with the results, `forward_peak`
    the most during forward, and `peak` the most during forward and backward; each is
    beyond what was there before, and None where it was not measured. `unseen` are the
    names of nodes that hold what Python cannot see. `str(saved)` is `saved.table()`."""

    tensors: tuple[HeldTensor, ...]
    resident: int | None
    forward_peak: int | None
    peak: int | None
    unseen: tuple[str, ...]

    @property
    def bytes(self) -> int:
        return sum(self.by_kind.get(kind, 0) for kind in ("saved", "result"))

    @property
    def by_kind(self) -> dict[str, int]:
        """The bytes of each kind; those of parameters, buffers and inputs, too."""
        return self._sum(self.tensors, lambda tensor: tensor.kind)

    @property
    def by_operator(self) -> dict[str, int]:
        """The bytes that count, by the node that holds them first."""
        return self._sum(self._counted, lambda tensor: tensor.operator)

    @property
    def by_module(self) -> dict[str, int]:
        """The bytes that count, by the module of that node."""
        return self._sum(self._counted, lambda tensor: tensor.module)

    @property
    def _counted(self) -> list[HeldTensor]:
        return [tensor for tensor in self.tensors if tensor.counts]

    @staticmethod
    def _sum(tensors: Any, key: Callable[[HeldTensor], str]) -> dict[str, int]:
        sums: Counter[str] = Counter()
        for tensor in tensors:
            sums[key(tensor)] += tensor.bytes
        return dict(sums)

    def summary(self) -> str:
        """Returns a sentence with the bytes that count, and the peak of a step, where it was
        measured."""
        count = len(self._counted)
        sentence = f"autograd keeps {show_bytes(self.bytes)} for backward, of {count} tensor"
        sentence += "s" if count != 1 else ""
        return sentence + ("" if self.peak is None else f"; peak of a step {show_bytes(self.peak)}")

    def table(self) -> str:
        """Returns all of it as text. Equal layers are one row, with the sum of their bytes."""
        kinds = self.by_kind
        rows = {"kept for backward": self.bytes}
        named = {
            "result": "  of these, results",
            "parameter": "not counted: parameters",
            "buffer": "not counted: buffers",
            "input": "not counted: inputs",
        }
        rows.update((name, kinds[kind]) for kind, name in named.items() if kinds.get(kind))
        measured = {
            "resident after forward": self.resident,
            "peak of forward": self.forward_peak,
            "peak of the step": self.peak,
        }
        rows.update((f"{k}, allocator", v) for k, v in measured.items() if v is not None)
        unit = choose_unit(rows.values())
        lines = [[name, unit.show(size)] for name, size in rows.items()]
        parts = [self.summary(), align([[unit.name, ""], *lines], 1)]
        for title, sums in (("operator", self.by_operator), ("module", self.by_module)):
            if sums:
                parts.append(self._list_sums(title, sums))
        parts += self._list_largest()
        if self.unseen:
            parts.append(f"not seen: what {', '.join(self.unseen)} holds")
        return "\n\n".join(parts) + "\n"

    def _list_sums(self, title: str, sums: Mapping[str, int]) -> str:
        counts = Counter(getattr(tensor, title) for tensor in self._counted)
        unit = choose_unit(sums.values())
        rows = [[f"{unit.name} by {title}", "tensors", "kept"]]
        for names in group_rows(sums, str, lambda name: (counts[name], sums[name])):
            number, size = (sum(each[name] for name in names) for each in (counts, sums))
            rows.append([label(names), str(number), unit.show(size)])
        return align(rows, 1)

    def _list_largest(self) -> list[str]:
        groups = group_rows(self._counted, lambda tensor: tensor.module, _get_row)
        groups.sort(key=lambda group: -len(group) * group[0].bytes)
        if not groups:
            return []
        sizes = [sum(tensor.bytes for tensor in group) for group in groups]
        unit = choose_unit(sizes)
        rows = [[unit.name, "tensor", "held by", "module"]]
        for group, size in zip(groups[:_LISTED], sizes):
            _, type_, holders = _get_row(group[0])
            rows.append([unit.show(size), type_, holders, label([each.module for each in group])])
        width = max(len(row[0]) for row in rows)
        text = align([[row[0].rjust(width), *row[1:]] for row in rows], 4)
        rest = sum(map(len, groups[_LISTED:]))
        return [text + (f"\n... and {rest} more in smaller rows" if rest else "")]

    def __str__(self) -> str:
        return self.table()

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as a dictionary."""
        data = asdict(self)
        for name in ("bytes", "by_kind", "by_operator", "by_module"):
            data[name] = getattr(self, name)
        return data

    def plot(self, axes: Any = None, by: str = "module") -> Any:
        """Draws the bytes by "module" or by "operator" as bars, and returns the axes.

        `fad.plot.saved` draws several reports beside each other."""
        from ... import plot

        return plot.saved({"": self}, axes, by)


def saved_memory(
    fn: Callable[..., Any],
    /,
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    measure: bool = True,
    **keywords: Any,
) -> SavedMemory:
    """Memory that autograd holds for the backward of `fn(*inputs, **kwargs, **keywords)`.

    `fn` is a module or a function, in eager PyTorch, nested by `fad.torch.nest`, or
    compiled. It runs once for the graph, whose nodes are read without being unpacked, and
    with `measure` once more, with backward, for the allocator. Buffers, random numbers
    and `.grad` are as before afterwards. Only PyTorch's allocator is measured: that of
    the GPU where a tensor is there, and else that of the CPU.

    Raises ValueError where no result needs a gradient."""
    name = "fad.torch.saved_memory"
    check_own(name, "measure", measure, (bool,), "True or False")
    kwargs = take_keywords(name, fn, inputs, kwargs, keywords, ("kwargs", "measure"))
    known = find_tensors((fn, inputs, kwargs))
    modules = {} if is_compiled(fn) else find_modules((fn, inputs, kwargs))

    def call() -> list[torch.Tensor]:
        leaves = tree_leaves(fn(*inputs, **kwargs))
        found = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if not any(leaf.requires_grad for leaf in found):
            raise ValueError("no result of the function needs a gradient, so nothing is held")
        return found

    with restored(known):
        with ModuleMarks(modules) as marks:
            results = call()
        graph = walk_graph(results, known)
        tensors = _describe(graph, marks, results, known, tree_leaves((inputs, kwargs)))
    differentiable = [tensor for tensor in known if tensor.requires_grad]
    leaves = list({id(tensor): tensor for tensor in differentiable + graph.leaves}.values())
    unseen = tuple(graph.unseen)
    # Nothing of this run is alive in the next one.
    del graph, results
    resident = forward_peak = peak = None
    if measure:
        with restored(known):
            forward, step = _measure(call, leaves, is_on_gpu([*known, *leaves]))
        resident, forward_peak = forward.resident, forward.peak
        peak = max(forward.peak, forward.resident + step.peak)
    return SavedMemory(tensors, resident, forward_peak, peak, unseen)


def _measure(
    call: Callable[[], list[torch.Tensor]], leaves: list[torch.Tensor], on_gpu: bool
) -> tuple[Any, Any]:
    """Returns the bytes that the allocator gives during forward, and then during backward."""
    results, forward = watch_allocator(call, on_gpu)
    trained = [result for result in results if result.requires_grad]

    def step() -> Any:
        ones = [torch.ones_like(result) for result in trained]
        return torch.autograd.grad(trained, leaves, ones, allow_unused=True)

    return forward, watch_allocator(step, on_gpu)[1]


def _describe(
    graph: Graph,
    marks: ModuleMarks,
    results: list[torch.Tensor],
    known: list[torch.Tensor],
    inputs: list[Any],
) -> tuple[HeldTensor, ...]:
    kinds: dict[int, str] = {}

    def mark(tensors: list[Any], kind: str) -> None:
        for tensor in tensors:
            if isinstance(tensor, torch.Tensor):
                for storage in find_storages(tensor):
                    kinds.setdefault(get_storage_id(storage), kind)

    is_parameter = {id(t): isinstance(t, torch.nn.Parameter) for t in known + graph.leaves}
    mark([t for t in known + graph.leaves if is_parameter[id(t)]], "parameter")
    mark([*inputs, *graph.leaves], "input")
    mark(known, "buffer")
    mark(results, "result")
    first: dict[int, tuple[Held, int]] = {}
    holders: dict[int, dict[str, None]] = {}
    for held in graph.held:
        for storage in find_storages(held.tensor):
            key = get_storage_id(storage)
            first.setdefault(key, (held, storage.nbytes()))
            holder = f"{held.node.name()}.{held.name}"
            holders.setdefault(key, {})[holder] = None
    return tuple(
        HeldTensor(
            operator=held.node.name(),
            name=held.name,
            module=marks.find(held.node),
            shape=tuple(map(int, held.tensor.shape)),
            dtype=str(held.tensor.dtype).removeprefix("torch."),
            device=str(held.tensor.device),
            bytes=size,
            kind=kinds.get(key, "saved"),
            holders=tuple(holders[key]),
        )
        for key, (held, size) in first.items()
    )

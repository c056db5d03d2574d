"""AOTAutograd's joint graph as a function for fad's selection of residuals.

Tensors have the sizes that PyTorch expects (its hints), so all types are static.
Elementwise operations have scalar bodies, and all others are `fad.opaque`. The
graph stays the program: this function only serves to choose."""

import json
import math
from dataclasses import dataclass, field
from typing import Any, Iterable, NamedTuple, Sequence

import torch
from torch import fx

from ..._operators.writer import Body, Unsupported
from .._types import FLOAT_TYPES, MLIR_TYPES
from ._graph import (
    describe_fusion,
    find_kind,
    find_memory,
    find_readers,
    find_target,
    is_bound,
    is_decision,
    is_part,
    is_tangent,
    is_write,
)
from ._pytorch import is_bound_to_backward, tree_leaves
from ._scalars import LINEAR, RULES, Operand
from ._sizes import estimate_size, estimate_time


class _Type(NamedTuple):
    """A type of tensors."""

    sizes: tuple[int, ...]
    element: str

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.sizes)}{self.element}>"


# A cotangent without elements, on which backward's effects depend, and its type.
_BACKWARD, _NOTHING = "%backward", _Type((0,), "f32")


class NotPlanned(Exception):
    """A graph that has no form here. Its message is the reason."""


@dataclass
class Imported:
    """The text of the function, and how to find the graph in it."""

    text: str
    # The tensor operands of each operation, by the name of its first result.
    operands: dict[str, list[fx.Node]]
    # The results of the function that are results of the graph.
    results: list[fx.Node]
    # Bytes of the gradients, which are alive at the end of backward.
    gradient_bytes: int


@dataclass
class _Importer:
    graph: fx.Graph
    num_forward_outputs: int
    # The inputs that forward changes in place.
    mutated: set[fx.Node]
    # Whether the graph is for Inductor, which fuses operations.
    is_fused: bool
    # Selections of nodes, by their names.
    proposals: Sequence[Sequence[str]] = ()
    lines: list[str] = field(default_factory=list)
    # The text of the arguments, the types of the cotangents among them, and the number of others.
    arguments: list[str] = field(default_factory=list)
    cotangents: list[_Type] = field(default_factory=list)
    num_inputs: int = 0
    values: dict[fx.Node, str] = field(default_factory=dict)
    types: dict[fx.Node, _Type] = field(default_factory=dict)
    dependent: set[fx.Node] = field(default_factory=set)
    empty: dict[_Type, str] = field(default_factory=dict)
    operands: dict[str, list[fx.Node]] = field(default_factory=dict)
    # Effects of forward and of backward, besides their results.
    forward_effects: list[str] = field(default_factory=list)
    backward_effects: list[str] = field(default_factory=list)
    # Operations that read what backward changes, when backward runs.
    late: set[fx.Node] = field(default_factory=set)

    def run(self) -> Imported:
        readers = find_readers(self.graph, self.num_forward_outputs, self.mutated)
        self.late = set(readers.backward)
        for node in self.graph.nodes:
            if node.op == "placeholder":
                self.add_argument(node)
            elif node.op != "output":
                self.add_node(node)
        return self.finish()

    # Types

    def shape(self, value: torch.Tensor) -> tuple[int, ...]:
        return tuple(estimate_size(size) for size in value.shape)

    def type(self, value: Any, is_dependent: bool = False) -> _Type:
        """The type of `value`: its bytes count, and what depends on a cotangent is
        made of floats, or it would end the dependence."""
        if not isinstance(value, torch.Tensor):
            return _Type((), "f64")
        sizes = self.shape(value)
        element = MLIR_TYPES.get(value.dtype)
        if value.dtype.is_complex:
            sizes, element = (*sizes, 2), f"f{4 * value.dtype.itemsize}"
        elif element is None:
            element = f"i{8 * value.dtype.itemsize}"
        if is_dependent and not value.dtype.is_complex and element not in FLOAT_TYPES:
            element = {1: "f8E5M2", 2: "f16", 4: "f32", 8: "f64"}[value.dtype.itemsize]
        return _Type(sizes, element)

    def set(self, node: fx.Node, value: str) -> None:
        self.values[node] = value
        self.types[node] = self.type(node.meta.get("val"), node in self.dependent)

    # Arguments

    def add_argument(self, node: fx.Node) -> None:
        if is_tangent(node):
            self.dependent.add(node)
        if not isinstance(node.meta.get("val"), torch.Tensor):
            return
        self.set(node, f"%{node.name}")
        self.write_argument(
            f"%{node.name}", self.types[node], is_tangent(node), [f'fad.nodes = ["{node.name}"]']
        )
        if node in self.mutated:
            # Backward would see the new values: what it reads has to be a copy.
            self.add_opaque(node, "clone", "keep", [node], [node])

    def write_argument(
        self, name: str, type: _Type, is_cotangent: bool = False, marks: Iterable[str] = ()
    ) -> str:
        marks = list(marks)
        if is_cotangent:
            marks.append(f"fad.cotangent = {len(self.cotangents)} : i64")
            self.cotangents.append(type)
        else:
            self.num_inputs += 1
        self.arguments.append(f"{name}: {type}" + (f" {{{', '.join(marks)}}}" if marks else ""))
        return name

    # Operations

    def add_node(self, node: fx.Node) -> None:
        if node in self.late or any(used in self.dependent for used in node.all_input_nodes):
            self.dependent.add(node)
        if is_part(node) or node.op == "get_attr":
            return
        if is_write(node):
            # It does not read its destination, which may be a cotangent.
            is_backward = node in self.dependent or is_bound_to_backward(node)
            self.add_effect(node, node.args[1:2], is_backward)
            return
        is_tensor = isinstance(node.meta.get("val"), torch.Tensor)
        if is_tensor and node not in self.late and self.add_elementwise(node):
            return
        # The results of several, of which some may be parts of parts.
        results, worklist = [], [node]
        while worklist:
            result = worklist.pop()
            parts = [user for user in result.users if is_part(user)]
            if not parts and self.is_value(result, node in self.dependent):
                results.append(result)
            worklist.extend(reversed(parts))
        self.add_opaque(node, str(node.target), *self.describe(node), results)

    def is_value(self, node: fx.Node, is_dependent: bool) -> bool:
        """Whether `node` is a value here. Numbers and objects are none: PyTorch saves
        what backward reads of them. But they hand dependence on."""
        return isinstance(node.meta.get("val"), torch.Tensor) or is_dependent

    def describe(self, node: fx.Node) -> tuple[str, list[fx.Node]]:
        operands = [used for used in node.all_input_nodes if used in self.values]
        kind = "keep" if self.is_fused and is_decision(node) else find_kind(node)
        if not operands:
            # A view of nothing, such as that of an integer, is no view. A tensor that
            # no tensor determines, such as one of zeros, never has to be saved.
            kind = {"view": "keep", "elementwise": "repeat"}.get(kind, kind)
        return kind, operands

    def add_opaque(
        self,
        node: fx.Node,
        name: str,
        kind: str,
        operands: list[fx.Node],
        results: list[fx.Node],
    ) -> None:
        if not results:
            return
        values, before = self.write_operands(operands, node in self.late)
        for number, result in enumerate(results):
            if node in self.dependent:
                self.dependent.add(result)
            self.set(result, f"%{node.name}.r{number}")
        names = ", ".join(f'"{result.name}"' for result in results)
        after = ", ".join(str(self.types[result]) for result in results)
        left = ", ".join(self.values[result] for result in results)
        time = estimate_time(node) if kind == "contraction" else 0
        time = f" time {time}" if time else ""
        memory = find_memory(node) if self.is_fused else []
        marks = ", ".join([f"fad.nodes = [{names}]", *memory])
        self.lines.append(
            f'{left} = fad.opaque "{name}" {kind}{time} ({values}) '
            f"{{{marks}}} : ({before}) -> ({after})"
        )
        self.operands[results[0].name] = operands

    def add_effect(self, node: fx.Node, operands: Iterable[Any], is_backward: bool) -> None:
        """Adds what `node` reads, as the operands of an operation of forward or of backward,
        whose result has no elements."""
        operands = self.tensors(operands)
        values, types = self.write_operands(operands, is_backward)
        self.lines.append(
            f'%{node.name}.effect = fad.opaque "{node.target}" keep ({values}) '
            f'{{fad.nodes = ["{node.name}"]}} : ({types}) -> {_NOTHING}'
        )
        self.operands[node.name] = operands
        effects = self.backward_effects if is_backward else self.forward_effects
        effects.append(f"%{node.name}.effect")

    def write_operands(self, operands: list[fx.Node], is_backward: bool) -> tuple[str, str]:
        """The lists of the values and the types of `operands`. What depends on a cotangent is
        backward's, whatever else it reads."""
        values = [self.values[operand] for operand in operands]
        types = [self.types[operand] for operand in operands]
        if is_backward:
            values.append(_BACKWARD)
            types.append(_NOTHING)
        return ", ".join(values), ", ".join(map(str, types))

    def add_elementwise(self, node: fx.Node) -> bool:
        """Adds `node` as an operation with a scalar body, where it has one."""
        target: Any = node.target
        rule = RULES.get(getattr(target, "overloadpacket", None))
        if rule is None or is_bound(node) or not self.is_linear(node):
            return False
        if self.is_fused and is_decision(node):
            return False
        value = node.meta["val"]
        body, operands, inputs = Body(), [], []
        for argument in node.args:
            if isinstance(argument, fx.Node) and self.has_arithmetic(argument):
                operands.append(Operand(f"%a{len(inputs)}", argument.meta["val"].dtype))
                inputs.append(argument)
            elif isinstance(argument, (bool, int, float)) or argument is None:
                operands.append(None if argument is None else Operand(argument, None))
            elif not isinstance(argument, torch.dtype):
                return False
        if not inputs or not set(node.kwargs) <= {"alpha", "rounding_mode", "memory_format"}:
            return False
        if any(isinstance(option, fx.Node) for option in node.kwargs.values()):
            return False
        options = {k: v for k, v in node.kwargs.items() if k != "memory_format"}
        try:
            result = rule(body, value.dtype, *operands, **options)
        except Unsupported:
            return False
        self.add_body(node, body, result, inputs)
        return True

    def has_arithmetic(self, node: fx.Node) -> bool:
        """Whether the type of `node` is the one that it has in PyTorch, and not one
        that only carries its bytes."""
        value = node.meta.get("val")
        if node not in self.values or not isinstance(value, torch.Tensor):
            return False
        return MLIR_TYPES.get(value.dtype) == self.types[node].element

    def is_linear(self, node: fx.Node) -> bool:
        """Whether `node` is linear in the operands that depend on a cotangent. What
        is not has no body: coefficients end there."""
        if node not in self.dependent:
            return True
        packet = node.target.overloadpacket
        if packet not in LINEAR:
            return False
        tensors = [
            number
            for number, argument in enumerate(node.args)
            if not isinstance(argument, torch.dtype)
        ]
        linear = [number for number in tensors if node.args[number] in self.dependent]
        places = LINEAR[packet]
        if places is None:
            return linear == tensors
        return len(linear) == 1 and linear[0] in places

    def add_body(self, node: fx.Node, body: Body, result: str, inputs: list[fx.Node]) -> None:
        value = node.meta["val"]
        to = self.type(value)
        shape = to.sizes
        element = MLIR_TYPES[value.dtype]
        values = ", ".join(self.values[used] for used in inputs)
        types = ", ".join(str(self.types[used]) for used in inputs)
        elements = [MLIR_TYPES[used.meta["val"].dtype] for used in inputs]
        block = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(elements))
        shapes = [self.shape(used.meta["val"]) for used in inputs]
        self.set(node, f"%{node.name}")
        nodes = f'{{fad.nodes = ["{node.name}"]}}'
        if all(other == shape for other in shapes):
            self.lines.append(
                f"%{node.name} = fad.elementwise ins({values} : {types}) attributes "
                f"{nodes} -> {to} {{\n^bb0({block}):\n{body.text}\n"
                f"fad.yield {result} : {element}\n}}"
            )
        else:
            maps = [_make_map(len(shape), other, shape) for other in shapes]
            maps.append(_make_map(len(shape), shape, shape))
            iterators = ", ".join(['"parallel"'] * len(shape))
            self.lines.append(
                f"%{node.name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
                f"iterator_types = [{iterators}]}} ins({values} : {types}) "
                f"outs({self.get_empty(to)} : {to}) attrs = {nodes} {{\n"
                f"^bb0({block}, %out: {element}):\n{body.text}\n"
                f"linalg.yield {result} : {element}\n}} -> {to}"
            )
        self.operands[node.name] = inputs

    def get_empty(self, type: _Type) -> str:
        return self.empty.setdefault(type, f"%empty.{len(self.empty)}")

    # Results

    def finish(self) -> Imported:
        output = self.graph.output_node()
        outputs = tree_leaves(output.args)
        results = list(dict.fromkeys(self.tensors(outputs[: self.num_forward_outputs])))
        gradients = list(dict.fromkeys(self.tensors(outputs[self.num_forward_outputs :])))
        others = [node for node in gradients if node not in self.dependent]
        if others:
            # Forward values that backward returns.
            self.add_effect(output, others, is_backward=True)
        gradients = [node for node in gradients if node in self.dependent]
        made = [(self.values[node], self.types[node]) for node in gradients]
        if self.backward_effects:
            self.write_argument(_BACKWARD, _NOTHING, is_cotangent=True)
            made += [(effect, _NOTHING) for effect in self.backward_effects]
        # Cotangents belong to results and gradients to arguments of their types;
        # those of the graph may have others, so each has one of its own.
        returned = [
            (self.write_argument(f"%result.{index}", type), type, "")
            for index, type in enumerate(self.cotangents)
        ]
        returned += [(self.values[node], self.types[node], "") for node in results]
        returned += [(effect, _NOTHING, "") for effect in self.forward_effects]
        for index, (value, type) in enumerate(made):
            # Arguments are numbered without cotangents.
            returned.append((value, type, f" {{fad.gradient = {self.num_inputs} : i64}}"))
            self.write_argument(f"%argument.{index}", type)
        return Imported(
            self.write(returned),
            self.operands,
            [None] * len(self.cotangents)
            + results
            + [None] * len(self.forward_effects)
            + gradients
            + [None] * len(self.backward_effects),
            sum(map(self.count_bytes, gradients)),
        )

    def write(self, returned: list[tuple[str, _Type, str]]) -> str:
        """The text of the function, which returns values of such types and attributes."""
        values = ", ".join(value for value, _, _ in returned)
        types = ", ".join(str(type) for _, type, _ in returned)
        marked = ", ".join(f"{type}{marks}" for _, type, marks in returned)
        fuses = ""
        if self.is_fused:
            fusion = describe_fusion(find_target(self.graph))
            proposals = json.dumps(self.proposals)
            fuses = f"attributes {{fad.fuses = {fusion}, fad.proposals = {proposals}}} "
        return "\n".join(
            [f"func.func @joint({', '.join(self.arguments)}) -> ({marked}) {fuses}{{"]
            + [f"{name} = tensor.empty() : {type}" for type, name in self.empty.items()]
            + self.lines
            + [f"return {values} : {types}", "}"]
        )

    def count_bytes(self, node: fx.Node) -> int:
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            return 0
        return math.prod(self.shape(value)) * value.dtype.itemsize

    def tensors(self, nodes: Iterable[Any]) -> list[fx.Node]:
        return [node for node in nodes if isinstance(node, fx.Node) and node in self.values]


def _make_map(rank: int, shape: tuple[int, ...], to: tuple[int, ...]) -> str:
    """The indexing map that broadcasts `shape`, from the last dimension on."""
    shift = rank - len(shape)
    dims = [f"d{dim}" for dim in range(rank)]
    places = [
        f"d{shift + dim}" if size == to[shift + dim] else "0" for dim, size in enumerate(shape)
    ]
    return f"affine_map<({', '.join(dims)}) -> ({', '.join(places)})>"


def import_joint(
    graph: fx.Graph,
    num_forward_outputs: int,
    mutated: set[fx.Node],
    is_fused: bool = False,
    proposals: Sequence[Sequence[str]] = (),
) -> Imported:
    """The function of `graph`, whose first results are those of forward. The memory that
    it takes is that of Inductor's code with `is_fused`, else that of its operations. Each of
    `proposals` has the names of nodes that may be saved together."""
    return _Importer(graph, num_forward_outputs, mutated, is_fused, proposals).run()

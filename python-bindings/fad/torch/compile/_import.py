"""AOTAutograd's joint graph as a function for fad's selection of residuals.

Tensors have the sizes that PyTorch expects (its hints), so all types are static.
Elementwise operations have scalar bodies, and all others are `fad.opaque`. The
graph stays the program: this function only serves to choose."""

import math
from dataclasses import dataclass, field
from typing import Any, Container, Iterable, Mapping, NamedTuple, Sequence

import torch
from torch import fx

from ... import _fad
from ..._module import Module
from ..._operators.writer import Body, Unsupported, Value
from .._types import FLOAT_TYPES, MLIR_TYPES
from ._graph import (
    SCRATCH,
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
from ._sizes import TIME, estimate_size, estimate_time


class _Type(NamedTuple):
    """A type of tensors."""

    sizes: tuple[int, ...]
    element: str


# The type of a result without elements, which stands for an effect.
_NOTHING = _Type((0,), "f32")


class NotPlanned(Exception):
    """A graph that has no form here. Its message is the reason."""


@dataclass
class Imported:
    """The function, and how to find the graph in it."""

    module: Module
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
    builder: _fad.Builder = field(default_factory=lambda: _fad.Builder("joint"))
    # The types of the arguments that are cotangents, and the number of others.
    cotangents: list[_Type] = field(default_factory=list)
    num_inputs: int = 0
    values: dict[fx.Node, _fad.Value] = field(default_factory=dict)
    types: dict[fx.Node, _Type] = field(default_factory=dict)
    dependent: set[fx.Node] = field(default_factory=set)
    operands: dict[str, list[fx.Node]] = field(default_factory=dict)
    # Effects of forward and of backward, besides their results.
    forward_effects: list[_fad.Value] = field(default_factory=list)
    backward_effects: list[_fad.Value] = field(default_factory=list)
    # A cotangent without elements, on which the effects of backward depend.
    backward: _fad.Value | None = None
    # Operations that read what backward changes, when backward runs.
    late: set[fx.Node] = field(default_factory=set)

    def run(self) -> Imported:
        readers = find_readers(self.graph, self.num_forward_outputs, self.mutated)
        self.late = set(readers.backward)
        for node in self.graph.nodes:
            self.builder.locate(node.name)
            if node.op == "placeholder":
                self.add_argument(node)
            elif node.op != "output":
                self.add_node(node)
        return self.finish()

    # Types

    def shape(self, value: torch.Tensor) -> tuple[int, ...]:
        return tuple(estimate_size(size) for size in value.shape)

    def find_type(self, node: fx.Node) -> _Type:
        """Returns the type of `node`: its bytes count, and what depends on a cotangent is made of
        floats, or it would end the dependence."""
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            return _Type((), "f64")
        sizes = self.shape(value)
        element = MLIR_TYPES.get(value.dtype)
        if value.dtype.is_complex:
            sizes, element = (*sizes, 2), f"f{4 * value.dtype.itemsize}"
        elif element is None:
            element = f"i{8 * value.dtype.itemsize}"
        if node in self.dependent and not value.dtype.is_complex and element not in FLOAT_TYPES:
            element = {1: "f8E5M2", 2: "f16", 4: "f32", 8: "f64"}[value.dtype.itemsize]
        return _Type(sizes, element)

    def set(self, node: fx.Node, value: _fad.Value, type: _Type) -> None:
        self.values[node], self.types[node] = value, type

    # Arguments

    def add_argument(self, node: fx.Node) -> None:
        if is_tangent(node):
            self.dependent.add(node)
        if not isinstance(node.meta.get("val"), torch.Tensor):
            return
        type, marks = self.find_type(node), {"fad.nodes": [node.name]}
        self.set(node, self.make_argument(type, is_tangent(node), marks), type)
        if node in self.mutated:
            # Backward would see the new values: what it reads has to be a copy.
            self.add_opaque(node, "clone", "keep", [node], [node])

    def make_argument(
        self, type: _Type, is_cotangent: bool = False, marks: Mapping[str, Any] | None = None
    ) -> _fad.Value:
        attributes = dict(marks or {})
        if is_cotangent:
            attributes["fad.cotangent"] = len(self.cotangents)
            self.cotangents.append(type)
        else:
            self.num_inputs += 1
        return self.builder.argument(type, attributes)

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
        """Tells whether `node` is a value here. Numbers and objects are none: PyTorch saves what
        backward reads of them. But they hand dependence on."""
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
        if node in self.dependent:
            self.dependent.update(results)
        types = [self.find_type(each) for each in results]
        attributes = {
            "name": name,
            "kind": kind,
            "time": estimate_time(node) if kind == "contraction" or TIME in node.meta else 0,
            "fad.nodes": [each.name for each in results],
            **(find_memory(node) if self.is_fused or SCRATCH in node.meta else {}),
        }
        values = self.find_operands(operands, node in self.late)
        made = self.builder.create("fad.opaque", values, types, attributes)
        for result, value, type in zip(results, made, types):
            self.set(result, value, type)
        self.operands[results[0].name] = operands

    def add_effect(self, node: fx.Node, operands: Iterable[Any], is_backward: bool) -> None:
        """Adds what `node` reads, as the operands of an operation of forward or of backward,
        whose result has no elements."""
        operands = self.tensors(operands)
        values = self.find_operands(operands, is_backward)
        attributes = {"name": str(node.target), "kind": "keep", "fad.nodes": [node.name]}
        effects = self.backward_effects if is_backward else self.forward_effects
        effects += self.builder.create("fad.opaque", values, [_NOTHING], attributes)
        self.operands[node.name] = operands

    def find_operands(self, operands: list[fx.Node], is_backward: bool) -> list[_fad.Value]:
        """Returns the values of `operands`. What depends on a cotangent is backward's, whatever
        else it reads."""
        values = [self.values[operand] for operand in operands]
        if is_backward:
            if self.backward is None:
                self.backward = self.make_argument(_NOTHING, is_cotangent=True)
            values.append(self.backward)
        return values

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
                dtype = argument.meta["val"].dtype
                operands.append(Operand(body.add_argument(MLIR_TYPES[dtype]), dtype))
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
        """Tells whether the type of `node` is the one that it has in PyTorch, and not one that only
        carries its bytes."""
        value = node.meta.get("val")
        if node not in self.values or not isinstance(value, torch.Tensor):
            return False
        return MLIR_TYPES.get(value.dtype) == self.types[node].element

    def is_linear(self, node: fx.Node) -> bool:
        """Tells whether `node` is linear in the operands that depend on a cotangent. What is not
        has no body: coefficients end there."""
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

    def add_body(self, node: fx.Node, body: Body, result: Value, inputs: list[fx.Node]) -> None:
        values = [self.values[used] for used in inputs]
        type, marks = self.find_type(node), {"fad.nodes": [node.name]}
        self.set(node, self.builder.map(values, body.finish(result), type, marks), type)
        self.operands[node.name] = inputs

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
        made += [(effect, _NOTHING) for effect in self.backward_effects]
        # Cotangents belong to results and gradients to arguments of their types;
        # those of the graph may have others, so each has one of its own.
        returned = [self.make_argument(type) for type in self.cotangents]
        returned += [self.values[node] for node in results] + self.forward_effects
        marks: list[dict[str, Any]] = [{} for _ in returned]
        for value, type in made:
            returned.append(value)
            # Arguments are numbered without cotangents.
            marks.append({"fad.gradient": self.num_inputs})
            self.make_argument(type)
        attributes = {}
        if self.is_fused:
            self.builder.fuse(**describe_fusion(find_target(self.graph)))
            attributes["fad.proposals"] = [*map(list, self.proposals)]
        return Imported(
            Module(self.builder.finish(returned, marks, attributes)),
            self.operands,
            [None] * len(self.cotangents)
            + results
            + [None] * len(self.forward_effects)
            + gradients
            + [None] * len(self.backward_effects),
            sum(map(self.count_bytes, gradients)),
        )

    def count_bytes(self, node: fx.Node) -> int:
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            return 0
        return math.prod(self.shape(value)) * value.dtype.itemsize

    def tensors(self, nodes: Iterable[Any]) -> list[fx.Node]:
        return [node for node in nodes if isinstance(node, fx.Node) and node in self.values]


def import_joint(
    graph: fx.Graph,
    num_forward_outputs: int,
    mutated: set[fx.Node],
    is_fused: bool = False,
    proposals: Sequence[Sequence[str]] = (),
) -> Imported:
    """Returns the function of `graph`, whose first results are those of forward. The memory that it
    takes is that of Inductor's code with `is_fused`, else that of its operations. Each of
    `proposals` has the names of nodes that may be saved together."""
    return _Importer(graph, num_forward_outputs, mutated, is_fused, proposals).run()


def find_reassociation(policy: str, options: Container[str], is_fused: bool) -> str:
    """Returns which factors of a gradient a plan may multiply with each other first. Where the
    derivative itself is what is asked for, all are. Inductor, for whose graphs `is_fused` is, rounds in
    its own way, so that only a product which leaves the range of its type is wrong. Otherwise,
    gradients have the bits of eager PyTorch."""
    if policy == "fad" or "derivative_bits" in options:
        return "always"
    return "in-range" if is_fused else "never"

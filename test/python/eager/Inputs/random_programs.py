"""Random programs of eager PyTorch: elementwise operators in sequences, and all that may
happen to their values meanwhile.

A program is a list of instructions on numbered values, all of them matrices of one size,
and a way to ask for gradients. `run` executes one, so the same program can be executed
in several ways."""

import contextlib
import random
import threading
import weakref
from dataclasses import dataclass, field

import torch
from cuda_autocast import CudaAutocast
from random_operators import (
    ACTIVATIONS_IN_PLACE, BINARY, CONSUMERS, IN_PLACE, MIXED, NARROW, UNARY, VIEWS
)  # fmt: skip

# Where tensors are.
DEVICE = "cpu"
# Of most programs, and of those with tensors that nest takes unless it is told otherwise.
SMALL, LARGE = 3, 66

REQUESTS = ("backward", "grad", "grad_inner", "twice", "second", "backward_inputs")


@dataclass
class Program:
    """`leaves` says of each leaf whether it needs a gradient. An instruction is its kind,
    the name of an operator, and the numbers of the values that it reads; -1 and -2 are a
    row and a number that are leaves, too. `inner` are values whose gradients are asked
    for, `used` those that the loss consists of. Matrices have `size` rows, and tensors of
    fewer than `min_numel` elements are not nested; None stands for the default. Of a
    `cyclic` program, values refer to themselves, so that a collection of garbage frees
    them. Leaves have the type `dtype`. Where there is a type `autocast`, operators cast as on
    CUDA."""

    seed: int
    leaves: list[bool]
    instructions: list[tuple] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    request: str = "backward"
    inner: list[int] = field(default_factory=list)
    backward_nested: bool = False
    size: int = SMALL
    min_numel: int | None = 0
    cyclic: bool = False
    dtype: torch.dtype = torch.float64
    autocast: torch.dtype | None = None


def generate(seed, plain=False, active=True, mixed=False):
    """The program with this number; a plain one has one thread, one policy, and small
    values, an active one has activations in place, and a mixed one several types."""
    program = _generate(seed)
    if mixed:
        mix(program, random.Random(f"{seed} mixed"))
    if not plain:
        _vary(program, random.Random(f"{seed} varied"))
        if active:
            _activate(program, random.Random(f"{seed} active"))
    return program


def mix(program, rng):
    """Casts between types, functions that compute in a wide one, and autocast."""
    narrow = rng.choice(NARROW)
    program.dtype = rng.choice((torch.float32, torch.float32, getattr(torch, narrow)))
    if rng.random() < 0.3:
        program.autocast = getattr(torch, narrow)
    for place, (kind, name, operands) in enumerate(program.instructions):
        roll = rng.random()
        if kind == "unary" and roll < 0.4:
            name = rng.choice(("float32", narrow, narrow, *NARROW, "float64"))
            program.instructions[place] = ("cast", name, operands)
        elif kind in ("unary", "consumer") and roll < 0.6:
            program.instructions[place] = ("mixed", rng.choice(list(MIXED)), operands)


def autocast(program):
    if program.autocast is None:
        return contextlib.nullcontext()
    return CudaAutocast(program.autocast)


def _vary(program, rng):
    """Other sizes and limits; changes of the policy and of the thread; cycles."""
    if rng.random() < 0.1:
        program.size, program.min_numel = LARGE, rng.choice((0, None, None))
    elif rng.random() < 0.2:
        # Matrices are nested, and not rows and numbers; or rows, too; or nothing.
        program.min_numel = rng.choice((SMALL * SMALL, SMALL, SMALL * SMALL + 1))
    for place, (kind, name, operands) in enumerate(program.instructions):
        if kind == "consumer" and rng.random() < 0.1:
            program.instructions[place] = (kind, "parts", operands)
    for kind in ("policy", "within", "thread"):
        if rng.random() < 0.1:
            place = rng.randrange(len(program.instructions) + 1)
            program.instructions.insert(place, (kind, "", ()))
    program.cyclic = rng.random() < 0.3


def _activate(program, rng):
    """Activations in place, which mostly write to what no sequence has computed."""
    for place, (kind, name, operands) in enumerate(program.instructions):
        if rng.random() < {"in_place": 0.5, "unary": 0.1}.get(kind, 0):
            kind = "in_place" if kind == "in_place" else "activation"
            name = rng.choice(list(ACTIVATIONS_IN_PLACE))
            program.instructions[place] = (kind, name, operands)


def _generate(seed):
    rng = random.Random(seed)
    program = Program(seed, [True] + [rng.random() < 0.8 for _ in range(rng.randrange(3))])
    alive = list(range(len(program.leaves)))
    count = len(alive)

    def pick():
        # New values are read the most, so that sequences become long.
        return alive[-1] if rng.random() < 0.5 else rng.choice(alive)

    for _ in range(rng.randint(3, 18)):
        roll, kind, operands, name = rng.random(), None, (pick(),), ""
        makes = True
        if roll < 0.44:
            kind, name = "unary", rng.choice(list(UNARY))
        elif roll < 0.62:
            kind, name = "binary", rng.choice(list(BINARY))
            other = pick() if rng.random() < 0.8 else rng.choice((-1, -2))
            operands = (operands[0], other)
            if other >= 0 and rng.random() < 0.5:
                operands = operands[::-1]
        elif roll < 0.70:
            kind, name = "consumer", rng.choice([each for each in CONSUMERS if each != "parts"])
        elif roll < 0.74:
            kind, operands = "matmul", (operands[0], pick())
        elif roll < 0.80:
            kind, name = "view", rng.choice(list(VIEWS))
        elif roll < 0.85:
            kind, name, makes = "in_place", rng.choice(list(IN_PLACE)), False
            inner = [each for each in alive if each >= len(program.leaves)]
            if not inner:
                continue
            operands = (rng.choice(inner),)
        elif roll < 0.87:
            kind = "detach"
        elif roll < 0.90:
            kind, name = "no_grad", rng.choice(list(UNARY))
        elif roll < 0.93:
            kind, makes = rng.choice((("hook", False), ("retain", False)))
        elif roll < 0.96:
            kind, makes = "toggle", False
        elif len(alive) > 2:
            kind, makes = "delete", False
            inner = [each for each in alive[:-1] if each >= len(program.leaves)]
            if not inner:
                continue
            operands = (rng.choice(inner),)
            alive.remove(operands[0])
        else:
            continue
        program.instructions.append((kind, name, operands))
        if makes:
            alive.append(count)
            count += 1
    program.used = rng.sample(alive, min(len(alive), rng.randint(1, 3)))
    if alive[-1] not in program.used:
        program.used.append(alive[-1])
    program.request = rng.choice(REQUESTS)
    if program.request in ("grad_inner", "backward_inputs"):
        program.inner = rng.sample(alive, min(len(alive), rng.randint(1, 2)))
    program.backward_nested = rng.random() < 0.3
    return program


def describe(program):
    """The program as text, to repeat it by hand."""
    lines = [
        f"size {program.size}, min_numel {program.min_numel}, leaves {program.leaves}"
        + ", cyclic" * program.cyclic
        + f", {program.dtype}" * (program.dtype is not torch.float64)
        + f", autocast {program.autocast}" * (program.autocast is not None)
    ]
    number = len(program.leaves)
    for kind, name, operands in program.instructions:
        made = f"v{number} = " if kind in _MAKING else ""
        number += bool(made)
        lines.append(f"{made}{kind} {name} {operands}")
    lines.append(f"loss of {program.used}; {program.request} {program.inner}")
    return "\n".join(lines)


_MAKING = (
    "unary",
    "activation",
    "cast",
    "mixed",
    "binary",
    "consumer",
    "matmul",
    "view",
    "detach",
    "no_grad",
)


class Execution:
    """Values of a program. With `copies`, each operator reads a copy of its operands and
    returns a copy, so that no change in place reaches what is saved. `facts` are what has
    happened that may explain an error: "hooked" and "hooked after use" of a value's
    gradient, "inner" of gradients asked for, "second" of derivatives, "written" of a value
    that an operator had read before, or made, "written past copies" of a leaf, of a constant or its
    memory, or outside of nest, and "backward" once that has begun. A `dtype` is one to compute in, with the
    program's numbers."""

    is_nested = True

    def __init__(self, program, copies, facts, dtype=None):
        self.program, self.copies, self.facts, self.dtype = program, copies, facts, dtype
        generator = torch.Generator().manual_seed(program.seed)

        def make(*shape):
            number = torch.rand(*shape, generator=generator, dtype=torch.float64) * 2 - 1
            return number.to(program.dtype).to(DEVICE, dtype or program.dtype)

        size = program.size
        self.leaves = [make(size, size).requires_grad_(each) for each in program.leaves]
        self.small = [make(()).requires_grad_(), make(size).requires_grad_()]
        self.weights = [make(size, size) for _ in range(4)]
        self.values = list(self.leaves)
        self.retained = []
        # The storages that operators have read, or made where they may save them. They
        # are alive, so that no other has the address. Values whose storage nothing else
        # can have yet are not asked for it, as that would compute them.
        self.touched, self.alone, self.sharing = {}, [], []
        # Those that a tensor without a gradient had, beside others.
        self.constant = set()

    def read(self, number):
        value = self.values[number] if number >= 0 else self.small[number]
        self.touch(value)
        return value.clone() if self.copies else value

    def write(self, value):
        self.add(value.clone() if self.copies else value)
        self.touch(value)

    def add(self, value):
        self.values.append(value)
        if self.program.cyclic:
            cycle = [value]
            cycle.append(cycle)

    def touch(self, value):
        if any(reference() is value for reference in self.sharing):
            storage = value.untyped_storage()
            self.touched[storage._cdata] = storage
            if not value.requires_grad:
                self.constant.add(storage._cdata)
        self.alone.append(weakref.ref(value))

    def share(self, value):
        """Before there is another tensor with the storage of `value`."""
        if any(reference() is value for reference in self.alone):
            storage = value.untyped_storage()
            self.touched[storage._cdata] = storage
        self.sharing.append(weakref.ref(value))

    def was_touched(self, number):
        self.share(self.values[number])
        return self.values[number].untyped_storage()._cdata in self.touched

    def execute(self, kind, name, operands):
        if kind in ("view", "detach"):
            self.share(self.values[operands[0]])
        if kind in ("hook", "retain"):
            self.facts.add("hooked")
            if self.was_touched(operands[0]):
                self.facts.add("hooked after use")
        elif kind == "in_place" and self.was_touched(operands[0]):
            self.facts.add("written")
            value = self.values[operands[0]]
            memory = value.untyped_storage()._cdata
            is_leaf = memory in [leaf.untyped_storage()._cdata for leaf in self.leaves]
            is_constant = not value.requires_grad or memory in self.constant
            if is_leaf or is_constant or not self.is_nested:
                self.facts.add("written past copies")
        if kind == "hook":
            # Of a view whose base was written to, PyTorch crashes unless the node is there.
            node = self.values[operands[0]].grad_fn
            self.values[operands[0]].register_hook(lambda gradient: gradient * 1.25)
            del node
        elif kind == "retain":
            value = self.values[operands[0]]
            value.retain_grad()
            self.retained.append(value)
        elif kind == "delete":
            self.values[operands[0]] = None
        elif kind == "in_place":
            {**IN_PLACE, **ACTIVATIONS_IN_PLACE}[name](self.values[operands[0]])
        elif kind == "view":
            # Views of tensors that are changed later see the change.
            self.add(VIEWS[name](self.values[operands[0]]))
            self.share(self.values[-1])
        elif kind == "detach":
            self.add(self.values[operands[0]].detach())
            self.share(self.values[-1])
        elif kind == "no_grad":
            with torch.no_grad():
                self.write(UNARY[name](self.read(operands[0])))
        elif kind == "activation":
            value = self.read(operands[0])
            value = value @ self.weights[-1].to(value.dtype)
            self.write(ACTIVATIONS_IN_PLACE[name](value))
        elif kind == "cast":
            value = self.read(operands[0])
            self.write(value.to(self.dtype or getattr(torch, name), copy=True))
        elif kind == "matmul":
            first, second = (self.read(each) for each in operands)
            product = first @ second.to(first.dtype)
            self.write(product * (1.5 / self.program.size))
        else:
            table = {"unary": UNARY, "binary": BINARY, "consumer": CONSUMERS, "mixed": MIXED}[kind]
            self.write(table[name](*(self.read(each) for each in operands)))

    def make_loss(self):
        terms = [
            (self.read(number) * weight).sum()
            for number, weight in zip(self.program.used, self.weights)
        ]
        return sum(terms[1:], terms[0])

    def ask(self, loss):
        """The gradients that the program asks for."""
        request = self.program.request
        leaves = [leaf for leaf in self.leaves + self.small if leaf.requires_grad]
        inner = [self.values[number] for number in self.program.inner]
        inner = [value for value in inner if value.requires_grad]
        self.facts.update({"inner"} if inner else (), {"second"} & {request})
        if request == "grad":
            return torch.autograd.grad(loss, leaves, allow_unused=True)
        if request == "grad_inner":
            return torch.autograd.grad(loss, leaves + inner, allow_unused=True)
        if request == "twice":
            first = torch.autograd.grad(loss, leaves, allow_unused=True, retain_graph=True)
            return first + torch.autograd.grad(loss, leaves, allow_unused=True)
        if request == "second":
            found = torch.autograd.grad(loss, leaves, allow_unused=True, create_graph=True)
            total = sum(g.square().sum() for g in found if g is not None)
            second = [None] * len(leaves)
            if isinstance(total, torch.Tensor) and total.requires_grad:
                second = torch.autograd.grad(total, leaves, allow_unused=True)
            # Where a derivative is constant, an operator may have no second one, or zeros.
            second = [
                torch.zeros_like(leaf) if gradient is None else gradient
                for leaf, gradient in zip(leaves, second)
            ]
            return (*(g if g is None else g.detach() for g in found), *second)
        if request == "backward_inputs":
            for value in inner:
                if not value.is_leaf:
                    value.retain_grad()
            loss.backward(inputs=leaves + inner)
            return [value.grad for value in leaves + inner]
        loss.backward()
        return [leaf.grad for leaf in leaves]


def _run_in_thread(call):
    """Calls a function in another thread, and raises here what it raises there."""
    errors = []

    def target():
        try:
            call()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def _no_nest(other=False):
    return contextlib.nullcontext()


def _execute(execution, nest):
    """Executes all instructions within `nest()`, but for those between two of the kind
    "toggle". After "policy", `nest(other=True)` takes its place, "within" puts the one
    into the other for an instruction, and "thread" executes one in another thread."""
    nested, other, remaining = True, False, list(execution.program.instructions)
    while remaining:
        with nest(other) if nested else contextlib.nullcontext():
            while remaining:
                kind, name, operands = remaining.pop(0)
                if kind == "toggle":
                    execution.is_nested = nested = not nested
                    break
                if kind == "policy":
                    other = not other
                    break
                if kind == "within" and remaining and remaining[0][1]:
                    with nest(not other):
                        execution.execute(*remaining.pop(0))
                elif kind == "thread" and remaining and remaining[0][1]:
                    instruction = remaining.pop(0)

                    def call():
                        with nest(other) if nested else contextlib.nullcontext():
                            execution.execute(*instruction)

                    _run_in_thread(call)
                elif kind not in ("within", "thread"):
                    execution.execute(kind, name, operands)


def run(program, nest=_no_nest, copies=False, spoil=None, facts=None, dtype=None):
    """The loss, and then all gradients, of `program`, whose instructions are within
    `nest()` as `_execute` says. `spoil` may change an execution before gradients are
    asked for. What may explain an error is put into the set `facts`. It is computed in the
    type `dtype`, or else in the program's."""
    execution = Execution(program, copies, set() if facts is None else facts, dtype)
    with contextlib.nullcontext() if dtype else autocast(program):
        _execute(execution, nest)
    with nest() if program.backward_nested else contextlib.nullcontext():
        loss = execution.make_loss()
        execution.facts.add("backward")
        if spoil is not None:
            spoil(execution, loss)
        gradients = execution.ask(loss)
    retained = [value.grad for value in execution.retained]
    return [loss.detach(), *gradients, *retained]

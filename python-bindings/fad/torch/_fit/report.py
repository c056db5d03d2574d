"""The answer of `fit`, with its text."""

import pathlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..._choices import check_choice
from ..._dict import AsJson
from ..._figures import choose_unit, show_bytes
from .._text import align
from ..compile._step_memory import StepMemory, list_peak
from .picture import draw_step


def check_picture(path: str | pathlib.Path) -> None:
    """Refuses the name of a file that is no SVG, or is in no folder."""
    file = pathlib.Path(path)
    if file.suffix.lower() != ".svg":
        raise ValueError(f"the picture is SVG, and {path} ends otherwise; take {file.stem}.svg")
    if not file.absolute().parent.is_dir():
        raise ValueError(f"there is no folder {file.absolute().parent} for {path}")


@dataclass(frozen=True)
class Plan:
    """The memory of a training step as one plan executes it, in bytes.

    `options` are those of `torch.compile(model, backend="fad")`; None without fad. `kept` crosses
    from forward to backward. `step` is the most that forward and backward make at once, gradients
    included, and `update` that of the optimizer's step, which has all gradients. `peak` is the
    most of both, with what is there in any case. `memory` has all allocations of forward and
    backward. `largest` is the largest batch, or length, within the memory that was given, and
    `largest_peak` what it takes: 0 where none fits, and then that of the smallest that was tried.
    `limit` says why none is larger: the memory, with what takes the most of it at the peak of the
    largest, or the model. All three are None without a memory. `missed` says by how much the step
    exceeds the budget of its options; None where that is kept."""

    name: str
    options: Mapping[str, Any] | None
    kept: int
    step: int
    update: int
    peak: int
    memory: StepMemory
    largest: int | None
    largest_peak: int | None
    limit: str | None
    missed: str | None

    @property
    def where(self) -> str:
        """The operation, module and pass at which the peak is."""
        if self.update > self.step:
            return "the optimizer's step"
        memory = self.memory
        made = [each for each in memory.allocations if each.first == memory.peak]
        named = [each for each in made if each.operation] or made
        side = "backward" if memory.peak >= memory.backward else "forward"
        if not named:
            return side
        module = f" of {named[-1].module}" if named[-1].module else ""
        return f"{named[-1].operation or 'an operation'}{module} in {side}"

    @property
    def text(self) -> str:
        """The call of `torch.compile` to write."""
        if self.name == "eager":
            return "no torch.compile"
        if self.options is None:
            return "torch.compile(model)"
        given = f", options={dict(self.options)!r}" if self.options else ""
        return f'torch.compile(model, backend="fad"{given})'.replace("'", '"')


@dataclass(frozen=True)
class Fit(AsJson):
    """The memory of a training step by plan, with its text and picture; all in bytes.

    `parameters`, `buffers`, `inputs` and `state` (of the optimizer) are there in any case, and
    `gradients` after backward. `by_module` has parameters and buffers by module. `memory` is what
    was given, `size` that of the example's dimension `vary`. `unknown` says what is not counted.

    `str(fit)` is `fit.table()`."""

    model: str
    device: str
    optimizer: str
    vary: str
    size: int
    memory: int | None
    parameters: int
    buffers: int
    inputs: int
    state: int
    gradients: int
    by_module: Mapping[str, int]
    plans: Mapping[str, Plan]
    unknown: tuple[str, ...]

    def __getitem__(self, name: str) -> Plan:
        """Returns the plan `name`."""
        return self.plans[check_choice("there is no plan", name, self.plans)]

    @property
    def static(self) -> int:
        """The bytes that are there in any case."""
        return self.parameters + self.buffers + self.inputs + self.state

    @property
    def best(self) -> Plan | None:
        """The first plan that keeps the example within the memory; without a memory, fad's. None
        where no plan does."""
        plans = [*self.plans.values()]
        if self.memory is None:
            return self.plans.get("fad", plans[-1])
        return next((plan for plan in plans if plan.peak <= self.memory), None)

    def table(self) -> str:
        """Returns all of it as text."""
        plans = [*self.plans.values()]
        parts = {
            "parameters": [self.parameters] * len(plans),
            "buffers": [self.buffers] * len(plans),
            "inputs": [self.inputs] * len(plans),
            f"state of {self.optimizer}": [self.state] * len(plans),
            "gradients": [self.gradients] * len(plans),
            "kept for backward": [plan.kept for plan in plans],
            "forward and backward": [plan.step for plan in plans],
            "optimizer's step": [plan.update for plan in plans],
            "peak": [plan.peak for plan in plans],
        }
        unit = choose_unit(count for counts in parts.values() for count in counts)
        rows = [[unit.name, *self.plans]]
        for name, counts in parts.items():
            if any(counts):
                rows.append([name, *map(unit.show, counts)])
        if self.memory is not None:
            rows.append([f"largest {self.vary}", *(str(plan.largest) for plan in plans)])
        best = self.best
        lines = [self.summary(), "", align(rows, 1), ""]
        lines += [f"{plan.name} has its peak at {plan.where}" for plan in plans]
        limits = [(plan.name, plan.limit) for plan in plans if plan.limit]
        lines += [
            f"the largest {self.vary} of {name} is limited by {limit}" for name, limit in limits
        ]
        lines += ["", *(f"{plan.name}: {plan.text}" for plan in plans)]
        lines += [f"{plan.name}: {plan.missed}" for plan in plans if plan.missed] + [""]
        lines += [self.list_peak((best or plans[-1]).name), ""]
        return "\n".join([*lines, *(f"not counted: {each}" for each in self.unknown)]) + "\n"

    def __str__(self) -> str:
        return self.table()

    def summary(self) -> str:
        """Returns a sentence that says whether a step fits."""
        what = f"a step of {self.model}, {self.vary} {self.size}, with {self.optimizer} on a "
        what += "CPU" if self.device == "cpu" else "GPU"
        least = min(self.plans.values(), key=lambda plan: plan.peak)
        if self.memory is None:
            least_of = "" if len(self.plans) == 1 else ", the least of the plans"
            return f"{what} takes {show_bytes(least.peak)} with {least.name}{least_of}"
        best, memory = self.best, show_bytes(self.memory)
        if best is not None:
            return f"{what} fits {memory} with {best.name}: it takes {show_bytes(best.peak)}"
        fixed = self.static - self.inputs + self.gradients
        if fixed > self.memory:
            return (
                f"{what} does not fit {memory}: parameters, gradients and the optimizer's state "
                f"alone are {show_bytes(fixed)}; take another optimizer, or several devices"
            )
        found = max(plan.largest or 0 for plan in self.plans.values())
        hint = f"the largest {self.vary} is {found}" if found else f"nor does a {self.vary} of 1"
        return f"{what} does not fit {memory}: it takes {show_bytes(least.peak)} or more; {hint}"

    def list_peak(self, plan: str) -> str:
        """Returns the rows of the tensors that are alive at the peak of forward and backward of a
        plan, with parameters and buffers, by module."""
        found = list_peak(self[plan].memory, self.by_module)
        unit = choose_unit(count for count, *_ in found)
        rows = [[unit.show(count), kind, module] for count, kind, module, _ in found]
        return f"alive at the peak of {plan}'s forward and backward\n\n" + align(
            [[unit.name, "kind", "module"], *rows], 1
        )

    def draw(self, path: str | pathlib.Path, plan: str | None = None) -> None:
        """Draws the bytes that are alive over forward and backward, by module, to the file `path`,
        as SVG: of `plan`, or of the best one. Raises ValueError for a name of another format."""
        check_picture(path)
        chosen = self[plan] if plan else self.best or [*self.plans.values()][-1]
        title = f"{self.model}, {self.vary} {self.size}: a training step, {chosen.name}"
        pathlib.Path(path).write_text(draw_step(chosen.memory, self.static, title, self.memory))

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as a dictionary, but for the allocations over the step."""
        data: dict[str, Any] = asdict(self)
        for name, plan in self.plans.items():
            found = data["plans"][name]
            del found["memory"]
            found["where"], found["call"] = plan.where, plan.text
            found["at_peak"] = [asdict(each) for each in plan.memory.at_peak]
        return data

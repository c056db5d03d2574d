"""Reports by users of PyTorch, as figures of PyTorch's partitioner and of fad's.

Each function of `REPORTS` takes an engine and whether sizes are small. It returns the
sizes, rows of figures, and two verdicts that are computed from them: what is so with
PyTorch's partitioner, and what with fad's."""

import random
import warnings
from typing import Any, Callable, NamedTuple
from unittest import mock

import torch
from torch._functorch import partitioners
from torch._functorch._activation_checkpointing import knapsack

import reported_modules as modules
from fad.torch.compile._explain import measure_times
from reported_measure import Fad, FadInRange, Run, Stock, find_error, run, run_eager

MIB = 1 << 20
# Scalars, which are made outside the graph.
SLACK = 256
# Gradients by operations in another order.
ROUNDING = 1e-5


class Verdict(NamedTuple):
    holds: bool
    text: str


class Result(NamedTuple):
    sizes: dict[str, Any]
    rows: list[dict[str, Any]]
    # Whether the complaint holds of PyTorch's partitioner, and whether fad is right.
    pytorch: Verdict
    fad: Verdict


class Report(NamedTuple):
    title: str
    engines: tuple[str, ...]
    measure: Callable[[str, bool], Result]


REPORTS: dict[str, Report] = {}


def report(number: str, title: str, *engines: str) -> Callable:
    def add(measure: Callable[[str, bool], Result]) -> Callable:
        REPORTS[number] = Report(title, engines, measure)
        return measure

    return add


class Table:
    """Rows of figures of one case, with gradients compared with those of eager PyTorch."""

    def __init__(self, case: modules.Case, engine: str) -> None:
        self.case, self.engine = case, engine
        self.rows: list[dict[str, Any]] = []
        self.eager = run_eager(case)
        self.rows.append({"name": "eager PyTorch", **self.eager.figures})

    def add(self, name: str, partitioner: Any, **figures: Any) -> dict[str, Any]:
        return self.add_run(name, run(self.case, self.engine, partitioner), **figures)

    def add_run(self, name: str, result: Run, **figures: Any) -> dict[str, Any]:
        error = find_error(result.gradients, self.eager.gradients)
        row = {"name": name, **figures, **result.figures, "error": error}
        self.rows.append(row)
        return row

    def finish(self, pytorch: Verdict, fad: Verdict) -> Result:
        wrong = [
            row for row in self.rows if "fad" in row["name"] and row.get("error", 0.0) > ROUNDING
        ]
        if wrong:
            fad = Verdict(False, f"gradients differ by {wrong[0]['error']:.1e}")
        return Result(self.case.sizes, self.rows, pytorch, fad)


def _mib(count: float) -> str:
    return f"{count / MIB:.2f}"


def _add_budgets(table: Table, count: int) -> list[dict[str, Any]]:
    """Returns the rows of fad with `count` budgets in bytes, from the lowest that its fastest
    selection keeps to the lowest that one keeps."""
    rows = []
    for step in reversed(range(count)):
        share = step / (count - 1)
        partitioner = FadInRange(share, [])
        result = run(table.case, table.engine, partitioner)
        budget = partitioner.choices[share].budget
        rows.append(table.add_run(f"fad, {_mib(budget)} MiB", result, budget=budget))
    return rows


def _judge_budgets(rows: list[dict[str, Any]]) -> Verdict:
    """Tells whether measured peaks are within the budgets, and fall with them."""
    over = [row for row in rows if row["peak"] > row["budget"] + SLACK]
    if over:
        row = max(over, key=lambda row: row["peak"] / row["budget"])
        return Verdict(False, f"{_mib(row['peak'])} MiB for a budget of {_mib(row['budget'])}")
    peaks = [row["peak"] for row in rows]
    if any(b > a + SLACK for a, b in zip(peaks, peaks[1:])):
        return Verdict(False, "the peak rises where the budget falls")
    least, most = _mib(peaks[-1]), _mib(peaks[0])
    return Verdict(
        True, f"{len(rows)} budgets from {_mib(rows[0]['budget'])} to "
        f"{_mib(rows[-1]['budget'])} MiB are kept, with {most} to {least}")  # fmt: skip


@report("197838", "a lower budget has a higher peak", "eager", "inductor")
def measure_falling(engine: str, is_quick: bool) -> Result:
    # Inductor takes seconds to compile a layer.
    is_small = is_quick or engine == "inductor"
    table = Table(modules.make_decoder(is_small), engine)
    budgets = (1.0, 0.3, 0.05, 0.0) if is_small else (1.0, 0.5, 0.3, 0.15, 0.05, 0.0)
    budgets = (0.3, 0.0) if is_quick else budgets
    stock = [
        table.add(f"PyTorch, {budget}", Stock(activation_memory_budget=budget), share=budget)
        for budget in budgets
    ]
    rises = [
        (low["peak"] / high["peak"], high, low)
        for number, high in enumerate(stock)
        for low in stock[number + 1 :]
    ]
    ratio, high, low = max(rises, key=lambda rise: rise[0])
    pytorch = Verdict(
        ratio > 1.02,
        f"{_mib(high['peak'])} MiB at {high['share']}, {_mib(low['peak'])} at {low['share']}",
    )
    rows = _add_budgets(table, 2 if is_quick else 3 if is_small else 6)
    return table.finish(pytorch, _judge_budgets(rows))


def _measure_above_eager(case: modules.Case, engine: str) -> Result:
    """Returns the peaks of PyTorch's partition and of fad's, and the one of eager PyTorch. fad has
    its default and the lowest peak that it finds."""
    table = Table(case, engine)
    most = table.eager.figures["peak"]
    stock = table.add("PyTorch", Stock())
    rows = [table.add("fad", Fad()), table.add("fad, lowest", Fad(budget=1))]
    least = min(row["peak"] for row in rows)
    says = [f"{_mib(peak)} MiB, eager {_mib(most)}" for peak in (stock["peak"], least)]
    # A few percent are the gradients of the results.
    return table.finish(
        Verdict(stock["peak"] > 1.02 * most, says[0]), Verdict(least <= 1.02 * most, says[1])
    )


@report("193193", "layers checkpointed twice in a graph: peak above eager's", "eager", "inductor")
def measure_twice(engine: str, is_quick: bool) -> Result:
    case = modules.make_twice(is_quick or engine == "inductor")
    return _measure_above_eager(case, engine)


@report("120381", "checkpointed layers: peak above eager's", "eager", "inductor")
def measure_checkpointed(engine: str, is_quick: bool) -> Result:
    return _measure_above_eager(modules.make_checkpointed(is_quick), engine)


@report("149258", "a budget near one repeats what takes time", "inductor")
def measure_slow(engine: str, is_quick: bool) -> Result:
    table = Table(modules.make_residual(is_quick), engine)
    runs = {
        "PyTorch": Stock(),
        "PyTorch, 0.99": Stock(activation_memory_budget=0.99),
        "fad": Fad(),
    }
    results = {name: run(table.case, engine, each) for name, each in runs.items()}
    times = measure_times([result.step for result in results.values()])
    rows = [
        table.add_run(name, result, ratio=time / times[0])
        for (name, result), time in zip(results.items(), times)
    ]
    says = [f"{row['ratio']:.2f} of the time, {_mib(row['saved'])} MiB saved" for row in rows[1:]]
    # Without a budget, PyTorch repeats least.
    is_better = rows[2]["ratio"] <= 1.02 and rows[2]["saved"] <= rows[1]["saved"]
    return table.finish(Verdict(rows[1]["ratio"] > 1.02, says[0]), Verdict(is_better, says[1]))


@report("190717", "a budget draws the masks of dropout again", "eager", "inductor")
def measure_masks(engine: str, is_quick: bool) -> Result:
    case = modules.make_dropped(is_quick)
    (ones,) = case.inputs
    rows = []
    for name, partitioner in (
        ("PyTorch, 0.5", Stock(activation_memory_budget=0.5)),
        ("PyTorch, 0.0", Stock(activation_memory_budget=0.0)),
        ("fad", Fad()),
        ("fad, lowest", Fad(budget=1)),
    ):
        result = run(case, engine, partitioner)
        _, kept = result.step()
        gradients = [tensor.grad for tensor in (*case.module.parameters(), ones)]
        agree = ((gradients[-1] != 0) == (kept != 0)).double().mean().item()
        expected = torch.autograd.grad(
            case.module(ones, kept.detach())[0], [*case.module.parameters(), ones]
        )
        error = find_error(gradients, expected)
        rows.append({"name": name, **result.figures, "agree": agree, "error": error})
    stock, fad = (min(rows[at : at + 2], key=lambda row: row["agree"]) for at in (0, 2))
    worst = max(row["error"] for row in rows[2:])
    return Result(
        case.sizes,
        rows,
        Verdict(stock["agree"] < 1.0, f"{stock['agree']:.0%} of a mask is that of forward"),
        Verdict(
            fad["agree"] == 1.0 and worst <= ROUNDING,
            f"{fad['agree']:.0%}, gradients within {worst:.0e}",
        ),
    )


def _count_exceeded(solver: Callable, count: int) -> int:
    """Returns how often `solver` exceeds its limit, of `count` small problems whose weights are
    multiples of the solver's step."""
    choose, exceeded = random.Random(0), 0
    for _ in range(count):
        size = choose.randint(3, 6)
        units = [choose.randint(1, 5) for _ in range(size)]
        times = [float(choose.randint(1, 9)) for _ in range(size)]
        limit = choose.randint(1, sum(units))
        _, saved, _ = solver([unit / 1e4 for unit in units], times, limit / 1e4)
        exceeded += sum(units[number] for number in saved) > limit
    return exceeded


@report("197871", "a solver exceeds its budget", "eager")
def measure_solver(engine: str, is_quick: bool) -> Result:
    table = Table(modules.make_decoder(True), engine)
    solver = knapsack.dp_knapsack_sliding_hirschberg
    count = 100 if is_quick else 1000
    exceeded = _count_exceeded(solver, count)
    shares: list[float] = []

    def watch(memory: list[float], times: list[float], limit: float) -> tuple:
        solved = solver(memory, times, limit)
        shares.append(sum(memory[number] for number in solved[1]) / limit)
        return solved

    rows = []
    name = "dp_knapsack_sliding_hirschberg"
    with mock.patch.object(partitioners, name, watch):
        for budget in (0.2,) if is_quick else (0.1, 0.2, 0.4, 0.6):
            stock = Stock(activation_memory_budget=budget, activation_memory_budget_solver=name)
            shares.clear()
            row = table.add(f"PyTorch, {budget}", stock)
            # One that needs no solver has none.
            row["share_of_limit"] = shares[-1] if shares else None
    most = table.add("fad, no budget", Fad(recompute="nothing"))["saved"]
    for share in (0.5,) if is_quick else (0.8, 0.65, 0.5, 0.4):
        budget = int(share * most)
        partitioner = Fad(recompute="contractions", residual_budget=budget)
        rows.append(table.add(f"fad, {_mib(budget)} MiB", partitioner, budget=budget))
    kept = sum(row["saved"] <= row["budget"] for row in rows)
    return table.finish(
        Verdict(exceeded > 0, f"{exceeded} of {count} small problems exceed their limit"),
        Verdict(kept == len(rows), f"{kept} of {len(rows)} budgets for what is saved are kept"),
    )


@report("141881", "rounded copies of all weights are saved", "eager", "inductor")
def measure_rounded(engine: str, is_quick: bool) -> Result:
    case = modules.make_rounded(is_quick)
    table = Table(case, engine)
    known = {tensor.untyped_storage()._cdata for tensor in case.module.parameters()}
    known |= {tensor.untyped_storage()._cdata for tensor in case.inputs}
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage()._cdata not in known:
            kept[tensor.untyped_storage()._cdata] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        case.module(*case.inputs)
    most = sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
    table.rows[0]["saved"] = most
    choices = {"PyTorch": Stock(), "fad": Fad()}
    saved = [table.add(name, each)["saved"] for name, each in choices.items()]
    says = [f"{_mib(count)} MiB saved, eager {_mib(most)}" for count in saved]
    return table.finish(
        Verdict(saved[0] > most, says[0]), Verdict(saved[1] <= most + SLACK, says[1])
    )


def measure(number: str, engine: str, is_quick: bool) -> dict[str, Any]:
    """Returns the figures of a report, for JSON."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="dynamo_pgo")
        result = REPORTS[number].measure(engine, is_quick)
    return {
        "sizes": result.sizes,
        "rows": result.rows,
        "pytorch": result.pytorch._asdict(),
        "fad": result.fad._asdict(),
    }

"""All that fad's backend of `torch.compile` uses of PyTorch's own internals.

Names without a promise of PyTorch stand here alone, and in `_releases.py` where releases differ.
utils/check-layout.py finds them elsewhere in the package. A comment says which change of PyTorch
would make a name unnecessary."""

import contextlib
import functools
import importlib
import types
import warnings
from typing import Any, Callable, Iterator, Sequence

import torch
from torch import fx
from torch._decomp import get_decompositions
from torch._decomp.decompositions import pw_cast_for_opmath
from torch._dynamo import register_backend
from torch._dynamo.backends.common import aot_autograd
from torch._functorch import config as functorch_config
from torch._functorch import partitioners
from torch._functorch.compile_utils import fx_graph_cse as merge_equal_nodes
from torch._guards import TracingContext, detect_fake_mode
from torch._higher_order_ops.auto_functionalize import auto_functionalized_v2
from torch._higher_order_ops.invoke_subgraph import invoke_subgraph
from torch._inductor import config as inductor_config
from torch._inductor import list_mode_options
from torch._inductor.custom_graph_pass import CustomPartitionerFn, get_hash_for_files
from torch._inductor.decomposition import select_decomp_table
from torch._logging import trace_structured
from torch._ops import OpOverload
from torch._subclasses.fake_impls import _is_tensor_constructor, _like_tensor_constructors
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.fx.graph import _BoxedCodeGen
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import OptimizedPythonReferenceAnalysis
from torch.utils.checkpoint import CheckpointPolicy
from torch.utils.flop_counter import flop_registry, sdpa_flop_count

from .._pytorch import (
    get_schema,
    get_storage_id,
    is_transformed,
    name_arguments,
    tree_leaves,
    tree_map,
)
from .._releases import (
    TESTED,
    find_scheduler_pass,
    has_region_budgets,
    is_object,
)

# These would be unnecessary with
# - public names for `tree_map`, `register_backend`, `aot_autograd` and
#   `list_mode_options`, which are in PyTorch's documentation, and for `CustomPartitionerFn` and
#   `get_hash_for_files`, which one of Inductor's options takes;
# - an option of Inductor for decompositions beside its own: `select_decomp_table`,
#   `get_decompositions` and `pw_cast_for_opmath`;
# - a function that adds a node with its fake tensor to a graph: `FakeTensor`, `detect_fake_mode`
#   and `unset_fake_temporarily`;
# - public names for `auto_functionalized_v2` and `invoke_subgraph`, which are in the graphs that
#   `torch.compile` shows;
# - an argument of the partitioner that keeps equal operations apart: `merge_equal_nodes`.
__all__ = [
    "CustomPartitionerFn",
    "FakeTensor",
    "aot_autograd",
    "detect_fake_mode",
    "functorch_config",
    "get_decompositions",
    "get_schema",
    "get_hash_for_files",
    "inductor_config",
    "invoke_subgraph",
    "is_transformed",
    "list_mode_options",
    "merge_equal_nodes",
    "name_arguments",
    "pw_cast_for_opmath",
    "register_backend",
    "select_decomp_table",
    "trace_structured",
    "tree_leaves",
    "tree_map",
    "unset_fake_temporarily",
]

Parts = tuple[fx.GraphModule, fx.GraphModule]

# PyTorch's own partitioner, which needs a public name.
partition_by_pytorch = partitioners.min_cut_rematerialization_partition


def partition(
    joint: fx.GraphModule,
    inputs: Sequence[object],
    choose: Callable[[fx.Graph, Callable[[bool], list[list[str]]]], list[fx.Node]],
    merge: Callable[[fx.Graph], fx.Graph],
    **options: Any,
) -> Parts:
    """PyTorch's partition of a joint graph, with `choose` in the place of its choice of saved
    values, and `merge` in that of its search for equal operations. `choose` also takes a function
    that makes PyTorch's choices.

    PyTorch has no argument for them. The function runs with other globals, so that nothing
    of PyTorch changes, for other threads neither. An argument of
    `min_cut_rematerialization_partition` for `choose_saved_values_set` would do the same.

    Budgets of regions, which are for PyTorch's choice, are not read."""
    function = partition_by_pytorch
    replaced = {
        "choose_saved_values_set": lambda graph, nodes, *_, **__: choose(
            graph, lambda has_budgets: _propose(graph, nodes, has_budgets)
        ),
        "fx_graph_cse": merge,
    }
    if has_region_budgets():
        replaced["_get_memory_budget_annotation"] = lambda _: None
    for name in replaced:
        if name not in function.__code__.co_names or name not in function.__globals__:
            raise RuntimeError(
                f"the partitioner of PyTorch {torch.__version__} is not the one that fad knows: "
                f"it does not call {name}"
            )
    copy = types.FunctionType(
        function.__code__,
        {**function.__globals__, **replaced},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy(joint, inputs, **options)


# The shares of memory for which PyTorch's budgets make choices.
_SHARES = (0.7, 0.5, 0.3)


def _propose(graph: fx.Graph, nodes: Any, has_budgets: bool) -> list[list[str]]:
    """Returns the names of the values of `graph` that PyTorch would save: by default, if it
    repeats what it can but products and random numbers, and if it `has_budgets`."""
    proposals = []
    choices = [(False, 1.0), (True, 1.0)]
    choices += [(False, share) for share in _SHARES if has_budgets]
    for is_aggressive, share in choices:
        with functorch_config.patch(aggressive_recomputation=is_aggressive):
            saved = partitioners.choose_saved_values_set(graph, nodes, share)
        proposals.append([node.name for node in saved])
    return proposals


def find_required_in_backward(
    joint: fx.GraphModule, static_inputs: list[int], num_fwd_outputs: int
) -> Any:
    """Returns the operations of `joint` that depend on a cotangent, or must run in backward."""
    return partitioners.classify_nodes(joint, static_inputs, num_fwd_outputs).required_bw_nodes


# Nodes of joint graphs. Names for the entries of their metadata would replace most of these.

# The entries for the place of a node in the model, for errors and for PyTorch's order of the
# backward part.
PLACE = (
    "stack_trace",
    "seq_nr",
    "nn_module_stack",
    "fwd_nn_module_stack",
    "original_aten",
    "ac_graph_id",
)

# With these, Inductor rounds the operands of a node, as it does for `emulate_precision_casts`, or
# writes its result to memory. An operator that rounds would replace them.
ROUNDS, IS_WRITTEN = "low_precision_pointwise_barrier", "inductor_realize_to_strides"


def must_repeat(node: fx.Node) -> bool:
    """Tells whether a checkpoint demands that backward repeats `node`."""
    return partitioners.must_recompute(node)


def get_policy(node: fx.Node) -> Any:
    """Returns the decision of a checkpoint for `node`; None outside of checkpoints."""
    return node.meta.get("recompute")


def set_policy(node: fx.Node, policy: CheckpointPolicy) -> None:
    node.meta["recompute"] = policy


def get_example(node: fx.Node) -> Any:
    """Returns the fake tensor or size that `node` of Dynamo's graph computes; None where it has
    none."""
    return node.meta.get("example_value")


def get_module_stack(node: fx.Node) -> Any:
    """Returns the modules that `node` is of, from the outermost one, each with its path and class.
    Nodes of backward have those of the operation that is differentiated."""
    return node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")


def get_annotations(node: fx.Node) -> Any:
    """Returns the annotations of `node` by `torch.fx.traceback.annotate`."""
    return node.meta.get("custom", {})


def get_checkpoint(node: fx.Node) -> Any:
    """Returns a key for the checkpoint that `node` is of."""
    return node.meta.get("ac_graph_id")


def get_part(node: fx.Node) -> Any:
    """Returns a key for the part of the joint graph in which AOTAutograd has traced `node`."""
    return node.meta.get("partitioner_tag")


def is_bound_to_backward(node: fx.Node) -> bool:
    """Tells whether `node` changes memory, and has to do so in backward."""
    return partitioners._must_be_in_backward(node)


def is_bound_to_forward(node: fx.Node) -> bool:
    """Tells whether AOTAutograd has traced `node` in forward."""
    return partitioners._has_tag_is_forward(node)


def bind_to_forward(node: fx.Node) -> None:
    """Lets backward read the result of `node`, a new one, and not repeat it."""
    set_policy(node, CheckpointPolicy.MUST_SAVE)
    node.meta["partitioner_tag"] = "is_forward"


def check_version(node: fx.Node) -> None:
    """Lets backward raise RuntimeError where the saved input `node` has changed since forward."""
    node.meta["saved_tensor_with_no_vc_check"] = False


def is_of_autograd(node: fx.Node) -> bool:
    """Tells whether `node` is of the gradient of an operation of PyTorch, and not of the backward
    of a `torch.autograd.Function`: the former reads what autograd has saved."""
    return bool(node.meta.get("autograd_backward"))


def is_number_or_object(node: fx.Node) -> bool:
    """Tells whether `node` is a size, or another value that is no tensor, which PyTorch saves."""
    return partitioners.is_sym_node(node) or is_object(node)


def get_packet(node: fx.Node) -> Any:
    """Returns the operator that `node` calls, without its overload; None for other nodes."""
    return getattr(node.target, "overloadpacket", None)


def is_view(op: OpOverload) -> bool:
    """Tells whether the results of `op` are views of its arguments, as the aliases of its schema
    say."""
    returned = op._schema.returns
    return bool(returned) and all(each.alias_info is not None for each in returned)


def writes_out_alone(op: OpOverload) -> bool:
    """Tells whether `op` neither writes to an operand but `out`, nor returns a view of one, as its
    schema says."""
    return all(each.alias_info is None or each.name == "out" for each in op._schema.arguments)


def makes_tensor(op: OpOverload) -> bool:
    """Tells whether `op` makes a tensor that depends on the elements of no other. One from a file
    may change, and tokens, which have private names, order effects. A tag would do."""
    if op in _like_tensor_constructors:
        return True
    is_other = op.namespace not in ("aten", "prims") or op.name().partition("::")[2][0] == "_"
    return (
        _is_tensor_constructor(op) and not is_other and op is not torch.ops.aten.from_file.default
    )


def find_changed_afterwards(graph: fx.Graph, num_fwd_outputs: int) -> set[fx.Node]:
    """Returns the inputs to which PyTorch copies results of forward, as the descriptions of its
    outputs say."""
    inputs = {node.meta.get("desc"): node for node in graph.find_nodes(op="placeholder")}
    outputs = tree_leaves(graph.output_node().meta.get("desc", ()))[:num_fwd_outputs]
    changed = (getattr(output, "mutated_input", None) for output in outputs)
    return {inputs[each] for each in changed if each is not None and each in inputs}


def has_other_budget(graph: fx.Graph) -> bool:
    """Tells whether there is a budget for PyTorch's partitioner: of all, or of a region."""
    key = getattr(fx.traceback, "MEMORY_BUDGET_ANNOTATION_KEY", None)
    is_set = functorch_config.activation_memory_budget != 1
    return is_set or any(key in get_annotations(node) for node in graph.nodes)


def functionalize(op: Any, name: str, changed: fx.Node, **others: Any) -> tuple[Any, ...]:
    """Returns the arguments of `call_function` for `op`, which changes its argument `name` in place,
    as Inductor takes it: element 1 of the result is the changed value."""
    options = {**others, f"_{name}_base_index": 0, "_all_bases": [changed]}
    return auto_functionalized_v2, (op,), options


# Tensors and sizes


def identify_storage(value: torch.Tensor) -> int:
    """Facts that tensors of the same storage share, while one of them lives."""
    # Other layouts have no storage, and no views.
    return get_storage_id(value.untyped_storage()) if value.layout is torch.strided else id(value)


def get_expression(size: torch.SymInt) -> Any:
    """`size` as an expression of sympy.

    `torch.fx.experimental.symbolic_shapes` has functions for its symbols alone."""
    return size.node.expr


def is_representative(size: torch.SymInt) -> bool:
    """Tells whether `size` has its own symbol, and not that of a size which it is equal to."""
    return size.node._expr == size.node.expr


def interpret_expression(symbols: dict[Any, Any], expression: Any) -> Any:
    """Computes an expression of sizes from what `symbols` stand for: numbers, or proxies of nodes."""
    return sympy_interp(OptimizedPythonReferenceAnalysis, symbols, expression)


def get_count(packet: Any) -> Callable | None:
    """Returns the function that counts the operations of an operator; None where PyTorch has none.

    A public function for the count of one operator would do."""
    if packet is torch.ops.aten._scaled_dot_product_flash_attention_for_cpu:
        return _count_attention
    return flop_registry.get(packet)


def _count_attention(query, key, value, *args, **kwargs) -> int:
    return sdpa_flop_count(query.shape, key.shape, value.shape)


# Calls


def box(graph: fx.GraphModule) -> Callable:
    """Returns a function of `graph` whose arguments are a list, which it clears: what forward has
    saved is freed after its last reader, and not after backward.

    PyTorch has no public form of such functions, as AOTAutograd calls them."""
    graph.graph.set_codegen(_BoxedCodeGen())
    graph.recompile()

    def call(arguments: list[Any]) -> Any:
        return graph.forward(arguments)

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def get_original(model: Callable) -> Callable:
    """Returns the module of which `torch.compile` has made `model`, or `model`.

    PyTorch's documentation has no name for it."""
    return getattr(model, "_orig_mod", model)


def is_compiled(node: Any) -> bool:
    """Tells whether `node` of autograd is that of a function of AOTAutograd, which makes a class of
    nodes for each.

    A common base of these classes would do."""
    return type(node).__name__ == "CompiledFunctionBackward"


def packs_saved_tensors() -> bool:
    """Tells whether hooks pack saved tensors now, as those of a checkpoint do.

    `torch.autograd.graph` sets and disables hooks, and has no question for them."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True) is not None


def is_profiled() -> bool:
    """Tells whether a profiler of PyTorch runs, which no public function does."""
    return torch.autograd._profiler_enabled()


def find_linear() -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor] | None:
    """Returns oneDNN's product of rows and transposed weights, if PyTorch has it and may use it.

    `torch.mm` of 32-bit floats is MKL's, whatever `torch.backends.mkldnn` says."""
    if not (torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled):
        return None
    linear = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    return linear and (lambda rows, weights: linear(rows, weights, None, "none", [], ""))


# Inductor

# Names for graphs that Inductor compiles, by module. They are imported when they are needed,
# which takes a second; `make_inner` does without those of the scheduler.
#
# fad's choices would need none of the scheduler if Inductor had, as options of a graph, a limit on
# the bytes that wait for a fusion, one function for each kernel of a CPU, and results over
# operands in memory before those of the kernel.
_OF_INDUCTOR = {
    "BaseSchedulerNode": "torch._inductor.scheduler",
    "CppScheduling": "torch._inductor.codegen.cpp",
    "FusedSchedulerNode": "torch._inductor.scheduler",
    "Dep": "torch._inductor.dependencies",
    "ExternKernelAlloc": "torch._inductor.ir",
    "ExternKernelOut": "torch._inductor.ir",
    "IRNode": "torch._inductor.ir",
    "InductorChoices": "torch._inductor.choices",
    "InvokeSubgraph": "torch._inductor.ir",
    "Kernel": "torch._inductor.codegen.common",
    "MemoryDep": "torch._inductor.dependencies",
    "MixOrderReduction": "torch._inductor.scheduler",
    "MultiOutput": "torch._inductor.ir",
    "MultiOutputLayout": "torch._inductor.ir",
    "NonOwningLayout": "torch._inductor.ir",
    "OrderedSet": "torch.utils._ordered_set",
    "ReuseLine": "torch._inductor.codegen.wrapper",
    "Scheduler": "torch._inductor.scheduler",
    "V": "torch._inductor.virtualized",
    "WeakDep": "torch._inductor.dependencies",
    "can_match_buffer_size": "torch._inductor.codegen.wrapper",
    "compile_fx": "torch._inductor.compile_fx",
    "compile_fx_inner": "torch._inductor.compile_fx",
    "is_nonfreeable_buffers": "torch._inductor.utils",
}


def __getattr__(name: str) -> Any:
    if name == "CustomSchedulerPass":
        return find_scheduler_pass()
    if name not in _OF_INDUCTOR:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(_OF_INDUCTOR[name])
    if not hasattr(module, name):
        raise ImportError(f"cannot import name {name!r} from {module.__name__!r}")
    return getattr(module, name)


def find_inlining_limits(is_cpu: bool) -> dict[str, int]:
    """Returns the limits up to which Inductor computes a value in each kernel that reads it, by
    their names in `#fad.fusion`. They are `realize_*` of its configuration, as `ir.py` and
    `graph.py` use them."""
    config = inductor_config
    reads, operations = config.realize_acc_reads_threshold, config.realize_opcount_threshold
    if reads is None:
        reads = (
            config.realize_cpu_acc_reads_threshold
            if is_cpu
            else config._realize_acc_reads_threshold_default
        )
    if operations is None:
        operations = (
            config.realize_cpu_opcount_threshold
            if is_cpu
            else config._realize_opcount_threshold_default
        )
    return {
        "reads": reads,
        "operations": max(operations, _MOST_OPERATIONS),
        "shared_reads": config.realize_reads_threshold,
        "shared_operations": operations,
    }


# The operators that Inductor executes once for several kernels of a CPU: those of `heavy_ops` in
# `should_realize_on_reuse` of `ir.py`, a list inside of that function. An attribute with the list
# would replace these.
HEAVY = ("exp", "log", "log10", "log1p", "log2", "sigmoid", "tanh")

# Inductor has a value of more operations in memory, whatever reads it.
_MOST_OPERATIONS = 100


# Whether a graph has Inductor's fusions in spite of a budget, and the bytes that its kernels may have
# alive on a GPU, in the metadata of both parts.
_FUSED, _BOUND = "fad.fused", "fad.bound"


def bound_alive(parts: Parts, most: int | None) -> None:
    """Lets kernels of `parts` have at most so many bytes alive on a GPU, or any with None."""
    for part in parts:
        part.meta[_BOUND] = most


def get_bound(part: fx.GraphModule) -> int | None:
    """Returns the bytes that kernels of `part` may have alive; None where no number is known."""
    return part.meta.get(_BOUND)


def mark_fused(parts: Parts, fuses: bool) -> None:
    """Lets Inductor fuse operations of `parts` as it does without a budget, or not."""
    for part in parts:
        part.meta[_FUSED] = fuses


def get_fusions(part: fx.GraphModule) -> bool:
    """Tells whether Inductor is marked to fuse operations of `part` as it does without a budget."""
    return bool(part.meta.get(_FUSED))


def bounds_memory(graph: fx.GraphModule, has_budget: bool) -> bool:
    """Tells whether memory matters more than Inductor's fusions: with a budget that these do not
    keep better, a bound of the bytes alive, or a checkpoint."""
    bounds = (has_budget or get_bound(graph) is not None) and not get_fusions(graph)
    return bounds or any(map(must_repeat, graph.graph.nodes))


# The option for a function that Inductor calls when it has fused operations of a graph. A public one
# of `torch._inductor.config` would do.
_AFTER_FUSION = "_post_fusion_custom_pass"


def run_after_fusion(change: Any) -> dict[str, Any]:
    """Returns the option with which Inductor calls `change` when it has fused operations of a
    graph; none where a user has set it."""
    return replace_after_fusion(change) if get_after_fusion() is None else {}


def replace_after_fusion(change: Any) -> dict[str, Any]:
    """Returns the option with which Inductor calls `change` and nothing else."""
    return {_AFTER_FUSION: change}


def get_after_fusion() -> Any:
    """Returns the function that Inductor calls when it has fused operations; None where there is
    none."""
    return getattr(inductor_config, _AFTER_FUSION)


def read_after_fusion(read: Any) -> dict[str, Any]:
    """Returns the options with which Inductor calls `read` in the place of any other function, for
    each graph, as it looks for none in its caches. Where these are disabled, it makes a folder for
    each graph, and leaves it."""
    caches = "fx_graph_cache", "fx_graph_remote_cache", "force_disable_caches"
    return {_AFTER_FUSION: read, **dict.fromkeys(caches, False)}


@contextlib.contextmanager
def donate(numbers: Sequence[int]) -> Iterator[None]:
    """Lets Inductor write over the inputs of these `numbers` of a backward part that it compiles:
    AOTAutograd finds them when both parts are there. An argument of `compile_fx_inner` would do."""
    context = TracingContext.try_get()
    if not context:
        yield
        return
    # They are of the parts, which AOTAutograd has not described yet.
    before = context.fw_metadata
    context.fw_metadata = types.SimpleNamespace(  # type: ignore[assignment]
        bw_donated_idxs=list(numbers), static_input_indices=[]
    )
    try:
        yield
    finally:
        context.fw_metadata = before


# Graphs that fad leaves to Inductor where a release of PyTorch has other internals.

# How the warning begins.
FALLBACK = "fad leaves the order of operations to Inductor"


def warn_of_inductor(error: Exception) -> None:
    """Warns, once in a process for each cause, that fad's choices for Inductor do not work
    with this release of PyTorch. Residuals are fad's all the same."""
    _warn(f"{type(error).__name__}: {error}")


@functools.cache
def _warn(cause: str) -> None:
    warnings.warn(
        f"{FALLBACK}, whose internals in PyTorch {torch.__version__} are not those that fad "
        f"knows ({cause}); residuals are fad's, but a step may exceed its budget: take "
        f"fad.engine 'eager', or pip install torch=={TESTED[-1]}.*",
        RuntimeWarning,
        stacklevel=3,
    )


@functools.cache
def warn_of_filters() -> None:
    """Warns, once in a process, that a graph takes what no plan knows."""
    warnings.warn(
        f"Inductor of PyTorch {torch.__version__} may copy filters of convolutions in groups, in "
        "many times their bytes, so that a step may exceed its budget on a CPU; "
        f"pip install torch=={TESTED[-1]}.* keeps it",
        RuntimeWarning,
        stacklevel=3,
    )

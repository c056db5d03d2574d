"""The backend `fad` of `torch.compile`."""

from typing import Any, Callable

import torch

from ._activations import make_decompositions
from ._partitioner import Partitioner

_ENGINES = ("inductor", "eager")


def backend(
    graph: torch.fx.GraphModule,
    inputs: list[torch.Tensor],
    *,
    options: dict[str, Any] | None = None,
    mode: str | None = None,
) -> Callable:
    """Compiles `graph` with fad's residuals, for `torch.compile(backend="fad")`.

    Options that begin with `fad.` are those of `Partitioner`; `fad.engine` is
    "inductor" (the default), which takes all other options and `mode` too, or "eager",
    which runs the operations of PyTorch as they are."""
    own = {k[4:]: v for k, v in (options or {}).items() if k.startswith("fad.")}
    others = {k: v for k, v in (options or {}).items() if not k.startswith("fad.")}
    engine = own.pop("engine", "inductor")
    if engine not in _ENGINES:
        raise ValueError(f"fad.engine is {engine!r}; it is one of {', '.join(_ENGINES)}")
    try:
        partitioner = Partitioner(**own)
    except TypeError as error:
        raise ValueError(f"options of the backend fad: {error}") from None
    if engine == "eager":
        if others or mode:
            raise ValueError("options and mode of Inductor need fad.engine 'inductor'")
        return _compile_eager(graph, inputs, partitioner)
    from torch._inductor import config
    from torch._inductor.compile_fx import compile_fx
    from torch._inductor.decomposition import select_decomp_table

    if mode and mode != "default":
        others = {**torch._inductor.list_mode_options(mode), **others}
    others["custom_partitioner_fn"] = partitioner
    # The table depends on options.
    with config.patch(others):
        table = make_decompositions(select_decomp_table())
    return compile_fx(graph, inputs, config_patches=others, decompositions=table)


def _compile_eager(graph, inputs, partitioner):
    from torch._dynamo.backends.common import aot_autograd
    from torch.fx.graph import _BoxedCodeGen

    def run(graph, _):
        # The arguments are a list, which the function clears: what forward has saved
        # is freed after its last reader, and not after backward.
        graph.graph.set_codegen(_BoxedCodeGen())
        graph.recompile()

        def call(arguments):
            return graph.forward(arguments)

        call._boxed_call = True
        return call

    compiler = aot_autograd(
        fw_compiler=run, bw_compiler=run, partition_fn=partitioner, decompositions={}
    )
    return compiler(graph, inputs)

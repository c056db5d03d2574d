"""Language models whose losses are computed in several ways, gated layers whose rows are, and
measurements of their steps."""

from typing import Any, Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

import compile_measure
import fad.torch.compile
from steps import Model, clear, compare, get_gradients, measure_memory, seed

assert fad.torch.compile  # It registers the backend.

# The chunks of the loop of checkpoints, as many as those of the others, and the tiles of a layer.
_CHUNKS, TILES = 8, 16
# The way in which a budget leaves the loss alone so many parts of the logits' bytes. The model's loss
# has as many chunks: its own budget would be for its layers, too.
PART, _PARTS = "fad budget 1/16", 16


def compute_whole(hidden: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy((hidden @ weight.t()).float(), target)


def compute_linear(hidden: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    from torch.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions

    return F.linear_cross_entropy(hidden, weight, target, options=LinearCrossEntropyOptions())


def _compute_chunk(hidden: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy((hidden @ weight.t()).float(), target, reduction="sum")


def compute_checkpoints(hidden: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    losses = [
        checkpoint(_compute_chunk, rows, weight, words, use_reentrant=False)
        for rows, words in zip(hidden.chunk(_CHUNKS), target.chunk(_CHUNKS))
    ]
    return torch.stack(losses).sum() / target.numel()


class _Fused(torch.autograd.Function):
    """The formulas of Liger's fused linear cross entropy: forward computes the gradients of
    each chunk, and as many chunks as the words have widths."""

    @staticmethod
    def forward(context, hidden: Tensor, weight: Tensor, target: Tensor) -> Tensor:
        rows, width = hidden.shape
        # As Liger chooses them: a chunk of logits has about the bytes of the hidden states.
        chunks = -(-weight.shape[0] // width)
        size = max(1, 1 << (-(-rows // chunks) - 1).bit_length())
        of_hidden, of_weight = torch.empty_like(hidden), torch.zeros_like(weight)
        loss = hidden.new_zeros((), dtype=torch.float32)
        for start in range(0, rows, size):
            part, words = hidden[start : start + size], target[start : start + size]
            logits = (part @ weight.t()).float()
            loss += F.cross_entropy(logits, words, reduction="sum")
            logits = torch.softmax(logits, -1, out=logits)
            logits[torch.arange(len(words), device=words.device), words] -= 1
            logits = logits.div_(rows).to(hidden.dtype)
            of_hidden[start : start + size] = logits @ weight
            of_weight.addmm_(logits.t(), part)
        context.save_for_backward(of_hidden, of_weight)
        return loss / rows

    @staticmethod
    def backward(context, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        of_hidden, of_weight = context.saved_tensors
        return of_hidden.mul_(gradient), of_weight.mul_(gradient), None


@torch.compiler.disable
def compute_fused(hidden: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    return _Fused.apply(hidden, weight, target)


LOSSES: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "linear_cross_entropy": compute_linear,
    "checkpoints": compute_checkpoints,
    "liger": compute_fused,
}


class Language(nn.Module):
    """A model of transformers, its head, and a loss."""

    def __init__(self, name: str, sizes: dict[str, Any]) -> None:
        super().__init__()
        common = dict(vocab_size=sizes["words"], use_cache=False)
        if name == "gpt2":
            from transformers import GPT2Config, GPT2Model

            self.body = GPT2Model(GPT2Config(
                n_positions=sizes["length"], n_layer=sizes["layers"], n_embd=sizes["width"],
                n_head=sizes["heads"], resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, **common,
            ))  # fmt: skip
            # The head is tied, as in GPT-2.
            self.weight = self.body.wte.weight
        else:
            from transformers import LlamaConfig, LlamaModel

            self.body = LlamaModel(LlamaConfig(
                hidden_size=sizes["width"], intermediate_size=11 * sizes["width"] // 4,
                num_hidden_layers=sizes["layers"], num_attention_heads=sizes["heads"], **common,
            ))  # fmt: skip
            self.weight = nn.Parameter(0.02 * torch.randn(sizes["words"], sizes["width"]))
        self.compute = compute_whole

    def forward(self, tokens: Tensor, target: Tensor) -> Tensor:
        hidden = self.body(input_ids=tokens).last_hidden_state.flatten(0, 1)
        return self.compute(hidden, self.weight, target)


class Head(nn.Module):
    """The loss alone, of hidden states."""

    def __init__(self, rows: int, weight: nn.Parameter) -> None:
        super().__init__()
        self.hidden = nn.Parameter(torch.randn(rows, weight.shape[1], device=weight.device))
        self.weight = weight
        self.compute = compute_whole

    def forward(self, target: Tensor) -> Tensor:
        # A model computes the hidden states, which are no input.
        return self.compute(self.hidden * 1.0, self.weight, target)


class Gated(nn.Module):
    """A gated layer, as Llama has it, after a norm, and a loss of its rows."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = 11 * width // 4
        self.norm = nn.RMSNorm(width)
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)
        # Whether each of so many tiles is a checkpoint, as TiledMLP has them.
        self.tiles = 0

    def compute_rows(self, hidden: Tensor) -> Tensor:
        rows = self.norm(hidden)
        return hidden + self.down(F.silu(self.gate(rows)) * self.up(rows))

    def forward(self, hidden: Tensor) -> Tensor:
        if self.tiles:
            parts = [
                checkpoint(self.compute_rows, rows, use_reentrant=False)
                for rows in hidden.chunk(self.tiles)
            ]
            hidden = torch.cat(parts)
        else:
            hidden = self.compute_rows(hidden)
        # A mean over all rows, so that forward cannot compute the gradients tile by tile.
        return (hidden - hidden.mean(0)).square().mean()


def compile_method(
    module: nn.Module, method: str, options: dict[str, Any] | None = None
) -> Callable:
    """Returns a function for the loss of `module`, computed as `method` does it, or by `options`."""
    compile_measure.forget()
    options = options or {}
    if method == "auto-chunker":
        # Its threshold counts the weight as an operand.
        options = {
            "auto_chunker.enable": True,
            "auto_chunker.num_chunk": _CHUNKS,
            "auto_chunker.amplify_ratio_threshold": 1,
        }
    if method.startswith("fad") and not options:
        rest, _, share = method.removeprefix("fad").partition(" budget ")
        chunks = rest.removeprefix("-") or "auto"
        options = {"fad.chunks": int(chunks) if chunks.isdigit() else chunks}
        options |= {"fad.budget": float(share)} if share else {}
    backend = "fad" if method.startswith("fad") else "inductor"
    compiled = torch.compile(module, backend=backend, options=options or None, dynamic=False)

    def step(*inputs: Tensor) -> Tensor:
        module.compute = LOSSES.get(method, compute_whole)
        return compiled(*inputs)

    return step


class Reference:
    """A `model` whose loss or layers are computed at once, by stock Inductor."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.gradients = get_gradients(model, model.module)
        self.step = self.compile("inductor")

    def measure(self, method: str, repetitions: int) -> dict[str, Any]:
        """Returns the figures of a way to compute it; or the reason why there are none."""
        try:
            step = self.compile(method)
            error = compare(get_gradients(self.model, step), self.gradients)
        except Exception as failure:
            reason = f"{type(failure).__name__}: {failure}".splitlines()[0][:80]
            return {"reason": reason, "repetitions": repetitions}
        kept, peak = measure_memory(self.model, step)
        times = compile_measure.measure_times(
            (self.model, step), (self.model, self.step), repetitions
        )
        clear(self.model)
        part = self.measure_part(method, peak)
        return {"kept": kept, "peak": peak, **part, "error": error, **times,
                "repetitions": repetitions}  # fmt: skip

    def compile(self, method: str) -> Callable:
        return compile_method(self.model.module, method)

    def measure_part(self, method: str, peak: int) -> dict[str, float]:
        """Returns what the memory is a part of, and which part."""
        raise NotImplementedError


def count_results(head: Head) -> int:
    """Returns the bytes of the gradients."""
    return 4 * sum(each.numel() for each in head.parameters())


class LossReference(Reference):
    """A language model."""

    def __init__(self, name: str, sizes: dict[str, Any], device: str) -> None:
        seed()
        module = Language(name, sizes).to(device)
        tokens = torch.randint(sizes["words"], (sizes["batch"], sizes["length"]), device=device)
        target = torch.randint(sizes["words"], (tokens.numel(),), device=device)
        self.logits = 4 * tokens.numel() * sizes["words"]
        super().__init__(Model(module, (tokens, target)))

    def measure_part(self, method: str, peak: int) -> dict[str, float]:
        return {"loss": self.measure_loss(method)}

    def measure_loss(self, method: str) -> float:
        """Returns the most bytes that a step of the loss alone has, but for the gradients that it
        results in, as a part of the logits'."""
        head = self.make_head()
        options = self.find_budget(head) if method == PART else None
        model = Model(head, self.model.inputs[1:])
        step = compile_method(head, method, options)
        get_gradients(model, step)
        return (measure_memory(model, step)[1] - count_results(head)) / self.logits

    def make_head(self) -> Head:
        return Head(self.model.inputs[1].numel(), self.model.module.weight)

    def find_budget(self, head: Head) -> dict[str, Any]:
        return {"fad.budget": count_results(head) + self.logits // _PARTS}

    def compile(self, method: str) -> Callable:
        if method == PART:
            head = self.make_head()
            options = self.find_budget(head)
            explanation = fad.torch.explain(head, self.model.inputs[1], options=options)
            ((_, _, chunks),) = explanation.graphs[0].fad.chunks
            method = f"fad-{chunks}"
        return super().compile(method)


class LayerReference(Reference):
    """A gated layer of so many rows."""

    def __init__(self, sizes: dict[str, Any], device: str) -> None:
        seed()
        hidden = torch.randn(sizes["rows"], sizes["width"], device=device, requires_grad=True)
        super().__init__(Model(Gated(sizes["width"]).to(device), (hidden,)))
        self.peak = measure_memory(self.model, self.step)[1]

    def compile(self, method: str) -> Callable:
        compiled = super().compile("inductor" if method == "checkpoints" else method)

        def step(hidden: Tensor) -> Tensor:
            self.model.module.tiles = TILES if method == "checkpoints" else 0
            hidden.grad = None
            return compiled(hidden)

        return step

    def measure_part(self, method: str, peak: int) -> dict[str, float]:
        return {"part": peak / self.peak}


def make_reference(name: str, sizes: dict[str, Any], device: str) -> Reference:
    """Returns that of the case `name`, of these sizes."""
    kind = name.split()[0]
    if kind == "gated":
        return LayerReference(sizes, device)
    return LossReference(kind, sizes, device)

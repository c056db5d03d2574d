"""Models for fit.py: those of models.py, families of transformers, and modules as people write
them. All have few layers, and activations that are of the size of their parameters."""

from typing import Any, Callable

import torch
import torch.nn.functional as F
from torch import nn

import models
from steps import Model

WIDTH, HEADS, LAYERS, WORDS, LENGTH, BATCH = 128, 4, 1, 1024, 64, 8
TEXT = dict(
    vocab_size=WORDS, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
    num_key_value_heads=2, intermediate_size=4 * WIDTH, max_position_embeddings=LENGTH,
    pad_token_id=0, bos_token_id=1, eos_token_id=2,
)  # fmt: skip
PAIR = dict(
    vocab_size=WORDS, d_model=WIDTH, encoder_layers=1, decoder_layers=1,
    encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, encoder_ffn_dim=4 * WIDTH,
    decoder_ffn_dim=4 * WIDTH, max_position_embeddings=LENGTH, pad_token_id=0, bos_token_id=1,
    eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None, use_cache=False,
)  # fmt: skip
IMAGES = dict(
    hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
    intermediate_size=4 * WIDTH, image_size=64, patch_size=8, num_labels=10,
)  # fmt: skip
GPT = dict(n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=LENGTH)


def make(name: str, head: str, kind: str, **options: Any) -> Callable[[], Model]:
    """Returns a function that makes the model `head` of transformers, with inputs of a kind."""

    def run() -> Model:
        import transformers

        module = getattr(transformers, head)(getattr(transformers, f"{name}Config")(**options))
        if head.endswith("LMHeadModel"):
            module.loss_type = "ForCausalLM"
        tokens = models.make_tokens(BATCH, LENGTH, WORDS)
        labels = torch.randint(2, (BATCH,))
        if kind == "images":
            images = torch.randn(BATCH, 3, 64, 64)
            return Model(models.Loss(module, ("pixel_values", "labels")), (images, labels))
        if kind == "sound":
            sound = torch.randn(BATCH, 80, 2 * LENGTH)
            return Model(models.Loss(module, ("input_features", "labels")), (sound, tokens))
        chosen = labels if kind == "labels" else tokens
        return Model(models.Loss(module, ("input_ids", "labels")), (tokens, chosen))

    return run


def causal(name: str, head: str | None = None, **options: Any) -> Callable[[], Model]:
    options = {**TEXT, "use_cache": False, **options}
    return make(name, head or f"{name}ForCausalLM", "tokens", **options)


class Rows(nn.Module):
    """The mean of the squares of the results of a module."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.module(x).square().mean()


class SwiGLU(nn.Module):
    """The gated layers of Llama."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(width, 4 * width), nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(F.silu(self.gate(x)) * self.up(x))


class Mixer(nn.Module):
    """Layers over the rows, and over the columns, of an image's patches."""

    def __init__(self, width: int, length: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.tokens = nn.Sequential(nn.Linear(length, 2 * length), nn.GELU(), nn.Linear(2 * length, length))  # fmt: skip
        self.channels = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.tokens(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norms[1](x))


def make_rows(module: Callable[[], nn.Module], *shape: int) -> Callable[[], Model]:
    return lambda: Model(Rows(module()), (torch.randn(shape),))


def make_mlp() -> nn.Module:
    widths = (256, 512, 512, 256)
    layers = [[nn.Linear(*pair), nn.ReLU(), nn.Dropout(0.1)] for pair in zip(widths, widths[1:])]
    return nn.Sequential(*(layer for group in layers for layer in group))


def make_vgg() -> nn.Module:
    def block(before: int, after: int) -> list[nn.Module]:
        return [
            nn.Conv2d(before, after, 3, padding=1),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]

    return nn.Sequential(*block(3, 32), *block(32, 64), *block(64, 64), nn.Flatten(), nn.Linear(1024, 10))  # fmt: skip


def make_autoencoder() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, 2, 1), nn.GELU(), nn.Conv2d(32, 64, 3, 2, 1), nn.GELU(),
        nn.ConvTranspose2d(64, 32, 2, 2), nn.GELU(), nn.ConvTranspose2d(32, 3, 2, 2),
    )  # fmt: skip


def make_encoder() -> nn.Module:
    return nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, batch_first=True, norm_first=True)


SIZES = {
    "bert": dict(layers=1, width=128, heads=4, batch=8, length=64, dropout=0.1),
    "gpt2": dict(layers=1, width=128, heads=4, batch=8, length=64, dropout=0.1),
    "llama": dict(layers=1, width=128, heads=4, batch=8, length=64),
    "vit": dict(layers=1, width=128, heads=4, batch=8, pixels=128),
    "convnext": dict(blocks=[1, 1, 1, 1], width=16, batch=8, pixels=64),
    "resnet": dict(blocks=[1, 1, 1, 1], width=64, batch=8, pixels=64),
    "t5": dict(layers=1, width=128, heads=4, batch=8, length=64, dropout=0.1),
    "unet": dict(width=16, batch=8, pixels=32, dropout=0.1),
}
MODELS: dict[str, Callable[[], Model]] = {
    **{name: (lambda n=name: models.MAKERS[n](SIZES[n])) for name in SIZES},
    "mistral": causal("Mistral"),
    "qwen2": causal("Qwen2"),
    "mixtral": causal("Mixtral", num_local_experts=4, num_experts_per_tok=2),
    "gemma": causal("Gemma", head_dim=32),
    "phi": causal("Phi"),
    "gpt-neox": causal("GPTNeoX"),
    "opt": causal("OPT", ffn_dim=4 * WIDTH, word_embed_proj_dim=WIDTH),
    "bloom": causal("Bloom", n_layer=LAYERS, n_head=HEADS),
    "gpt-j": causal("GPTJ", rotary_dim=16, **GPT),
    "roberta": make("Roberta", "RobertaForMaskedLM", "tokens", **{**TEXT, "max_position_embeddings": 80}),
    "albert": make("Albert", "AlbertForMaskedLM", "tokens", embedding_size=64, **TEXT),
    "distilbert": make(
        "DistilBert", "DistilBertForSequenceClassification", "labels", vocab_size=WORDS, dim=WIDTH,
        n_layers=LAYERS, n_heads=HEADS, hidden_dim=4 * WIDTH, max_position_embeddings=LENGTH,
    ),
    "electra": make("Electra", "ElectraForSequenceClassification", "labels", embedding_size=64, **TEXT),
    "bart": make("Bart", "BartForConditionalGeneration", "tokens", **PAIR),
    "whisper": make(
        "Whisper", "WhisperForConditionalGeneration", "sound",
        **{**PAIR, "max_source_positions": LENGTH, "max_target_positions": LENGTH},
    ),
    "deit": make("DeiT", "DeiTForImageClassification", "images", **IMAGES),
    "dinov2": make("Dinov2", "Dinov2ForImageClassification", "images", **IMAGES),
    "mlp": make_rows(make_mlp, 2048, 256),
    "swiglu": make_rows(lambda: nn.Sequential(SwiGLU(WIDTH), SwiGLU(WIDTH)), 1024, WIDTH),
    "mixer": make_rows(lambda: Mixer(WIDTH, LENGTH), 16, LENGTH, WIDTH),
    "vgg": make_rows(make_vgg, 16, 3, 32, 32),
    "autoencoder": make_rows(make_autoencoder, 16, 3, 32, 32),
    "encoder": make_rows(make_encoder, 8, LENGTH, WIDTH),
}  # fmt: skip


def make_model(name: str) -> Model:
    """Returns the model `name` in training mode, the same at each call."""
    torch.manual_seed(0)
    model = MODELS[name]()
    return Model(model.module.train(), model.inputs)

"""Models: of transformers, from configurations and with random weights, and a network of
the kind that diffusion models train. Each has fewer layers than the model it is named
after, and layers of the same kind and width; `SIZES` says what differs."""

from typing import Callable

import torch
import torch.nn.functional as F
from torch import nn

from steps import Model

TOKENS = 8192


class Loss(nn.Module):
    """The loss that a model of transformers returns for arguments by name."""

    def __init__(self, module: nn.Module, names: tuple[str, ...]) -> None:
        super().__init__()
        self.module = module
        self.names = names

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.module(**dict(zip(self.names, inputs))).loss


def make_tokens(batch: int, length: int, tokens: int = TOKENS) -> torch.Tensor:
    return torch.randint(tokens, (batch, length))


def make_bert(sizes: dict) -> Model:
    from transformers import BertConfig, BertForSequenceClassification

    count = sizes.get("tokens", TOKENS)
    config = BertConfig(
        vocab_size=count, num_hidden_layers=sizes["layers"], hidden_size=sizes["width"],
        num_attention_heads=sizes["heads"], intermediate_size=4 * sizes["width"],
        hidden_dropout_prob=sizes["dropout"],
        attention_probs_dropout_prob=sizes["dropout"],
    )  # fmt: skip
    tokens = make_tokens(sizes["batch"], sizes["length"], count)
    labels = torch.randint(2, (sizes["batch"],))
    loss = Loss(BertForSequenceClassification(config), ("input_ids", "labels"))
    return Model(loss, (tokens, labels))


def make_gpt2(sizes: dict) -> Model:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=TOKENS, n_positions=sizes["length"], n_layer=sizes["layers"],
        n_embd=sizes["width"], n_head=sizes["heads"], resid_pdrop=sizes["dropout"],
        embd_pdrop=sizes["dropout"], attn_pdrop=sizes["dropout"], use_cache=False,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    tokens = make_tokens(sizes["batch"], sizes["length"])
    module = GPT2LMHeadModel(config)
    # Without it, each call warns, which is no part of a graph.
    module.loss_type = "ForCausalLM"
    return Model(Loss(module, ("input_ids", "labels")), (tokens, tokens))


def make_llama(sizes: dict) -> Model:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=TOKENS, hidden_size=sizes["width"], num_hidden_layers=sizes["layers"],
        num_attention_heads=sizes["heads"], num_key_value_heads=sizes["heads"] // 2,
        intermediate_size=11 * sizes["width"] // 4, use_cache=False,
    )  # fmt: skip
    tokens = make_tokens(sizes["batch"], sizes["length"])
    return Model(Loss(LlamaForCausalLM(config), ("input_ids", "labels")), (tokens, tokens))


def make_qwen3(sizes: dict) -> Model:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    # Heads are wider than their part of the model, and normalized.
    config = Qwen3Config(
        vocab_size=TOKENS, hidden_size=sizes["width"], num_hidden_layers=sizes["layers"],
        num_attention_heads=sizes["heads"], num_key_value_heads=sizes["heads"] // 2,
        head_dim=2 * sizes["width"] // sizes["heads"], intermediate_size=3 * sizes["width"],
        use_cache=False,
    )  # fmt: skip
    tokens = make_tokens(sizes["batch"], sizes["length"])
    return Model(Loss(Qwen3ForCausalLM(config), ("input_ids", "labels")), (tokens, tokens))


def make_t5(sizes: dict) -> Model:
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=TOKENS, d_model=sizes["width"], num_layers=sizes["layers"],
        num_heads=sizes["heads"], d_kv=sizes["width"] // sizes["heads"],
        d_ff=4 * sizes["width"], dropout_rate=sizes["dropout"], use_cache=False,
        decoder_start_token_id=0,
    )  # fmt: skip
    source = make_tokens(sizes["batch"], sizes["length"])
    target = make_tokens(sizes["batch"], sizes["length"] // 2)
    loss = Loss(T5ForConditionalGeneration(config), ("input_ids", "labels"))
    return Model(loss, (source, target))


def make_images(sizes: dict, module: nn.Module) -> Model:
    side = sizes["pixels"]
    images = torch.randn(sizes["batch"], 3, side, side)
    labels = torch.randint(10, (sizes["batch"],))
    return Model(Loss(module, ("pixel_values", "labels")), (images, labels))


def make_vit(sizes: dict) -> Model:
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        hidden_size=sizes["width"], num_hidden_layers=sizes["layers"],
        num_attention_heads=sizes["heads"], intermediate_size=4 * sizes["width"],
        image_size=sizes["pixels"], num_labels=10,
    )  # fmt: skip
    return make_images(sizes, ViTForImageClassification(config))


def make_convnext(sizes: dict) -> Model:
    from transformers import ConvNextConfig, ConvNextForImageClassification

    config = ConvNextConfig(
        hidden_sizes=[sizes["width"] << stage for stage in range(4)],
        depths=sizes["blocks"], image_size=sizes["pixels"], num_labels=10,
    )  # fmt: skip
    return make_images(sizes, ConvNextForImageClassification(config))


def make_resnet(sizes: dict) -> Model:
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(
        embedding_size=sizes["width"] // 4, depths=sizes["blocks"], num_labels=10,
        hidden_sizes=[sizes["width"] << stage for stage in range(4)],
    )  # fmt: skip
    return make_images(sizes, ResNetForImageClassification(config))


class UNetBlock(nn.Module):
    """Two normalized convolutions, with the time of the diffusion between them."""

    def __init__(self, before: int, after: int, time: int, dropout: float) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.GroupNorm(8, width) for width in (before, after))
        self.first = nn.Conv2d(before, after, 3, padding=1)
        self.time = nn.Linear(time, after)
        self.dropout = nn.Dropout(dropout)
        self.second = nn.Conv2d(after, after, 3, padding=1)
        self.skip = nn.Conv2d(before, after, 1) if before != after else nn.Identity()

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        y = self.first(F.silu(self.norms[0](x)))
        y = y + self.time(F.silu(time))[:, :, None, None]
        y = self.second(self.dropout(F.silu(self.norms[1](y))))
        return self.skip(x) + y


class UNetAttention(nn.Module):
    """Attention between the pixels of an image."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(8, width)
        self.before = nn.Conv2d(width, 3 * width, 1)
        self.after = nn.Conv2d(width, width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.before(self.norm(x)).flatten(2).transpose(1, 2).chunk(3, -1)
        y = F.scaled_dot_product_attention(*(part.unsqueeze(1) for part in parts))
        return x + self.after(y.squeeze(1).transpose(1, 2).reshape(x.shape))


class UNet(nn.Module):
    """The network of denoising diffusion (Ho et al. 2020): blocks at each of three
    resolutions on the way down and up, joined across, with attention in the middle."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        widths, time = (width, 2 * width, 2 * width), 4 * width
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.enter = nn.Conv2d(3, width, 3, padding=1)
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        before = width
        for after in widths:
            self.down.append(UNetBlock(before, after, time, dropout))
            before = after
        self.middle = UNetBlock(before, before, time, dropout)
        self.attention = UNetAttention(before)
        for after in reversed(widths):
            self.up.append(UNetBlock(before + after, after, time, dropout))
            before = after
        self.norm = nn.GroupNorm(8, width)
        self.leave = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x, steps, noise):
        powers = torch.arange(self.width // 2, device=x.device) / (self.width // 2)
        angles = steps[:, None] * torch.exp(-9.21 * powers)
        time = self.time(torch.cat((angles.sin(), angles.cos()), -1))
        y, across = self.enter(x), []
        for number, block in enumerate(self.down):
            y = block(F.avg_pool2d(y, 2) if number else y, time)
            across.append(y)
        y = self.attention(self.middle(y, time))
        for number, block in enumerate(self.up):
            y = F.interpolate(y, scale_factor=2.0) if number else y
            y = block(torch.cat((y, across.pop()), 1), time)
        return F.mse_loss(self.leave(F.silu(self.norm(y))), noise)


def make_unet(sizes: dict) -> Model:
    shape = (sizes["batch"], 3, sizes["pixels"], sizes["pixels"])
    steps = torch.randint(1000, (sizes["batch"],)).float()
    module = UNet(sizes["width"], sizes["dropout"])
    return Model(module, (torch.randn(shape), steps, torch.randn(shape)))


class EfficientNetBlock(nn.Module):
    """A block that widens images, convolves each channel, weighs channels by their means, and narrows
    images again."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = 4 * width
        self.widen, self.first = nn.Conv2d(width, inner, 1, bias=False), nn.BatchNorm2d(inner)
        self.each = nn.Conv2d(inner, inner, 3, padding=1, groups=inner, bias=False)
        self.second = nn.BatchNorm2d(inner)
        self.squeeze, self.excite = nn.Conv2d(inner, width, 1), nn.Conv2d(width, inner, 1)
        self.narrow, self.last = nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.silu(self.first(self.widen(x)))
        y = F.silu(self.second(self.each(y)))
        means = y.mean((2, 3), keepdim=True)
        y = y * self.excite(F.silu(self.squeeze(means))).sigmoid()
        return x + self.last(self.narrow(y))


class EfficientNet(nn.Module):
    """Blocks of an EfficientNet (Tan and Le 2019) at one resolution, and their mean square."""

    def __init__(self, width: int, blocks: int) -> None:
        super().__init__()
        self.blocks = nn.Sequential(*(EfficientNetBlock(width) for _ in range(blocks)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.blocks(x).square().mean()


def make_efficientnet(sizes: dict) -> Model:
    images = torch.randn(sizes["batch"], sizes["width"], sizes["pixels"], sizes["pixels"])
    return Model(EfficientNet(sizes["width"], sizes["blocks"]), (images,))


class DiTBlock(nn.Module):
    """A block of which a condition scales, shifts and gates what attention and layers read and add."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(
            nn.LayerNorm(width, elementwise_affine=False, eps=1e-6) for _ in range(2)
        )
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))
        self.before, self.after = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.layers = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor, condition: torch.Tensor) -> torch.Tensor:
        parts = self.modulation(condition).unsqueeze(1).chunk(6, -1)
        x = x + parts[2] * self.attend(self.modulate(0, x, *parts[:2]))
        return x + parts[5] * self.layers(self.modulate(1, x, *parts[3:5]))

    def modulate(self, number: int, x: torch.Tensor, shift: torch.Tensor, scale: torch.Tensor):
        return self.norms[number](x) * (1 + scale) + shift

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.before(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return self.after(F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2))


class DiT(nn.Module):
    """Blocks of a diffusion transformer (Peebles and Xie 2023)."""

    def __init__(self, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(DiTBlock(width, heads) for _ in range(layers))

    def forward(self, x: torch.Tensor, condition: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x, condition)
        return x


class Alone(nn.Module):
    """An activation of a large tensor, with little else."""

    def __init__(self, activation: nn.Module) -> None:
        super().__init__()
        self.activation = activation
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.activation(x * self.scale).mean()


class Frozen(nn.Module):
    """Layers with ReLU whose weights are frozen, behind a trained scale: backward
    needs signs alone."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.layers.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x * self.scale
        for layer in self.layers:
            x = F.relu(layer(x))
        return x.mean()


def make_frozen(sizes: dict) -> Model:
    module = Frozen(sizes["width"], sizes["layers"])
    return Model(module, (torch.randn(sizes["batch"], sizes["width"]),))


def make_mish(sizes: dict) -> Model:
    return Model(Alone(nn.Mish()), (torch.randn(sizes["batch"], sizes["width"]),))


MAKERS: dict[str, Callable[[dict], Model]] = {
    "bert": make_bert,
    "gpt2": make_gpt2,
    "llama": make_llama,
    "vit": make_vit,
    "convnext": make_convnext,
    "resnet": make_resnet,
    "t5": make_t5,
    "unet": make_unet,
    "effnet": make_efficientnet,
    "frozen-relu": make_frozen,
    "mish": make_mish,
    # Of many layers, for budgets.
    "deep": make_llama,
}
# Models that run in a second on one core. A model of two layers has the bytes of a layer
# and its time in the same proportion as one of many.
SIZES: dict[str, dict] = {
    "bert": dict(layers=2, width=768, heads=12, batch=2, length=128, dropout=0.1),
    "gpt2": dict(layers=2, width=768, heads=12, batch=2, length=128, dropout=0.1),
    "llama": dict(layers=2, width=768, heads=12, batch=2, length=128),
    "vit": dict(layers=2, width=768, heads=12, batch=2, pixels=160),
    "convnext": dict(blocks=[1, 1, 2, 1], width=96, batch=2, pixels=128),
    "resnet": dict(blocks=[1, 1, 2, 1], width=256, batch=4, pixels=128),
    "t5": dict(layers=1, width=512, heads=8, batch=2, length=128, dropout=0.1),
    "unet": dict(width=64, batch=4, pixels=32, dropout=0.1),
    "effnet": dict(blocks=1, width=32, batch=4, pixels=56),
    "frozen-relu": dict(layers=8, width=128, batch=8192),
    "mish": dict(width=1024, batch=1024),
    "deep": dict(layers=8, width=192, heads=4, batch=8, length=256),
}
# Models that are compiled and run in a few seconds, for tests.
QUICK: dict[str, dict] = {
    "bert": dict(layers=1, width=32, heads=2, batch=2, length=16, dropout=0.1),
    "gpt2": dict(layers=1, width=32, heads=2, batch=2, length=16, dropout=0.1),
    "llama": dict(layers=1, width=32, heads=2, batch=2, length=16),
    "vit": dict(layers=1, width=32, heads=2, batch=2, pixels=32),
    "convnext": dict(blocks=[1, 1, 1, 1], width=8, batch=2, pixels=32),
    "resnet": dict(blocks=[1, 1, 1, 1], width=16, batch=2, pixels=32),
    "t5": dict(layers=1, width=32, heads=2, batch=2, length=16, dropout=0.1),
    "unet": dict(width=8, batch=2, pixels=8, dropout=0.1),
    "effnet": dict(blocks=1, width=8, batch=2, pixels=16),
    "frozen-relu": dict(layers=2, width=64, batch=64),
    "mish": dict(width=64, batch=64),
    "deep": dict(layers=2, width=32, heads=2, batch=2, length=16),
}


# How many times as much a batch is on a GPU: what keeps one busy.
GPU_BATCHES = 8


def get_sizes(name: str, device: str, quick: bool) -> dict:
    """Returns the sizes of the model `name`, of which the batch depends on the device."""
    sizes = (QUICK if quick else SIZES)[name]
    factor = GPU_BATCHES if device.startswith("cuda") else 1
    return {**sizes, "batch": factor * sizes["batch"]}


def make_model(name: str, device: str, quick: bool, sizes: dict | None = None) -> Model:
    """Returns the model `name` in training mode, of other `sizes` where there are some, the same at
    each call."""
    torch.manual_seed(0)
    model = MAKERS[name](sizes or get_sizes(name, device, quick))
    return Model(
        model.module.to(device).train(),
        tuple(tensor.to(device) for tensor in model.inputs),
    )

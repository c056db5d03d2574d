"""Random numbers of 16-bit dropouts on a GPU: each kernel draws those that it needs, and none
goes through memory, where a mask that is packed is also one that a normalization reads."""

import re
import warnings

import fake_cuda
import torch
from fad.torch.compile._backend import make_inner
from transformers import GPT2Config, GPT2LMHeadModel

BATCH, LENGTH = 4, 64


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        config = GPT2Config(
            vocab_size=512, n_positions=LENGTH, n_layer=1, n_embd=256, n_head=2, attn_pdrop=0.0,
            use_cache=False, bos_token_id=0, eos_token_id=0,
        )  # fmt: skip
        self.module = GPT2LMHeadModel(config)
        self.module.loss_type = "ForCausalLM"

    def forward(self, tokens):
        with torch.autocast("cpu", torch.bfloat16):
            return self.module(input_ids=tokens, labels=tokens).loss


warnings.simplefilter("ignore")
torch.manual_seed(0)
partitioner = fake_cuda.Moved("auto")
tokens = torch.randint(512, (BATCH, LENGTH))
parts = fake_cuda.write(Model().train(), [tokens], partitioner, make_inner(partitioner, {}))
for name, part in zip(("forward", "backward"), parts, strict=True):
    sources = [part.sources[kernel] for kernel in part.launches]
    numbers = [(s, n) for s in sources for n in re.findall(r"(tmp\d+) = [\w.]+\.rand\(", s)]
    stored = sum(bool(re.search(rf"tl\.store\(.*, {n}, ", s)) for s, n in numbers)
    print(f"{name}: {len(numbers) > 0} drawn, {stored} stored")

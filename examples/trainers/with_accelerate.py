"""Accelerate: bf16, accumulated batches, checkpoints."""

import torch
from accelerate import Accelerator
from transformers import BertConfig, BertForSequenceClassification


def train(folder, options, resume=False, **more):
    torch.manual_seed(0)
    config = BertConfig(vocab_size=128, hidden_size=64, num_hidden_layers=2, num_attention_heads=2)
    model = BertForSequenceClassification(config)
    model.compile(backend="fad", options=options)  # The line.
    batches = torch.randint(128, (8, 4, 32))
    accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=2, **more)
    model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), 1e-3))
    if resume:
        accelerator.load_state(folder)
    for ids in batches[4:] if resume else batches[:4]:
        with accelerator.accumulate(model):
            loss = model(input_ids=ids, labels=ids[:, 0] % 2).loss
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
    accelerator.save_state(folder)
    return loss.item()


if __name__ == "__main__":
    train("accelerate-output", {"fad.budget": "20GB"})

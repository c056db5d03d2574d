"""LoRA in transformers' Trainer: bf16, accumulated batches, evaluation, checkpoints."""

import sys

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

import fad.torch


def train(folder, callbacks, resume=False, **options):
    torch.manual_seed(0)
    size = {"hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2}
    config = LlamaConfig(vocab_size=128, num_attention_heads=2, **size)
    lora = LoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj", "v_proj", "up_proj"])
    model = get_peft_model(LlamaForCausalLM(config), lora)
    data = [{"input_ids": row, "labels": row} for row in torch.randint(128, (32, 64))]
    every = {"eval_strategy": "steps", "eval_steps": 2, "save_steps": 2, "logging_steps": 1}
    batch = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 2, "max_steps": 4}
    options = {**every, **batch, **options}
    arguments = TrainingArguments(folder, bf16=True, report_to=[], **options)
    trainer = Trainer(model, arguments, None, data, data[:4], callbacks=callbacks)
    trainer.train(resume_from_checkpoint=resume)
    return trainer


if __name__ == "__main__":
    train(sys.argv[1], [fad.torch.FadCallback(budget="20GB")], resume=len(sys.argv) > 2)

"""TRL's SFTTrainer, with LoRA."""

import torch
from datasets import Dataset
from peft import LoraConfig
from tokenizers import Tokenizer, models
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

import fad.torch


def train(folder, callbacks, **options):
    torch.manual_seed(0)
    size = {"hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=128, num_attention_heads=2, **size))
    words = Tokenizer(models.WordLevel({str(i): i for i in range(128)}, "0"))
    tokens = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="1", pad_token="2")
    data = Dataset.from_dict({"input_ids": torch.randint(3, 128, (32, 64)).tolist()})
    options = {"gradient_checkpointing": False, "max_steps": 4, "logging_steps": 1, **options}
    lora = LoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj", "v_proj", "up_proj"])
    arguments = SFTConfig(folder, report_to=[], per_device_train_batch_size=4, **options)
    parts = {"train_dataset": data, "processing_class": tokens, "peft_config": lora}
    trainer = SFTTrainer(model, arguments, callbacks=callbacks, **parts)
    trainer.train()
    return trainer


if __name__ == "__main__":
    train("trl-output", [fad.torch.FadCallback(budget="20GB")])

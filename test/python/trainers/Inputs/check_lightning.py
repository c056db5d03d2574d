"""Lightning's Trainer with LightningCallback, and without: the module of the example
examples/trainers/with_lightning.py.

usage: check_lightning.py EXAMPLES FOLDER [ENGINE]"""

import logging
import re
import sys
import warnings

import torch
from lightning.pytorch import Trainer
from lightning.pytorch.callbacks import ModelCheckpoint

from fad.torch.integrations import LightningCallback

QUIET = {"accelerator": "cpu", "enable_progress_bar": False, "enable_model_summary": False}
KIND = {"precision": "bf16-mixed", "accumulate_grad_batches": 2, "val_check_interval": 4}


def train(make, folder, callbacks, checkpoint=None):
    torch.manual_seed(0)
    module = make()
    data = torch.utils.data.DataLoader(torch.randn(32, 16, 64), 4)
    saved = ModelCheckpoint(folder, "{step}", save_top_k=-1, every_n_train_steps=2)
    options = {"logger": False, "max_steps": 6, **QUIET, **KIND}
    trainer = Trainer(callbacks=[*callbacks, saved], **options)
    trainer.fit(module, data, data, ckpt_path=checkpoint)
    return module, {name: value.item() for name, value in trainer.callback_metrics.items()}


def compare(name, found, expected):
    worst = max(abs(found[key] - value) / abs(value) for key, value in expected.items())
    print(f"{name}: {'right' if worst < 1e-3 else f'off by {worst:.1e}'}")


def read_keys(folder):
    return list(torch.load(f"{folder}/step=6.ckpt", weights_only=True)["state_dict"])


def check_manual(make):
    class Manual(make):
        automatic_optimization = False

    try:
        LightningCallback().on_train_start(None, Manual())
    except ValueError as error:
        print(f"ValueError: {error}")


def main(examples, folder, engine="eager"):
    sys.path.insert(0, examples)
    from with_lightning import Module

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    lines = []
    _, expected = train(Module, f"{folder}/plain", [])
    callback = LightningCallback("20GB", options={"fad.engine": engine}, log=lines.append)
    module, found = train(Module, f"{folder}/fad", [callback])
    compare("metrics", found, expected)
    for line in lines:
        print(re.sub(r"[\d,.]+ MiB", "N MiB", line))
    print("keys:", read_keys(f"{folder}/fad") == read_keys(f"{folder}/plain"))
    own = [name for name in ("training_step", "log", "log_dict") if name in vars(module)]
    print("replaced afterwards:", own)
    checkpoint = f"{folder}/fad/step=2.ckpt"
    _, resumed = train(Module, f"{folder}/resumed", [callback], checkpoint)
    compare("resumed", resumed, expected)
    check_manual(Module)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""TRL's SFTTrainer with fad.torch.FadCallback, and without: the example
examples/trainers/with_trl.py.

usage: check_trl.py EXAMPLES FOLDER [ENGINE]"""

import re
import sys
import warnings

import fad.torch

QUIET = {"use_cpu": True, "disable_tqdm": True}


def main(examples, folder, engine="eager"):
    sys.path.insert(0, examples)
    warnings.simplefilter("ignore", FutureWarning)
    from with_trl import train

    def read(trainer):
        return [each["loss"] for each in trainer.state.log_history if "loss" in each]

    expected = read(train(f"{folder}/plain", [], **QUIET))
    for name, options in (("example", {}), ("TRL's default", {"gradient_checkpointing": True})):
        lines = []
        callback = fad.torch.FadCallback("20GB", options={"fad.engine": engine}, log=lines.append)
        trainer = train(f"{folder}/fad", [callback], **{**QUIET, **options})
        worst = max(abs(a - b) / b for a, b in zip(read(trainer), expected, strict=True))
        print(f"{name}: {'right' if worst < 2e-4 else f'off by {worst:.1e}'}")
        for line in lines:
            print(re.sub(r"[\d,.]+ MiB", "N MiB", line))


if __name__ == "__main__":
    main(*sys.argv[1:])

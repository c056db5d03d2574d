"""No trainer is imported before a callback is asked for, and one that is missing is named.

usage: check_imports.py"""

import importlib
import sys

TRAINERS = {"transformers", "accelerate", "peft", "trl", "lightning", "pytorch_lightning"}
TRAINERS |= {"torchtitan", "liger_kernel"}


class Missing:
    """Finds no trainer."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in TRAINERS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def main():
    import fad
    import fad.torch.compile
    import fad.torch.integrations

    print("imported:", sorted(TRAINERS & set(sys.modules)))
    print("listed:", "FadCallback" in dir(fad.torch), "StepReport" in dir(fad.torch.integrations))
    sys.meta_path.insert(0, Missing())
    for module, name in (
        ("fad.torch", "FadCallback"),
        ("fad.torch.integrations", "LightningCallback"),
        ("fad.torch.integrations", "register_memory_policy"),
        ("fad.torch.integrations", "FadCallbak"),
    ):
        try:
            getattr(importlib.import_module(module), name)
        except (AttributeError, ImportError) as error:
            print(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()

"""A callback of Lightning's Trainer."""

import sys
from typing import TYPE_CHECKING, Any, Callable

import torch

from ._step import StepCallback

if TYPE_CHECKING:
    from lightning.pytorch import Callback
else:
    try:
        # Both packages have the Trainer, and each knows callbacks of its own.
        if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
            from pytorch_lightning import Callback
        else:
            from lightning.pytorch import Callback
    except ImportError as error:
        raise ImportError(
            "fad.torch.integrations.LightningCallback needs Lightning; install it with: "
            "pip install lightning"
        ) from error


class LightningCallback(StepCallback, Callback):
    """Compiles the training step of a LightningModule by the backend `fad` while it trains.

    `budget` bounds the peak of a step, as the option `fad.budget` does: bytes, text such as
    "20GB", or a fraction. `options` are those of `torch.compile`. After the second step,
    `log` gets a line with the bytes that are kept for backward and the measured peak,
    which `report` has as numbers. Validation runs as before, and so does all after the
    training."""

    # The methods of the module that attributes hide.
    _replaced: tuple[str, ...] = ()

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        if not pl_module.automatic_optimization:
            raise ValueError(
                "LightningCallback compiles training_step, which calls backward itself here; "
                'compile modules in configure_model instead: self.model.compile(backend="fad")'
            )
        self._compiler.start()
        self._replace(pl_module, "training_step", self._compiler.compile)
        # Lightning looks at the step that logs, which Dynamo cannot trace.
        self._replace(pl_module, "log", torch.compiler.disable)
        self._replace(pl_module, "log_dict", torch.compiler.disable)

    def _replace(self, pl_module: Any, name: str, make: Callable) -> None:
        """Hides the method `name` of the module behind an attribute, unless it has one."""
        if name not in vars(pl_module):
            setattr(pl_module, name, make(getattr(pl_module, name)))
            self._replaced += (name,)

    def on_train_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int
    ) -> None:
        # Batches that are accumulated are one step.
        if batch_idx % trainer.accumulate_grad_batches == 0:
            self._compiler.begin_step(pl_module.parameters())

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        self._end_step(trainer.is_global_zero)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._restore(pl_module)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        self._restore(pl_module)

    def _restore(self, pl_module: Any) -> None:
        self._compiler.end_step()
        for name in self._replaced:
            delattr(pl_module, name)
        self._replaced = ()

"""The memory of a training step before it runs: `fad.torch.fit`.

- `fake`: a model and its inputs without memory, and inputs of other sizes;
- `eager`: the step in eager PyTorch, operation by operation, and that of the optimizer;
- `compiled`: the schedules of Inductor, for its own partitioner and for fad's plans;
- `layers` and `deep`: steps of deep models by those of a few of their equal layers;
- `search`: the largest size within a memory, and `progress` for who waits;
- `report`: the answer, with its text, and `picture` the step as SVG;
- `command`: models of transformers by their `configurations`, from the command line.
- `optimizers`: optimizers by name.

`fad/torch/fit.py` runs the command."""

from .fit import fit
from .report import Fit, Plan

__all__ = ["Fit", "Plan", "fit"]

"""Lightning: bf16, accumulated batches, validation between steps, checkpoints."""

import torch
from lightning.pytorch import LightningModule, Trainer

from fad.torch.integrations import LightningCallback


class Module(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(64, 4, 256, 0.0, "gelu")

    def training_step(self, x):
        loss = self.layer(x).square().mean()
        self.log("loss" if self.training else "validation", loss)
        return loss

    validation_step = training_step

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 1e-3)


if __name__ == "__main__":
    data = torch.utils.data.DataLoader(torch.randn(32, 16, 64), 4)
    kind = {"precision": "bf16-mixed", "accumulate_grad_batches": 2, "val_check_interval": 4}
    trainer = Trainer(callbacks=[LightningCallback(budget="20GB")], max_epochs=2, **kind)
    trainer.fit(Module(), data, data)

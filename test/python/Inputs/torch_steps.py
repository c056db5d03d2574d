"""Exports a model, and compiles one by the backend of torch.compile."""

import torch

import fad.torch.compile

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh())
x = torch.randn(2, 4)
fad.torch.export(model, x, torch.nn.functional.mse_loss, targets=x)
compiled = torch.compile(model, backend="fad", options={"fad.engine": "eager"})
compiled(x).sum().backward()

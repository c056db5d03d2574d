"""Runs the example of PyTorch on a page that trains: its gradients, which its two models have
added up, are twice those of eager PyTorch.

Usage: run_example.py PAGE NAME, where a fence "```python NAME" begins the example"""

import pathlib
import re
import sys

page, name = sys.argv[1:]
text = pathlib.Path(page).read_text()
examples = re.findall(rf"^```python {name}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
(example,) = (text for text in examples if ".backward()" in text)
names = {}
exec(compile(example, page, "exec"), names)

# Each backward of the example has added to the gradients once.
torch, model = names["torch"], names["model"]
sums = [parameter.grad for parameter in model.parameters()]
model.zero_grad(set_to_none=True)
torch.nn.functional.mse_loss(model(names["x"]), names["target"]).backward()
single = [parameter.grad for parameter in model.parameters()]
for both, one in zip(sums, single, strict=True):
    torch.testing.assert_close(both, 2 * one)
print(f"{len(sums)} gradients are right")

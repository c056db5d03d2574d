"""Training data that comes with Python and with scikit-learn."""

import pydoc_data.topics

import torch

# Pixels of the digits are repeated, so that a ResNet has something to shrink.
ENLARGE = 4
# Without noise, whole areas of an image are alike and cross the kink of ReLU
# together: a difference in rounding would change gradients by more than rounding.
NOISE = 0.2
MASKED = 0.15
# A label that cross-entropy leaves out.
IGNORED = -100


class Precision:
    """Images of handwritten digits, 32 by 32 pixels, and what they show."""

    classes = 10

    def __init__(self, batch, seed):
        import sklearn.datasets

        images, labels = sklearn.datasets.load_digits(return_X_y=True)
        images = images.reshape(-1, 8, 8) / 8 - 1
        images = images.repeat(ENLARGE, axis=1).repeat(ENLARGE, axis=2)
        self._random = torch.Generator().manual_seed(seed)
        images = torch.tensor(images[:, None], dtype=torch.float32)
        noise = torch.randn(images.shape, generator=self._random)
        self._images = images + NOISE * noise
        self._labels = torch.tensor(labels)
        self._batch = batch

    def next_batch(self):
        rows = torch.randint(len(self._labels), (self._batch,), generator=self._random)
        return {"pixel_values": self._images[rows], "labels": self._labels[rows]}


class MaskedText:
    """Stretches of Python's documentation, letter by letter, in which some
    letters are masked and to be guessed."""

    def __init__(self, batch, length, seed):
        text = "\n".join(pydoc_data.topics.topics.values())
        letters = sorted(set(text))
        self._mask = len(letters)
        self.vocabulary = len(letters) + 1
        numbers = {letter: number for number, letter in enumerate(letters)}
        self._text = torch.tensor([numbers[letter] for letter in text])
        self._batch, self._length = batch, length
        self._random = torch.Generator().manual_seed(seed)

    def next_batch(self):
        starts = torch.randint(
            len(self._text) - self._length, (self._batch, 1), generator=self._random
        )
        words = self._text[starts + torch.arange(self._length)]
        chosen = torch.rand(words.shape, generator=self._random) < MASKED
        # At least one: the mean over none is no number.
        chosen[:, 0] = True
        return {
            "input_ids": torch.where(chosen, self._mask, words),
            "labels": torch.where(chosen, words, IGNORED),
        }

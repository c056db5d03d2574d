"""Types of options."""

import argparse


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("has to be 1 or more")
    return number

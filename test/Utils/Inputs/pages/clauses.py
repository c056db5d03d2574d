"""What the file has."""

# Not What is meant.
What = 1  # What follows.
# A part of
# what is there.

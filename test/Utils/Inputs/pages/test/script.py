# What a test checks.
print("a")

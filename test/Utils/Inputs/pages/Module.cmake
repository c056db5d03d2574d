# What a module of CMake needs.

# What `cmake --install` puts down: headers, tools, and a package that
# `find_package(fad)` finds.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Packages of Debian, which `cpack` makes in the folder that it is called in:
#
#   fad          the programs, the plugin, the C API and the CUDA runtime
#   libfad-dev   headers, libraries, and the package for CMake
#   python3-fad  the Python package, for the Python that the build is for
#
# FadInstall.cmake says what belongs to which component. What only tests use is in none.
set(components tools development)
if(TARGET FADPython)
  list(APPEND components python)
endif()
# Debian reads the license of a package here.
foreach(package IN ITEMS tools:fad development:libfad-dev python:python3-fad)
  string(REPLACE ":" ";" package ${package})
  list(GET package 0 component)
  list(GET package 1 name)
  install(FILES LICENSE DESTINATION share/doc/${name} RENAME copyright
    COMPONENT ${component} EXCLUDE_FROM_ALL)
  string(TOUPPER ${component} component)
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME ${name})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fad)
set(CPACK_PACKAGE_CONTACT "Contributors of fad")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Libraries that binaries load; those of the packages themselves have no package yet.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  ${LLVM_LIBRARY_OUTPUT_INTDIR} ${LLVM_LIBRARY_DIR})

set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "differentiation of tensor programs in MLIR
 fad differentiates tensor programs for training and keeps less memory between the
 forward and the backward pass. The package has its programs, its plugin for mlir-opt,
 its C API and the library that launches kernels.")
# Parallel loops load OpenMP when they run. dpkg-shlibdeps sees LLVM's library in two
# places, and leaves its package out where it looks at that of the headers first.
set(depends "libllvm${LLVM_VERSION_MAJOR}, libomp-${LLVM_VERSION_MAJOR}-dev")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS ${depends})
# Products of matrices take loops without one of these.
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "libdnnl2 | libopenblas0-openmp")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "headers and libraries of fad
 Another compiler embeds fad with these: find_package(fad) of CMake gives the targets
 fad::fad for C++ and fad::capi for C.")
# MLIR's package for CMake refers to the programs of mlir-tools, on which Debian's
# libmlir-dev does not depend.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "fad (= ${PROJECT_VERSION}), libmlir-${LLVM_VERSION_MAJOR}-dev, llvm-${LLVM_VERSION_MAJOR}-dev, mlir-${LLVM_VERSION_MAJOR}-tools")

if(TARGET FADPython)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_DESCRIPTION "Python package of fad
 Functions on numpy arrays and PyTorch models are differentiated with fad's policies for
 what is kept from forward to backward.")
  math(EXPR next "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), python3 (<< ${Python_VERSION_MAJOR}.${next}), python3-numpy, ${depends}")
  # Compiled Python files come and go with the package.
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    ${PROJECT_SOURCE_DIR}/cmake/debian/postinst ${PROJECT_SOURCE_DIR}/cmake/debian/prerm)
endif()
include(CPack)

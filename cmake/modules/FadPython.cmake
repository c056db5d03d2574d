# Requirements of the Python bindings: a Python with headers, and nanobind installed
# in it. Sets FAD_PYTHON_FOUND.
include_guard()

set(FAD_PYTHON_FOUND OFF)
# By default the same Python as everything else.
if(NOT Python_EXECUTABLE AND Python3_EXECUTABLE)
  set(Python_EXECUTABLE ${Python3_EXECUTABLE})
endif()
find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module
  OPTIONAL_COMPONENTS Development.SABIModule)
if(FAD_ENABLE_SANITIZERS)
  set(fad_python_missing "Python itself is not built with sanitizers")
elseif(NOT Python_FOUND)
  set(fad_python_missing "no Python with headers was found (set Python_EXECUTABLE)")
else()
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE fad_nanobind_dir OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE fad_nanobind_status ERROR_QUIET)
  if(fad_nanobind_status)
    set(fad_python_missing "${Python_EXECUTABLE} has no nanobind (pip install nanobind)")
  else()
    find_package(nanobind 3 CONFIG REQUIRED PATHS ${fad_nanobind_dir} NO_DEFAULT_PATH)
    set(FAD_PYTHON_FOUND ON)
  endif()
endif()

if(FAD_PYTHON_FOUND)
  message(STATUS "Python bindings: for ${Python_EXECUTABLE}")
elseif(FAD_ENABLE_PYTHON STREQUAL "AUTO")
  message(STATUS "Python bindings: left out, ${fad_python_missing}")
else()
  message(FATAL_ERROR "Python bindings: ${fad_python_missing}")
endif()

# Thin wrappers over AddLLVM and AddMLIR, so that every target of the project
# is declared in one way.
include_guard()

# One precompiled header for all libraries and tools: the headers that nearly
# every file needs anyway. It halves the time of a clean build.
function(fad_precompile target)
  if(NOT TARGET FADPrecompiled)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM FADPrecompiled)
endfunction()

# Compiles the files of a folder as one. Names of one folder's static functions
# differ for that.
function(fad_unite target)
  if(NOT FAD_UNITY_BUILD)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${target}/${folder}")
  endforeach()
  # Each file has a DEBUG_TYPE of its own.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
    UNITY_BUILD_CODE_BEFORE_INCLUDE "#undef DEBUG_TYPE")
endfunction()

# add_fad_library(name sources... [SHARED] [DEPENDS ...])
function(add_fad_library name)
  cmake_parse_arguments(ARG "SHARED" "" "" ${ARGN})
  add_mlir_library(${name} PARTIAL_SOURCES_INTENDED ${ARGN} DISABLE_INSTALL EXCLUDE_FROM_LIBMLIR)
  set(compiled ${name})
  if(TARGET obj.${name})
    set(compiled obj.${name})
  endif()
  fad_precompile(${compiled})
  fad_unite(${compiled})
  if(ARG_SHARED)
    set_property(GLOBAL APPEND PROPERTY FAD_SHARED_LIBS ${name})
  else()
    set_property(GLOBAL APPEND PROPERTY FAD_LIBS ${name})
  endif()
endfunction()

# add_fad_tool(name sources...): a program whose `main` calls the function
# NAME_main of the sources.
function(add_fad_tool name)
  set(FAD_TOOL ${name})
  string(REPLACE "-" "_" FAD_TOOL_FUNCTION ${name}_main)
  set(main ${CMAKE_CURRENT_BINARY_DIR}/Main.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/tools/Common/Main.cpp.in ${main} @ONLY)
  add_llvm_executable(${name} PARTIAL_SOURCES_INTENDED
    ${main} ${ARGN})
  target_link_libraries(${name} PRIVATE FADToolCommon)
  llvm_update_compile_flags(${name})
  fad_precompile(${name})
  fad_unite(${name})
  # It includes nothing.
  set_source_files_properties(${main} PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  set_property(GLOBAL APPEND PROPERTY FAD_TOOLS ${name})
endfunction()

# add_test_passes(tool): gives a tool of the build tree what only tests use. Another
# program of that name, in the folder installed/ of the build tree, has the same objects
# without that; it is the one that is installed.
function(add_test_passes tool)
  if(NOT FAD_INCLUDE_TESTS)
    return()
  endif()
  get_target_property(libraries ${tool} LINK_LIBRARIES)
  add_executable(${tool}-installed $<TARGET_OBJECTS:${tool}>)
  target_link_libraries(${tool}-installed PRIVATE ${libraries})
  set_target_properties(${tool}-installed PROPERTIES
    OUTPUT_NAME ${tool}
    LINKER_LANGUAGE CXX
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/installed)
  foreach(property LINK_FLAGS INSTALL_RPATH)
    get_target_property(value ${tool} ${property})
    if(value)
      set_property(TARGET ${tool}-installed PROPERTY ${property} "${value}")
    endif()
  endforeach()
  target_link_libraries(${tool} PRIVATE FADTestRegistration)
endfunction()

# add_fad_doc(td-file output-name generator-options...): a reference page made
# from TableGen, in the current build folder.
function(add_fad_doc td output)
  set(LLVM_TARGET_DEFINITIONS ${td})
  tablegen(MLIR ${output}.md ${ARGN} "-I${PROJECT_SOURCE_DIR}/include")
  add_custom_target(fad-doc-${output}
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${output}.md)
  add_dependencies(mlir-doc fad-doc-${output})
endfunction()

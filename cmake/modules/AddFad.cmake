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
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
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
    ${main} ../Common/InitTool.cpp ${ARGN})
  target_compile_definitions(${name} PRIVATE FAD_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${name} PRIVATE FADCodegen)
  llvm_update_compile_flags(${name})
  fad_precompile(${name})
  fad_unite(${name})
  set_property(GLOBAL APPEND PROPERTY FAD_TOOLS ${name})
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

# Files that `cmake --install` puts down: headers, libraries, tools, and a package
# that `find_package(fad)` finds. The build tree is such a package as well. Components
# are those of FadPackages.cmake.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(fad_libs GLOBAL PROPERTY FAD_LIBS)
get_property(fad_shared_libs GLOBAL PROPERTY FAD_SHARED_LIBS)
get_property(fad_tools GLOBAL PROPERTY FAD_TOOLS)
# Libraries of the tests stay here.
list(FILTER fad_libs EXCLUDE REGEX "^FADTest")
list(APPEND fad_libs ${fad_shared_libs})
set(fad_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fad)

foreach(lib IN LISTS fad_libs)
  target_include_directories(${lib} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

# fad_package(directory install-directory): the package files, written to
# `directory`, of a package that stands in `install-directory`. Reads
# FAD_CONFIG_*.
function(fad_package directory install_directory)
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/fadConfig.cmake.in
    ${directory}/fadConfig.cmake
    INSTALL_DESTINATION ${install_directory}
    NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${directory}/fadConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
endfunction()

# The build tree.
set(FAD_CONFIG_INCLUDE_DIRS
  "\"${PROJECT_SOURCE_DIR}/include\" \"${PROJECT_BINARY_DIR}/include\"")
set(FAD_CONFIG_TOOLS_DIR "${PROJECT_BINARY_DIR}/bin")
fad_package(${PROJECT_BINARY_DIR}/lib/cmake/fad
  ${PROJECT_BINARY_DIR}/lib/cmake/fad)
export(TARGETS ${fad_libs}
  FILE ${PROJECT_BINARY_DIR}/lib/cmake/fad/fadTargets.cmake)

# The install tree; PACKAGE_PREFIX_DIR is set by PACKAGE_INIT.
set(FAD_CONFIG_INCLUDE_DIRS
  "\"\${PACKAGE_PREFIX_DIR}/${CMAKE_INSTALL_INCLUDEDIR}\"")
set(FAD_CONFIG_TOOLS_DIR "\${PACKAGE_PREFIX_DIR}/${CMAKE_INSTALL_BINDIR}")
set(fad_install_files ${PROJECT_BINARY_DIR}/cmake/install)
fad_package(${fad_install_files} ${fad_package_dir})
install(FILES ${fad_install_files}/fadConfig.cmake
  ${fad_install_files}/fadConfigVersion.cmake
  DESTINATION ${fad_package_dir} COMPONENT development)
install(EXPORT fadTargets DESTINATION ${fad_package_dir} COMPONENT development)
install(TARGETS ${fad_libs} EXPORT fadTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT tools
  NAMELINK_COMPONENT development)
foreach(tool IN LISTS fad_tools)
  if(TARGET ${tool}-installed)
    set(tool ${tool}-installed)
  endif()
  install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ ${PROJECT_BINARY_DIR}/include/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
  PATTERN CMakeFiles EXCLUDE)

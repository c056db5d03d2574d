# Copies the headers of the C API, and what they include, from FOLDERS to the folder TO.
foreach(folder IN LISTS FOLDERS)
  file(GLOB_RECURSE headers RELATIVE ${folder}
    ${folder}/fad-c/*.h
    ${folder}/mlir-c/*.h
    ${folder}/mlir/Config/mlir-config.h
    ${folder}/fad/*.capi.h.inc
    ${folder}/mlir/*.capi.h.inc)
  foreach(header IN LISTS headers)
    get_filename_component(place ${TO}/${header} DIRECTORY)
    file(COPY ${folder}/${header} DESTINATION ${place})
  endforeach()
endforeach()

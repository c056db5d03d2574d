# Writes the linker's options for the functions of LLVM, MLIR and fad that OBJECTS call:
# EXPORTS, by which a library has each under a private name, and MODULE, by which a
# module calls it by that name.
execute_process(COMMAND ${NM} --undefined-only --format=just-symbols ${OBJECTS}
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
list(FILTER symbols INCLUDE REGEX "^_Z.*4(llvm|mlir)")
list(REMOVE_DUPLICATES symbols)
list(SORT symbols)
set(exports "")
set(module "")
foreach(symbol IN LISTS symbols)
  string(APPEND exports "--undefined=${symbol}\n--defsym=__wrap_${symbol}=${symbol}\n")
  string(APPEND module "--wrap=${symbol}\n")
endforeach()
file(WRITE ${EXPORTS} "${exports}")
file(WRITE ${MODULE} "${module}")

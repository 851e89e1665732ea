# Script: to a compiler that speaks an older C++, every public header says first, and in one sentence, what it needs.
file(GLOB_RECURSE headers ${INCLUDE}/tca/*.hpp)
foreach(header IN LISTS headers)
  execute_process(COMMAND ${COMPILER} -std=c++17 -fsyntax-only -fdiagnostics-color=never -I${INCLUDE} -x c++ ${header}
                  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REPLACE ";" "," text "${text}")
  string(REGEX MATCHALL "error: [^\n]*" errors "${text}")
  list(LENGTH errors count)
  if(code EQUAL 0 OR count GREATER 2 OR NOT errors MATCHES "^error: #error \"OpenTCA needs C\\+\\+20: compile with -std=c\\+\\+20")
    message(FATAL_ERROR "${header} does not refuse C++17 as it should:\n${text}")
  endif()
endforeach()

# Script: SOURCE must fail to compile with -DTCA_MISUSE, by a message that matches EXPECT.
set(command ${COMPILER} ${STANDARD} -fsyntax-only -fdiagnostics-color=never -I${INCLUDE})

execute_process(COMMAND ${command} -DTCA_MISUSE ${SOURCE} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(code EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles with -DTCA_MISUSE, which the API should refuse.")
endif()
if(NOT text MATCHES "${EXPECT}")
  message(FATAL_ERROR "${SOURCE} is refused, but not with a message that matches \"${EXPECT}\":\n${text}")
endif()

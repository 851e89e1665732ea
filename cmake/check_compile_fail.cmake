# Script: SOURCE must compile as it is, and with -DTCA_MISUSE fail with a message that matches EXPECT.
set(command ${COMPILER} ${STANDARD} -fsyntax-only -fdiagnostics-color=never -I${INCLUDE})

execute_process(COMMAND ${command} ${SOURCE} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${SOURCE} does not compile even without the misuse:\n${text}")
endif()

execute_process(COMMAND ${command} -DTCA_MISUSE ${SOURCE} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(code EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles with -DTCA_MISUSE, which the API should refuse.")
endif()
if(NOT text MATCHES "${EXPECT}")
  message(FATAL_ERROR "${SOURCE} is refused, but not with a message that matches \"${EXPECT}\":\n${text}")
endif()

# Script: writes OUTPUT with the commit of SOURCE_DIR, "-dirty" when tracked files differ from it, "unknown" outside
# a checkout of this very project (a tarball inside somebody else's repository is not one).
find_program(GIT git)
set(commit unknown)

function(run_git result)
  execute_process(
    COMMAND ${GIT} -c safe.directory=${SOURCE_DIR} -C ${SOURCE_DIR} ${ARGN}
    RESULT_VARIABLE code
    OUTPUT_VARIABLE output
    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(code EQUAL 0)
    set(${result} "${output}" PARENT_SCOPE)
  else()
    set(${result} "unknown" PARENT_SCOPE)
  endif()
endfunction()

if(GIT)
  run_git(top rev-parse --show-toplevel)
  file(REAL_PATH ${SOURCE_DIR} here)
  if(top STREQUAL here)
    run_git(commit rev-parse --short=12 --verify HEAD)
    run_git(changes status --porcelain --untracked-files=no)
    if(NOT commit STREQUAL "unknown" AND NOT changes STREQUAL "")
      string(APPEND commit "-dirty")
    endif()
  endif()
endif()

set(text "// The commit this was built from; written by the build.\n#pragma once\n\n#define OPENTCA_COMMIT \"${commit}\"\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT "${text}" STREQUAL "${before}")
  file(WRITE ${OUTPUT} "${text}")
endif()

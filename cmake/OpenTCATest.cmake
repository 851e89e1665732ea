# How tests are declared. Every test carries labels (ctest -L unit), a time limit, and as many slots as it has ranks;
# one whose needs this machine lacks is still there, under its own name, and counted as skipped.
#
#   opentca_add_gtest(name SOURCES ... LABELS ... [LIBS ...] [RANKS n] [TIMEOUT seconds] [ENVIRONMENT A=b ...])
#   opentca_add_unittest(name SCRIPT file.py LABELS ... [RANKS n] [TIMEOUT seconds] [RESOURCE_LOCK what] [INTERPRETER python]
#                        [ENVIRONMENT A=b ...])
#   opentca_add_compile_fail(name SOURCE file EXPECT "regex"), opentca_add_compile_well(name)
#   opentca_skip_test(name "why" LABELS ...)
include(GoogleTest)

# Sanitizers cost time, and leaks that are MPI's own are not ours. A tuning table of whoever runs the tests is nothing to them.
set(OPENTCA_TEST_SLOWDOWN 1)
set(OPENTCA_TEST_PATIENCE 20) # seconds that a test itself waits for what must happen
set(OPENTCA_TEST_ENVIRONMENT "OPENTCA_TUNING=off")
set(OPENTCA_TEST_OVER_MPI) # what tests add whose ranks use MPI
if(OPENTCA_SANITIZE)
  set(OPENTCA_TEST_SLOWDOWN 5)
  set(OPENTCA_TEST_PATIENCE 100)
  # MPI leaks in modules that it has unloaded by the end, so that no name is left to suppress them by.
  set(OPENTCA_TEST_OVER_MPI "ASAN_OPTIONS=detect_leaks=0")
  list(
      APPEND OPENTCA_TEST_ENVIRONMENT
      "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp:print_suppressions=0"
      "UBSAN_OPTIONS=print_stacktrace=1" "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1")
endif()
# A gtest program as five processes of mpirun, more than there may be cores.
set(OPENTCA_TEST_UNDER_MPIRUN
    ${CMAKE_COMMAND} -E env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 ${OPENTCA_TEST_OVER_MPI} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 5)

# Builds just the tests that ThreadSanitizer is meant for: ctest -L thread.
add_custom_target(opentca_thread_tests)
# And those of `make check`: ctest -L quick.
add_custom_target(opentca_quick_tests)

function(opentca_skip_test name why)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LABELS")
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: ${why}")
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" SKIP_REGULAR_EXPRESSION "SKIPPED")
endfunction()

# What a test takes when its arguments do not say.
macro(opentca_default_arguments)
  if(NOT arg_RANKS)
    set(arg_RANKS 1)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
endmacro()

function(opentca_test_defaults name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RANKS;TIMEOUT" "LABELS;ENVIRONMENT")
  opentca_default_arguments()
  math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * ${OPENTCA_TEST_SLOWDOWN}")
  set(environment ${OPENTCA_TEST_ENVIRONMENT} ${arg_ENVIRONMENT})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_RANKS}
                                          ENVIRONMENT "${environment}")
endfunction()

# What nearly every test includes is compiled once, where sources are put together for speed as well.
function(opentca_share_test_headers target)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  if(NOT TARGET opentca_test_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/test_headers.cpp CONTENT "")
    add_library(opentca_test_headers OBJECT ${PROJECT_BINARY_DIR}/generated/test_headers.cpp)
    opentca_own_target(opentca_test_headers)
    opentca_compile_briefly(opentca_test_headers)
    target_link_libraries(opentca_test_headers PRIVATE opentca_internal GTest::gtest)
    target_precompile_headers(
      opentca_test_headers
      PRIVATE
      <gtest/gtest.h>
      <fmt/format.h>
      <algorithm>
      <atomic>
      <chrono>
      <functional>
      <map>
      <string>
      <thread>
      <vector>
      <tca/tca.hpp>)
  endif()
  target_precompile_headers(${target} REUSE_FROM opentca_test_headers)
endfunction()

# Links GoogleTest's main and the library with its internals; each of its tests is one of ctest's. A library in LIBS that
# this machine lacks (rapidcheck, MPI::MPI_C) makes the whole test a skipped one. UNSANITIZED are patterns of tests that run
# the code of others on further figures: sanitizers, which take ten times as long, would find nothing more in them.
function(opentca_add_gtest name)
  # TIMEOUT may be followed by nothing, of which CMake 3.31 warns where one value is due.
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RANKS" "TIMEOUT;SOURCES;LABELS;LIBS;ENVIRONMENT;UNSANITIZED")
  foreach(lib IN ITEMS GTest::gtest_main LISTS arg_LIBS)
    if(NOT TARGET ${lib})
      opentca_skip_test(${name} "${lib} is not on this machine" LABELS ${arg_LABELS})
      return()
    endif()
  endforeach()

  add_executable(${name} ${arg_SOURCES})
  opentca_own_target(${name})
  opentca_compile_briefly(${name})
  opentca_share_test_headers(${name})
  target_link_libraries(${name} PRIVATE opentca_internal ${arg_LIBS} GTest::gtest_main)
  if("thread" IN_LIST arg_LABELS)
    add_dependencies(opentca_thread_tests ${name})
  endif()
  if("quick" IN_LIST arg_LABELS)
    add_dependencies(opentca_quick_tests ${name})
  endif()

  set(filter *)
  if(OPENTCA_SANITIZE AND arg_UNSANITIZED)
    list(JOIN arg_UNSANITIZED : filter)
    string(PREPEND filter -)
  endif()

  # With AddressSanitizer a program takes longer to start than most of its tests do; with ThreadSanitizer nothing is gained.
  if(OPENTCA_SANITIZE MATCHES "address")
    add_test(NAME ${name} COMMAND ${name} --gtest_filter=${filter})
    opentca_test_defaults(${name} LABELS ${arg_LABELS} RANKS ${arg_RANKS} TIMEOUT 300 ENVIRONMENT ${arg_ENVIRONMENT})
    return()
  endif()

  opentca_default_arguments()
  gtest_discover_tests(${name} TEST_PREFIX ${name}. TEST_FILTER ${filter} NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_RANKS})

  # Lists do not survive gtest_discover_tests, so these properties are set once ctest knows the tests' names.
  set(environment ${OPENTCA_TEST_ENVIRONMENT} ${arg_ENVIRONMENT})
  set(extra ${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake)
  file(WRITE ${extra} "set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS [==[${arg_LABELS}]==] "
                      "ENVIRONMENT [==[${environment}]==])\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${extra})
endfunction()

# A script of Python's unittest, each method a test of its own.
function(opentca_add_unittest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SCRIPT;RANKS;TIMEOUT;RESOURCE_LOCK;INTERPRETER" "LABELS;ENVIRONMENT")
  if(NOT arg_INTERPRETER)
    if(NOT Python3_FOUND)
      opentca_skip_test(${name} "Python 3 is not on this machine" LABELS ${arg_LABELS})
      return()
    endif()
    set(arg_INTERPRETER Python3::Interpreter)
  endif()
  # Passing an empty value on would unset it, which newer CMakes warn of.
  opentca_default_arguments()
  cmake_path(ABSOLUTE_PATH arg_SCRIPT)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_SCRIPT})
  file(STRINGS ${arg_SCRIPT} lines REGEX "^class |^    def test_")
  foreach(line IN LISTS lines)
    if(line MATCHES "^class ([A-Za-z0-9_]+)")
      set(class ${CMAKE_MATCH_1})
    elseif(line MATCHES "def (test_[A-Za-z0-9_]+)")
      set(test ${name}.${class}.${CMAKE_MATCH_1})
      add_test(NAME ${test} COMMAND ${arg_INTERPRETER} -B ${arg_SCRIPT} -v ${class}.${CMAKE_MATCH_1})
      opentca_test_defaults(
        ${test} LABELS ${arg_LABELS} RANKS ${arg_RANKS} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT ${arg_ENVIRONMENT})
      set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "OK \\(skipped=1\\)"
                                              RESOURCE_LOCK "${arg_RESOURCE_LOCK}")
    endif()
  endforeach()
endfunction()

# SOURCE misuses the public API inside `#ifdef TCA_MISUSE`: with the macro it must not compile, with a message that matches
# EXPECT. That nothing else is wrong with any of them opentca_add_compile_well tests, without the macro, all at once.
function(opentca_add_compile_fail name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;EXPECT" "")
  cmake_path(ABSOLUTE_PATH arg_SOURCE)
  add_test(
    NAME ${name}
    COMMAND
      ${CMAKE_COMMAND} -D "COMPILER=${CMAKE_CXX_COMPILER}" -D "STANDARD=${CMAKE_CXX20_STANDARD_COMPILE_OPTION}" -D
      "INCLUDE=${PROJECT_SOURCE_DIR}/include" -D "SOURCE=${arg_SOURCE}" -D "EXPECT=${arg_EXPECT}" -P
      ${PROJECT_SOURCE_DIR}/cmake/check_compile_fail.cmake)
  opentca_test_defaults(${name} LABELS compile_fail)
  set_property(DIRECTORY APPEND_STRING PROPERTY OPENTCA_MISUSES "#include \"${arg_SOURCE}\"\n")
endfunction()

function(opentca_add_compile_well name)
  get_property(misuses DIRECTORY PROPERTY OPENTCA_MISUSES)
  set(all ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${all} CONTENT "${misuses}" @ONLY)
  add_test(NAME ${name} COMMAND ${CMAKE_CXX_COMPILER} ${CMAKE_CXX20_STANDARD_COMPILE_OPTION} -fsyntax-only
                                -I${PROJECT_SOURCE_DIR}/include ${all})
  opentca_test_defaults(${name} LABELS compile_fail)
endfunction()

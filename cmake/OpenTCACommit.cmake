# opentca_commit: the header opentca_commit.hpp, which defines OPENTCA_COMMIT as the commit being built. Every build
# looks, but only a changed commit rewrites the header, so that nothing is recompiled for nothing.
set(OPENTCA_COMMIT_DIR ${PROJECT_BINARY_DIR}/generated)
add_custom_target(
  opentca_commit_header
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D OUTPUT=${OPENTCA_COMMIT_DIR}/opentca_commit.hpp -P
          ${CMAKE_CURRENT_LIST_DIR}/write_commit.cmake
  BYPRODUCTS ${OPENTCA_COMMIT_DIR}/opentca_commit.hpp
  COMMENT "Looking up the commit"
  VERBATIM)
add_library(opentca_commit INTERFACE)
add_dependencies(opentca_commit opentca_commit_header)
target_include_directories(opentca_commit INTERFACE ${OPENTCA_COMMIT_DIR})

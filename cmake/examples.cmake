# The examples, built with the OpenTCA that is installed beside them:
#
#   cmake -S PREFIX/share/doc/OpenTCA/examples -B build -D CMAKE_PREFIX_PATH=PREFIX && cmake --build build
cmake_minimum_required(VERSION 3.22)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
project(opentca_examples CXX)
find_package(OpenTCA REQUIRED OPTIONAL_COMPONENTS mpi)

file(GLOB sources *.cpp)
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  if(name STREQUAL "within_mpi" AND NOT OpenTCA_mpi_FOUND)
    continue()
  endif()
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE OpenTCA::opentca)
  if(name STREQUAL "within_mpi")
    target_link_libraries(${name} PRIVATE OpenTCA::mpi)
  endif()
endforeach()

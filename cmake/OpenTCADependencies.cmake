# What is used from outside. The library needs fmt, threads and, to be built, nlohmann-json and toml++; the rest belongs
# to the command line and the tests.
find_package(Threads REQUIRED)

# What C++ itself is linked with, for programs that a C compiler links with a static OpenTCA.
set(OPENTCA_CXX_LIBRARIES ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER OPENTCA_CXX_LIBRARIES INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi|m)$")
list(REMOVE_DUPLICATES OPENTCA_CXX_LIBRARIES)

function(opentca_require package packages)
  find_package(${package} CONFIG QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "OpenTCA needs ${package}: apt-get install ${packages} (or run 'make run', which does).")
  endif()
endfunction()

# OPENTCA_CUDA: whether the fabric of GPUs is built. Its code is C++20, which nvcc speaks from version 12 on.
set(OPENTCA_CUDA OFF)
set(nvcc_release 0)
file(GLOB gpus /dev/nvidia[0-9]* /dev/dxg)
if(OPENTCA_WITH_CUDA STREQUAL "GPU" AND NOT gpus)
  opentca_missing("an NVIDIA GPU" "" "no fabric cuda, whose kernels take long to compile (CUDA=ON builds it all the same)")
elseif(OPENTCA_WITH_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --version OUTPUT_VARIABLE text ERROR_QUIET)
    string(REGEX REPLACE ".*release ([0-9]+).*" "\\1" nvcc_release "${text}")
  endif()
endif()
if(nvcc_release GREATER_EQUAL 12)
  # What runs on Ampere and Hopper, and, compiled when it starts, on what comes after.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
    if(OPENTCA_WITH_CUDA STREQUAL "CHECK" AND NOT gpus)
      set(CMAKE_CUDA_ARCHITECTURES 90-real)
      set(CMAKE_CUDA_FLAGS_RELEASE "-DNDEBUG -O0 -Xcicc -O0 -Xptxas -O0") # two thirds of the time
    endif()
  endif()
  # What is linked on the device needs machine code for each architecture.
  set(OPENTCA_REAL_ARCHITECTURES ${CMAKE_CUDA_ARCHITECTURES})
  list(FILTER OPENTCA_REAL_ARCHITECTURES EXCLUDE REGEX "-virtual$")
  enable_language(CUDA)
  # CMake before 3.26 does not know that nvcc speaks C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  find_package(CUDAToolkit REQUIRED)
  set(OPENTCA_CUDA ON)
elseif(OPENTCA_WITH_CUDA MATCHES "^(AUTO|CHECK)$" OR (OPENTCA_WITH_CUDA STREQUAL "GPU" AND gpus))
  opentca_missing("nvcc 12 or later (NVIDIA's CUDA toolkit)" "" "no fabric cuda, so no windows on GPUs")
elseif(OPENTCA_WITH_CUDA AND NOT OPENTCA_WITH_CUDA STREQUAL "GPU")
  message(FATAL_ERROR "OPENTCA_WITH_CUDA=${OPENTCA_WITH_CUDA}, but nvcc 12 or later is not here (PATH, CUDACXX, "
                      "CMAKE_CUDA_COMPILER)")
endif()

# NCCL is only compared with: from a package, with the toolkit, or from pip (nvidia-nccl).
if(OPENTCA_CUDA AND OPENTCA_BUILD_TOOLS)
  if(NOT DEFINED OPENTCA_PIP_NVIDIA)
    execute_process(
      COMMAND python3 -c "import sysconfig; print(sysconfig.get_paths()['purelib'])"
      OUTPUT_VARIABLE purelib OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(OPENTCA_PIP_NVIDIA ${purelib}/nvidia CACHE PATH "Where pip put NVIDIA's libraries")
  endif()
  find_path(OPENTCA_NCCL_INCLUDE nccl.h HINTS ${OPENTCA_PIP_NVIDIA}/nccl/include ${CUDAToolkit_INCLUDE_DIRS})
  # From the same place as the header, since what kernels are compiled with must be what the library makes.
  find_library(OPENTCA_NCCL_LIBRARY NAMES nccl libnccl.so.2 NAMES_PER_DIR
               HINTS ${OPENTCA_PIP_NVIDIA}/nccl/lib ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib)
  if(OPENTCA_NCCL_INCLUDE AND OPENTCA_NCCL_LIBRARY)
    file(STRINGS ${OPENTCA_NCCL_INCLUDE}/nccl.h nccl_version REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) ")
    string(REGEX REPLACE "[^;]*(MAJOR|MINOR|PATCH) +" "" nccl_version "${nccl_version}")
    string(REPLACE ";" "." OPENTCA_NCCL_VERSION "${nccl_version}")
    add_library(NCCL::nccl UNKNOWN IMPORTED)
    set_target_properties(NCCL::nccl PROPERTIES IMPORTED_LOCATION ${OPENTCA_NCCL_LIBRARY}
                                                INTERFACE_INCLUDE_DIRECTORIES ${OPENTCA_NCCL_INCLUDE})
  endif()
endif()

opentca_require(fmt libfmt-dev)
opentca_require(nlohmann_json nlohmann-json3-dev)
opentca_require(tomlplusplus libtomlplusplus-dev)

# OPENTCA_MPI: whether the fabric between hosts is built. MPI's C interface alone, which FindMPI can only look for with the C
# language on.
set(OPENTCA_MPI OFF)
if(OPENTCA_WITH_MPI AND NOT CMAKE_DISABLE_FIND_PACKAGE_MPI)
  enable_language(C)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(TARGET MPI::MPI_C)
  set(OPENTCA_MPI ON)
  # The C++ bindings that some versions of mpi.h still declare would have to be linked.
  target_compile_definitions(MPI::MPI_C INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
elseif(OPENTCA_WITH_MPI STREQUAL "AUTO")
  opentca_missing("MPI" "libopenmpi-dev;openmpi-bin" "no fabric mpi, so one host only, and no comparison with MPI")
elseif(OPENTCA_WITH_MPI)
  message(FATAL_ERROR "OPENTCA_WITH_MPI=${OPENTCA_WITH_MPI}, but MPI is not here (mpicc in PATH, MPI_C_COMPILER, MPI_HOME)")
endif()

# The library needs no C compiler, but its tests and examples in C do.
if((OPENTCA_BUILD_TESTS OR OPENTCA_BUILD_EXAMPLES) AND NOT CMAKE_C_COMPILER_LOADED)
  include(CheckLanguage)
  check_language(C)
  if(CMAKE_C_COMPILER)
    enable_language(C)
  else()
    opentca_missing("a C compiler" "gcc" "the examples in C are not built, and the tests of C are skipped")
  endif()
endif()

# Fortran is shipped as source, so its tests and examples alone need a compiler.
if(OPENTCA_BUILD_TESTS OR OPENTCA_BUILD_EXAMPLES)
  include(CheckLanguage)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
  else()
    opentca_missing("a Fortran compiler" "gfortran" "the examples in Fortran are not built, and its tests are skipped")
  endif()
  if(CMAKE_Fortran_COMPILER_LOADED AND OPENTCA_MPI)
    find_package(MPI QUIET COMPONENTS Fortran)
  endif()
endif()

if(OPENTCA_BUILD_TOOLS)
  opentca_require(CLI11 libcli11-dev)

  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND AND NOT CMAKE_DISABLE_FIND_PACKAGE_hwloc)
    pkg_check_modules(HWLOC QUIET IMPORTED_TARGET hwloc)
  endif()
  if(NOT TARGET PkgConfig::HWLOC)
    opentca_missing("hwloc" "libhwloc-dev;pkg-config" "tca info does not show the topology")
  endif()

  # In double and in single precision, which are two libraries. Debian's package has no configuration for CMake.
  find_path(OPENTCA_FFTW_INCLUDE fftw3.h)
  find_library(OPENTCA_FFTW_LIBRARY fftw3)
  find_library(OPENTCA_FFTW_SINGLE_LIBRARY fftw3f)
  if(OPENTCA_FFTW_INCLUDE AND OPENTCA_FFTW_LIBRARY AND OPENTCA_FFTW_SINGLE_LIBRARY)
    add_library(FFTW::fftw INTERFACE IMPORTED)
    target_include_directories(FFTW::fftw SYSTEM INTERFACE ${OPENTCA_FFTW_INCLUDE})
    target_link_libraries(FFTW::fftw INTERFACE ${OPENTCA_FFTW_LIBRARY} ${OPENTCA_FFTW_SINGLE_LIBRARY})
    # Its own transforms over MPI are compared with. Debian's library is built for Open MPI.
    find_path(OPENTCA_FFTW_MPI_INCLUDE fftw3-mpi.h)
    find_library(OPENTCA_FFTW_MPI_LIBRARY fftw3_mpi)
    find_library(OPENTCA_FFTW_MPI_SINGLE_LIBRARY fftw3f_mpi)
    if(OPENTCA_FFTW_MPI_INCLUDE AND OPENTCA_FFTW_MPI_LIBRARY AND OPENTCA_FFTW_MPI_SINGLE_LIBRARY AND OPENTCA_MPI
       AND "${MPI_C_LIBRARIES}" MATCHES "openmpi")
      add_library(FFTW::mpi INTERFACE IMPORTED)
      target_link_libraries(FFTW::mpi INTERFACE ${OPENTCA_FFTW_MPI_LIBRARY} ${OPENTCA_FFTW_MPI_SINGLE_LIBRARY} FFTW::fftw
                                                MPI::MPI_C)
    endif()
  else()
    opentca_missing("FFTW" "libfftw3-dev" "tca fft transforms on GPUs only")
  endif()

  find_package(pugixml CONFIG QUIET)
  if(NOT TARGET pugixml::pugixml)
    opentca_missing("pugixml" "libpugixml-dev" "tca qcd reads no ILDG configurations, only NERSC's")
  endif()
endif()

if(OPENTCA_BUILD_TESTS)
  find_package(GTest CONFIG QUIET)
  if(NOT TARGET GTest::gtest_main)
    opentca_missing("GoogleTest" "libgtest-dev" "most tests are skipped")
  endif()
  find_package(rapidcheck CONFIG QUIET)
  if(NOT TARGET rapidcheck)
    opentca_missing("RapidCheck" "librapidcheck-dev" "the property tests are skipped")
  endif()
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(NOT Python3_FOUND)
    opentca_missing("Python 3" "python3" "the structure tests are skipped")
  endif()
  find_program(OPENTCA_SPIN spin)
  if(NOT OPENTCA_SPIN)
    opentca_missing("SPIN" "spin" "the signal protocols' models are not checked")
  endif()
  find_program(OPENTCA_STRACE strace)
  if(NOT OPENTCA_STRACE)
    opentca_missing("strace" "strace" "the test that counts system calls is skipped")
  endif()
endif()

# What every target of the project shares: flags, the folders of src/ as layers, and what to say about missing parts.

# Flags for our own code only; nothing of it reaches a consumer.
function(opentca_own_target target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_features(${target} PRIVATE cxx_std_20)
  if(OPENTCA_WARNINGS)
    set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
                 -Woverloaded-virtual)
    # Options are set by name (`{.guarded = false}`); what is left out keeps its default.
    list(APPEND warnings -Wno-missing-field-initializers)
    # GCC 12 and 13 report overflows that cannot happen where std::vector grows (their PR 105329, 107852).
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      list(APPEND warnings -Wno-stringop-overflow -Wno-array-bounds -Wno-restrict)
      # What sanitizers add hides from it what is set.
      if(OPENTCA_SANITIZE)
        list(APPEND warnings -Wno-maybe-uninitialized)
      endif()
    endif()
    # Of sources that are compiled together: what one names, another may shadow, and anonymous namespaces look like a header's.
    if(CMAKE_UNITY_BUILD)
      list(APPEND warnings -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
  endif()
  if(OPENTCA_NATIVE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
  endif()
  if(CMAKE_UNITY_BUILD)
    # What is deferred sees the variables of its time, not of now.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL opentca_keep_kernels_apart ${target})")
  endif()
endfunction()

# A program in C, compiled as strictly as a user may do it.
function(opentca_own_c_target target)
  set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF UNITY_BUILD OFF)
  if(OPENTCA_WARNINGS)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow)
  endif()
endfunction()

# Fortran 2018, compiled as strictly as a user may do it.
function(opentca_own_fortran_target target)
  if(OPENTCA_WARNINGS AND CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -std=f2018 -Wall -Wextra -pedantic)
  endif()
endfunction()

# CMake puts CUDA's sources together too from 3.31 on. Each takes minutes as it is, and they would share names.
function(opentca_keep_kernels_apart target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cu$")
  if(sources)
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# Of code that takes longer to optimise fully than it ever runs; -O0 takes a compiler just as long.
function(opentca_compile_briefly target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Og>)
endfunction()

# Puts links to the headers of the current folder under OUTPUT, where they have the names that includes give them: their
# paths from ROOT. Folders below it that are layers of their own are left out.
function(opentca_link_headers root output)
  file(RELATIVE_PATH folder ${root} ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB layers ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  if(layers)
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.hpp)
    if(IS_SYMLINK ${output}/${folder}) # from before it had layers below it
      file(REMOVE ${output}/${folder})
    endif()
    file(MAKE_DIRECTORY ${output}/${folder})
    foreach(header IN LISTS headers)
      file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${output}/${folder}/${header} SYMBOLIC)
    endforeach()
  else()
    cmake_path(GET folder PARENT_PATH parent)
    file(MAKE_DIRECTORY ${output}/${parent})
    if(NOT IS_SYMLINK ${output}/${folder})
      file(REMOVE_RECURSE ${output}/${folder})
    endif()
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${output}/${folder} SYMBOLIC)
  endif()
endfunction()

# A folder of src/: the object library opentca_<name>. NEEDS names the layers it may include, all of them lower: their
# headers are all that the compiler finds. LIBS are private. A folder of headers only has no SOURCES.
function(opentca_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;NEEDS;LIBS")
  set(target opentca_${name})
  set(headers ${PROJECT_BINARY_DIR}/layers/${name})
  opentca_link_headers(${PROJECT_SOURCE_DIR}/src ${headers})
  list(TRANSFORM arg_NEEDS PREPEND opentca_)
  if(arg_SOURCES)
    add_library(${target} OBJECT ${arg_SOURCES})
    opentca_own_target(${target})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ${OPENTCA_PIC} CXX_VISIBILITY_PRESET hidden
                                               CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    if(OPENTCA_PIC)
      # Nobody replaces a function of the library, so that what is exported may be inlined too.
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
    endif()
    target_include_directories(${target} PUBLIC ${headers})
    target_link_libraries(${target} PUBLIC opentca_headers ${arg_NEEDS} PRIVATE fmt::fmt Threads::Threads ${arg_LIBS})
    set_property(GLOBAL APPEND PROPERTY OPENTCA_OBJECTS $<TARGET_OBJECTS:${target}>)
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${headers})
    target_link_libraries(${target} INTERFACE opentca_headers ${arg_NEEDS})
  endif()
endfunction()

# Something optional that is not there: collected, and named once when configure ends. `packages` may be empty.
function(opentca_missing what packages loses)
  set_property(GLOBAL APPEND PROPERTY OPENTCA_MISSING "${what}: ${loses}")
  set_property(GLOBAL APPEND PROPERTY OPENTCA_MISSING_PACKAGES ${packages})
endfunction()

function(opentca_summary)
  get_property(missing GLOBAL PROPERTY OPENTCA_MISSING)
  get_property(packages GLOBAL PROPERTY OPENTCA_MISSING_PACKAGES)
  if(NOT missing)
    return()
  endif()
  message(STATUS "OpenTCA builds without what this machine does not have:")
  foreach(line IN LISTS missing)
    message(STATUS "  ${line}")
  endforeach()
  list(REMOVE_DUPLICATES packages)
  list(JOIN packages " " packages)
  if(packages)
    message(STATUS "  to add it on Debian or Ubuntu: apt-get install ${packages}")
  endif()
endfunction()

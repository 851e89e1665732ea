# Headers, library, CMake package, pkg-config files, machines, documentation, examples, command line with its manual and
# completion, and plot script.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/OpenTCA)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tca DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/include/tca-api.h ${PROJECT_SOURCE_DIR}/include/apelib.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Also for programs that model a machine: the library finds them here.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/machines DESTINATION ${CMAKE_INSTALL_DATADIR}/opentca)
# As in the sources, so that links lead on.
foreach(page IN ITEMS LICENSE README.md CHANGELOG.md CITATION.cff CONTRIBUTING.md SECURITY.md)
  install(FILES ${PROJECT_SOURCE_DIR}/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/docs
  DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN "site" EXCLUDE)
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/examples
  DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN "CMakeLists.txt" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/examples.cmake DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
        RENAME CMakeLists.txt)
install(TARGETS opentca opentca_for_c opentca_apenet opentca_peach2 EXPORT OpenTCATargets)
if(TARGET opentca_with_mpi)
  install(TARGETS opentca_with_mpi EXPORT OpenTCATargets)
endif()
install(EXPORT OpenTCATargets NAMESPACE OpenTCA:: DESTINATION ${package_dir})
# What GDB shows. It looks for a script of this name beside a shared library.
install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/opentca.py DESTINATION ${CMAKE_INSTALL_DATADIR}/opentca/gdb)
if(BUILD_SHARED_LIBS)
  install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/opentca.py DESTINATION ${CMAKE_INSTALL_LIBDIR}
          RENAME libopentca.so.${PROJECT_VERSION}-gdb.py)
endif()
set(fortran_dir ${CMAKE_INSTALL_DATADIR}/opentca/fortran)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/OpenTCAConfig.cmake.in ${PROJECT_BINARY_DIR}/generated/OpenTCAConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS fortran_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/OpenTCAConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/OpenTCAConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/OpenTCAConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/OpenTCAFortran.cmake DESTINATION ${package_dir})
include(${CMAKE_CURRENT_LIST_DIR}/OpenTCAPkgConfig.cmake)
if(OPENTCA_BUILD_TOOLS)
  file(RELATIVE_PATH libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(tca PROPERTIES INSTALL_RPATH $ORIGIN/${libraries})
  set_target_properties(tca-on-model PROPERTIES INSTALL_RPATH $ORIGIN/${libraries})
  install(TARGETS tca tca-on-model xmpcc)
  # What programs for a modelled machine find of MPI.
  install(FILES ${PROJECT_SOURCE_DIR}/bindings/on_model/mpi/mpi.h
          DESTINATION ${CMAKE_INSTALL_DATADIR}/opentca/on-model)
  # Translated programs are linked with it.
  install(TARGETS opentca_xacc ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/pages/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
  install(FILES ${PROJECT_BINARY_DIR}/pages/bash/tca DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/plot/plot.py DESTINATION ${CMAKE_INSTALL_DATADIR}/opentca)
  install(
    DIRECTORY ${PROJECT_SOURCE_DIR}/tools/plot/
    DESTINATION ${CMAKE_INSTALL_DATADIR}/opentca
    FILES_MATCHING
    PATTERN "*.py"
    PATTERN "plot.py" EXCLUDE
    PATTERN "__pycache__" EXCLUDE)
endif()

# Headers, library, CMake package, machines, licence, command line and plot script.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/OpenTCA)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tca DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Also for programs that model a machine: the library finds them here.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/machines DESTINATION ${CMAKE_INSTALL_DATADIR}/opentca)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS opentca EXPORT OpenTCATargets)
install(EXPORT OpenTCATargets NAMESPACE OpenTCA:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/OpenTCAConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/generated/OpenTCAConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/OpenTCAConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/OpenTCAConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/OpenTCAConfigVersion.cmake DESTINATION ${package_dir})
if(OPENTCA_BUILD_TOOLS)
  file(RELATIVE_PATH libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(tca PROPERTIES INSTALL_RPATH $ORIGIN/${libraries})
  install(TARGETS tca)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/plot/plot.py DESTINATION ${CMAKE_INSTALL_DATADIR}/opentca)
  install(
    DIRECTORY ${PROJECT_SOURCE_DIR}/tools/plot/
    DESTINATION ${CMAKE_INSTALL_DATADIR}/opentca
    FILES_MATCHING
    PATTERN "*.py"
    PATTERN "plot.py" EXCLUDE
    PATTERN "__pycache__" EXCLUDE)
endif()

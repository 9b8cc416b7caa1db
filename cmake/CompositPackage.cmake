# What find_package(composit) finds, after an install and in the build folder alike.
include(CMakePackageConfigHelpers)

install(TARGETS composit EXPORT composit-targets LIBRARY DESTINATION ${COMPOSIT_INSTALL_LIBRARY})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/composit ${PROJECT_BINARY_DIR}/include/composit
        DESTINATION ${COMPOSIT_INSTALL_INCLUDE}
        FILES_MATCHING PATTERN "*.h")
install(EXPORT composit-targets NAMESPACE composit:: DESTINATION ${COMPOSIT_INSTALL_CMAKE})

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/composit-config.cmake.in ${COMPOSIT_STAGE}/cmake/composit-config.cmake
  INSTALL_DESTINATION ${COMPOSIT_INSTALL_CMAKE} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${COMPOSIT_STAGE}/cmake/composit-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${COMPOSIT_STAGE}/cmake/composit-config.cmake
              ${COMPOSIT_STAGE}/cmake/composit-config-version.cmake
        DESTINATION ${COMPOSIT_INSTALL_CMAKE})

export(EXPORT composit-targets NAMESPACE composit::
       FILE ${COMPOSIT_STAGE}/cmake/composit-targets.cmake)

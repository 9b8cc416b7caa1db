# Where things go on install: the usual system folders, or all under composit/ inside a wheel.
include(GNUInstallDirs)

if(SKBUILD)
  set(COMPOSIT_INSTALL_LIBRARY composit)
  set(COMPOSIT_INSTALL_INCLUDE composit/include)
  set(COMPOSIT_INSTALL_CMAKE composit/cmake)
else()
  set(COMPOSIT_INSTALL_LIBRARY ${CMAKE_INSTALL_LIBDIR})
  set(COMPOSIT_INSTALL_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR})
  set(COMPOSIT_INSTALL_CMAKE ${CMAKE_INSTALL_LIBDIR}/cmake/composit)
endif()

# The build folder holds a complete, importable Python package; libcomposit.so is built into it.
set(COMPOSIT_STAGE ${PROJECT_BINARY_DIR}/python/composit)

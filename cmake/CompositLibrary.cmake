# libcomposit.so: all object libraries in one shared library, as target composit::composit.
get_property(objects GLOBAL PROPERTY COMPOSIT_OBJECTS)
set(sources "")
foreach(object ${objects})
  list(APPEND sources $<TARGET_OBJECTS:${object}>)
endforeach()
composit_empty_source(empty)

add_library(composit SHARED ${sources} ${empty})
add_library(composit::composit ALIAS composit)
target_link_libraries(composit PRIVATE $<BUILD_INTERFACE:composit_settings>
                                       $<BUILD_INTERFACE:${COMPOSIT_NPYRANDOM}>)
target_link_options(composit PRIVATE LINKER:--exclude-libs,libnpyrandom.a)
target_include_directories(
  composit INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                     $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                     $<INSTALL_INTERFACE:${COMPOSIT_INSTALL_INCLUDE}>)
target_compile_features(composit INTERFACE cxx_std_20)
set_target_properties(composit PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${COMPOSIT_STAGE})
if(NOT SKBUILD) # a wheel cannot hold the symbolic links that go with these
  set_target_properties(composit PROPERTIES VERSION ${PROJECT_VERSION}
                                            SOVERSION ${COMPOSIT_API_VERSION})
endif()

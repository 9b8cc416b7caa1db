# composit/numpy/functions.h, written from the scalar table: a new row is a new C++ function.
set(functions_header ${PROJECT_BINARY_DIR}/include/composit/numpy/functions.h)

add_executable(composit_generate_functions ${PROJECT_SOURCE_DIR}/tools/generate_functions.cpp
                                           $<TARGET_OBJECTS:composit_ir>)
target_link_libraries(composit_generate_functions PRIVATE composit_settings)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/composit/numpy)
add_custom_command(
  OUTPUT ${functions_header}
  COMMAND composit_generate_functions ${functions_header}
  DEPENDS composit_generate_functions
  COMMENT "Writing composit/numpy/functions.h"
  VERBATIM)
add_custom_target(composit_functions DEPENDS ${functions_header})
add_dependencies(composit composit_functions)
add_dependencies(headers_alone composit_functions)

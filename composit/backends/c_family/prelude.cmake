# Embeds prelude/*.h, and what else exported programs carry, as C++ strings into target
# composit_c_family.
file(GLOB prelude_headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/prelude/*.h)
list(APPEND prelude_headers ${PROJECT_SOURCE_DIR}/composit/base/default_floating_point.h)
set(prelude_source ${PROJECT_BINARY_DIR}/prelude_embedded.cpp)
set(prelude_script ${CMAKE_CURRENT_LIST_DIR}/embed_prelude.cmake)
add_custom_command(
  OUTPUT ${prelude_source}
  COMMAND ${CMAKE_COMMAND} "-DHEADERS=${prelude_headers}" -DOUTPUT=${prelude_source}
          -P ${prelude_script}
  DEPENDS ${prelude_headers} ${prelude_script}
  COMMENT "Embedding the prelude"
  VERBATIM)
target_sources(composit_c_family PRIVATE ${prelude_source})

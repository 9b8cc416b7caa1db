# Target headers_alone: every header of composit/ compiles as the only line of a source. The targets
# headers_alone_0 to headers_alone_9 check a tenth each.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/composit/*.h)
set(folder ${PROJECT_BINARY_DIR}/headers_alone)
set(stamps "")
foreach(header ${headers})
  string(MAKE_C_IDENTIFIER ${header} name)
  set(stamp ${folder}/${name}.stamp)
  file(CONFIGURE OUTPUT ${folder}/${name}.cpp CONTENT "#include \"${header}\"\n")
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Werror
            -I${PROJECT_SOURCE_DIR} -I${PROJECT_BINARY_DIR}/include -MD -MF ${stamp}.d -MT ${stamp}
            ${folder}/${name}.cpp
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPFILE ${stamp}.d
    DEPENDS ${folder}/${name}.cpp ${header}
    COMMENT "Checking that ${header} compiles alone"
    VERBATIM)
  list(LENGTH stamps count)
  math(EXPR share "${count} % 10")
  list(APPEND stamps ${stamp})
  list(APPEND stamps_${share} ${stamp})
endforeach()
add_custom_target(headers_alone DEPENDS ${stamps})
foreach(share RANGE 9)
  add_custom_target(headers_alone_${share} DEPENDS ${stamps_${share}})
  add_dependencies(headers_alone_${share} composit_functions)
endforeach()

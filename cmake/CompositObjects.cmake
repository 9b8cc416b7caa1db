# Gives composit_settings (the flags of all our code), composit_list_folders and
# composit_add_objects (the object library of one layer, found by globbing its folders).

find_package(Threads REQUIRED)

find_program(COMPOSIT_CCACHE ccache)
if(COMPOSIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${COMPOSIT_CCACHE})
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

set_property(GLOBAL PROPERTY COMPOSIT_OBJECTS "")

# No contraction: where an fma is meant it is written, so that every CPU returns the same bits.
add_library(composit_settings INTERFACE)
target_include_directories(composit_settings INTERFACE ${PROJECT_SOURCE_DIR}
                                                       ${PROJECT_BINARY_DIR}/include)
target_compile_features(composit_settings INTERFACE cxx_std_20)
target_compile_options(composit_settings INTERFACE -ffp-contract=off -Wall -Wextra)
target_link_libraries(composit_settings INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
if(COMPOSIT_SANITIZE)
  # Targets with the property UNWATCHED are compiled as without.
  target_compile_options(
    composit_settings
    INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNWATCHED>>>:-fsanitize=${COMPOSIT_SANITIZE}>
              -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(composit_settings INTERFACE -fsanitize=${COMPOSIT_SANITIZE})
endif()

configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in
               ${PROJECT_BINARY_DIR}/include/composit/version.h @ONLY)

# composit_list_folders(<out> <folder>): the names of the folders in <folder>.
function(composit_list_folders out folder)
  file(GLOB entries CONFIGURE_DEPENDS LIST_DIRECTORIES true
       RELATIVE ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_SOURCE_DIR}/${folder}/*)
  set(names "")
  foreach(entry ${entries})
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/${entry} AND NOT entry MATCHES "^[._]")
      list(APPEND names ${entry})
    endif()
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# composit_add_objects(<name> [FOLDERS folder…] [SOURCES file…] [REQUIRED])
#
# An object library that becomes part of libcomposit.so. FOLDERS are relative to composit/ and
# globbed with all below them. With REQUIRED the target exists even while it has no source yet.
function(composit_add_objects name)
  cmake_parse_arguments(arg "REQUIRED" "" "FOLDERS;SOURCES" ${ARGN})
  set(sources ${arg_SOURCES})
  foreach(folder ${arg_FOLDERS})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/composit/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  if(NOT sources)
    if(NOT arg_REQUIRED)
      return()
    endif()
    composit_empty_source(sources)
  endif()
  add_library(${name} OBJECT ${sources})
  target_link_libraries(${name} PUBLIC composit_settings)
  set_property(GLOBAL APPEND PROPERTY COMPOSIT_OBJECTS ${name})
endfunction()

# composit_empty_source(<out>): a source with nothing in it, for targets whose folders are empty.
function(composit_empty_source out)
  set(file ${PROJECT_BINARY_DIR}/empty.cpp)
  if(NOT EXISTS ${file})
    file(WRITE ${file} "")
  endif()
  set(${out} ${file} PARENT_SCOPE)
endfunction()

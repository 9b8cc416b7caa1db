# Gives composit_settings (the flags of all our code), composit_list_folders and
# composit_add_objects (the object library of one layer, found by globbing its folders).

find_package(Threads REQUIRED)

find_program(COMPOSIT_CCACHE ccache)
if(COMPOSIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A source that is not in the cache is not preprocessed first (DEPEND); precompiled headers are
  # compared by what they were made of, not by when (SLOPPINESS).
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env CCACHE_DEPEND=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${COMPOSIT_CCACHE})
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

set_property(GLOBAL PROPERTY COMPOSIT_OBJECTS "")

# The standard headers that most sources include are parsed once. Sources still include what they
# use: the sanitizers' presets build without this.
option(COMPOSIT_PRECOMPILED_HEADERS "Parse the standard library's headers once" ON)
set(COMPOSIT_COMMON_HEADERS
    <algorithm> <array> <cmath> <complex> <cstdint> <cstring> <functional> <limits> <map> <memory>
    <mutex> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <unordered_map>
    <unordered_set> <utility> <variant> <vector>)

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

# composit_precompile(<target> <header…>): the common headers and these, for the target alone.
# composit_share_precompiled(<target> <other>): those of <other>, which has the same flags.
function(composit_precompile target)
  if(COMPOSIT_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${COMPOSIT_COMMON_HEADERS} ${ARGN})
  endif()
endfunction()
function(composit_share_precompiled target other)
  if(COMPOSIT_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()

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

# composit_add_objects(<name> [FOLDERS folder…] [SOURCES file…] [REQUIRED] [OWN_FLAGS])
#
# An object library that becomes part of libcomposit.so. FOLDERS are relative to composit/ and
# globbed with all below them. With REQUIRED the target exists even while it has no source yet.
# OWN_FLAGS: the caller adds flags of its own, for sources that stand alone.
function(composit_add_objects name)
  cmake_parse_arguments(arg "REQUIRED;OWN_FLAGS" "" "FOLDERS;SOURCES" ${ARGN})
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
  if(NOT arg_OWN_FLAGS)
    composit_share_precompiled(${name} composit_common)
    composit_compile_together(${name})
  endif()
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

# Holds the precompiled headers of all layers.
composit_empty_source(empty)
add_library(composit_common OBJECT ${empty})
target_link_libraries(composit_common PUBLIC composit_settings)
composit_precompile(composit_common)

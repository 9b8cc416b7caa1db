# Links SOURCE's Python files and headers into STAGE, the package that the build folder offers.
# Run as: cmake -DSOURCE=… -DBUILD=… -DSTAGE=… -P stage_python.cmake

# link_entries(<from> <to>): one symbolic link in <to> for each entry of <from>; stale ones go.
function(link_entries from to)
  file(MAKE_DIRECTORY ${to})
  file(GLOB old LIST_DIRECTORIES true ${to}/*)
  foreach(entry ${old})
    if(IS_SYMLINK ${entry} AND NOT EXISTS ${entry})
      file(REMOVE ${entry})
    endif()
  endforeach()
  file(GLOB entries LIST_DIRECTORIES true RELATIVE ${from} ${from}/*)
  list(REMOVE_ITEM entries __pycache__)
  foreach(entry ${entries})
    if(NOT EXISTS ${to}/${entry})
      file(CREATE_LINK ${from}/${entry} ${to}/${entry} SYMBOLIC)
    endif()
  endforeach()
endfunction()

link_entries(${SOURCE}/python/composit ${STAGE})
# A folder with written and generated headers becomes a real one, with links to both.
file(GLOB generated LIST_DIRECTORIES true RELATIVE ${BUILD}/include/composit
     ${BUILD}/include/composit/*)
foreach(folder ${generated})
  if(IS_DIRECTORY ${BUILD}/include/composit/${folder})
    if(IS_SYMLINK ${STAGE}/include/composit/${folder})
      file(REMOVE ${STAGE}/include/composit/${folder})
    endif()
    link_entries(${SOURCE}/composit/${folder} ${STAGE}/include/composit/${folder})
    link_entries(${BUILD}/include/composit/${folder} ${STAGE}/include/composit/${folder})
  endif()
endforeach()
link_entries(${SOURCE}/composit ${STAGE}/include/composit)
link_entries(${BUILD}/include/composit ${STAGE}/include/composit)

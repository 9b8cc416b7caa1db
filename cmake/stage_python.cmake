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
    if(NOT IS_SYMLINK ${to}/${entry})
      file(CREATE_LINK ${from}/${entry} ${to}/${entry} SYMBOLIC)
    endif()
  endforeach()
endfunction()

link_entries(${SOURCE}/python/composit ${STAGE})
link_entries(${SOURCE}/composit ${STAGE}/include/composit)
link_entries(${BUILD}/include/composit ${STAGE}/include/composit)

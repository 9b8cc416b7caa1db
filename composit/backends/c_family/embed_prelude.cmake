# Writes OUTPUT, which defines the table of prelude_embedded.h from the files HEADERS.
# Run as: cmake -DHEADERS=a.h;b.h -DOUTPUT=out.cpp -P embed_prelude.cmake
set(entries "")
list(SORT HEADERS)
list(LENGTH HEADERS count)
foreach(header ${HEADERS})
  get_filename_component(name ${header} NAME)
  file(READ ${header} content)
  string(REGEX MATCHALL "#include \"[^\"]*/prelude/[^\"]*\"" lines "${content}")
  set(includes "")
  foreach(line ${lines})
    string(REGEX REPLACE ".*/prelude/([^\"]*)\"" "\\1" included ${line})
    list(APPEND includes ${included})
  endforeach()
  list(JOIN includes " " includes)
  string(REGEX REPLACE "#pragma once\n" "" content "${content}")
  # Lines that are includes, not comments that mention them.
  string(REGEX REPLACE "\n#include [^\n]*" "" content "\n${content}")
  # Headers of the prelude open no namespace; one of composit's own opens that.
  string(REGEX REPLACE "\nnamespace composit {\n" "\n" content "${content}")
  string(REGEX REPLACE "\n}  // namespace composit\n" "\n" content "${content}")
  string(REGEX REPLACE "\n\n\n+" "\n\n" content "${content}")
  string(REGEX REPLACE "^\n+" "" content "${content}")
  # Compilers limit the length of one literal; neighbouring literals are joined.
  string(REPLACE "\n\n" "\n\n)prelude\"\n    R\"prelude(" content "${content}")
  string(APPEND entries "    {\"${name}\", \"${includes}\",\n")
  string(APPEND entries "    R\"prelude(${content})prelude\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from composit/backends/c_family/prelude: its headers as text.
#include \"composit/backends/c_family/prelude_embedded.h\"

namespace composit::c_family {

const EmbeddedPrelude embedded_prelude[] = {
${entries}};
const size_t embedded_prelude_count = ${count};

}  // namespace composit::c_family
")

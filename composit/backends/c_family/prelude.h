// The prelude as text: the hand-written kernel templates of prelude/*.h that generated code carries
// along.
//
// The interpreter compiles the same files in, hence equal bits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace composit::c_family {

// The text of one prelude header ("reduce.h"), without its `#pragma once` and `#include` lines: it
// needs <cstddef> and <cstdint> before it, and opens no namespace (see prelude/vector.h). An
// unknown name is an internal error.
std::string_view prelude_text(std::string_view file_name);

// The headers that `file_names` need, themselves included, each once, in an order in which their
// texts compile.
std::vector<std::string> prelude_dependencies(const std::vector<std::string>& file_names);

// All prelude headers, sorted by name.
std::vector<std::string> prelude_files();

}  // namespace composit::c_family

// The calls of an exported function in sections: the modules that made them, and parts of the long.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <string>
#include <string_view>
#include <vector>

namespace composit::cpp_project {

// One call, or calls that become one function of the text.
struct Section {
    std::string path;            // of the module that all come from; empty: of none
    std::vector<Section> items;  // calls, and sections within; of one call none
    size_t call = 0;             // its number

    bool is_call() const { return items.empty(); }
};

// The module that a kernel comes from, such as "encoder.layer.0"; of several what their paths
// have in common.
std::string module_of(const ir::kernel::Kernel& kernel);

// Calls that come from these modules, in order: a stretch of at least `least` calls from one module
// is a section within that of the module around it, and no section has more than `most` items.
//
//   sections_of({"stem", "a.0", "a.0", "a.1", "a.1"}, 2, 150): 0, Section a {a.0 {1, 2}, …}
Section sections_of(std::vector<std::string> paths, size_t least, size_t most);

}  // namespace composit::cpp_project

// Looks up the embedded prelude texts, which the build writes (prelude.cmake).
#include "composit/backends/c_family/prelude.h"

#include "composit/backends/c_family/prelude_embedded.h"
#include "composit/base/error.h"

#include <algorithm>

namespace composit::c_family {

namespace {

const EmbeddedPrelude& embedded(std::string_view file_name) {
    for (size_t i = 0; i < embedded_prelude_count; ++i)
        if (embedded_prelude[i].name == file_name) return embedded_prelude[i];
    fail<InternalError>("prelude_text: there is no prelude header named '", file_name, "'");
}

// Depth first; the depth is that of the include tree, a handful.
void append_with_dependencies(std::string_view file_name, std::vector<std::string>& order) {
    if (std::find(order.begin(), order.end(), file_name) != order.end()) return;
    std::string_view rest = embedded(file_name).includes;
    while (!rest.empty()) {
        const size_t end = rest.find(' ');
        append_with_dependencies(rest.substr(0, end), order);
        rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    }
    order.emplace_back(file_name);
}

}  // namespace

std::string_view prelude_text(std::string_view file_name) { return embedded(file_name).text; }

std::vector<std::string> prelude_dependencies(const std::vector<std::string>& file_names) {
    std::vector<std::string> order;
    for (const std::string& name : file_names) append_with_dependencies(name, order);
    return order;
}

std::vector<std::string> prelude_files() {
    std::vector<std::string> names;
    for (size_t i = 0; i < embedded_prelude_count; ++i)
        names.emplace_back(embedded_prelude[i].name);
    return names;
}

}  // namespace composit::c_family

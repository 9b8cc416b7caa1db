// Names of devices taken apart.
#include "composit/aten/device_names.h"

#include "composit/base/error.h"
#include "composit/base/text.h"

#include <algorithm>
#include <charconv>

namespace composit::aten {

const std::vector<std::string>& device_kinds() {
    static const auto& kinds = *new std::vector<std::string>{
        "cpu",    "cuda", "ipu",  "xpu",  "mkldnn", "opengl",       "opencl",
        "ideep",  "hip",  "ve",   "fpga", "maia",   "xla",          "lazy",
        "vulkan", "mps",  "meta", "hpu",  "mtia",   "privateuseone"};
    return kinds;
}

DeviceName parse_device_name(std::string_view name, const std::vector<std::string>& more) {
    user_check<RuntimeError>(!name.empty(), "Device string must not be empty");
    const size_t colon = name.find(':');
    DeviceName made{std::string(name.substr(0, colon)), {}};
    if (colon != std::string_view::npos) {
        const std::string_view digits = name.substr(colon + 1);
        int64_t number = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), number);
        const bool is_number = error == std::errc() && end == digits.data() + digits.size() &&
                               digits.find('-') == std::string_view::npos;
        user_check<RuntimeError>(is_number, "Invalid device string: '", name, "'");
        made.index = number;
    }
    const auto& known = device_kinds();
    const auto is_among = [&](const std::vector<std::string>& kinds) {
        return std::find(kinds.begin(), kinds.end(), made.kind) != kinds.end();
    };
    user_check<RuntimeError>(is_among(known) || is_among(more), "Expected one of ", join(known),
                             " device type at start of device string: ", made.kind);
    return made;
}

DeviceName device_name_with(std::string_view name, std::optional<int64_t> index,
                            const std::vector<std::string>& more) {
    DeviceName made = parse_device_name(name, more);
    user_check<RuntimeError>(!made.index || !index,
                             "type (string) must not include an index because index was passed "
                             "explicitly: ",
                             name);
    if (index) made.index = index;
    user_check<RuntimeError>(made.index.value_or(0) >= 0, "Device index must not be negative");
    return made;
}

}  // namespace composit::aten

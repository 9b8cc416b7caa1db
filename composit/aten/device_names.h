// Names of devices as PyTorch writes them: a kind, and a number of those of that kind.
//
//   parse_device_name("cuda:1").index   // 1
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace composit::aten {

struct DeviceName {
    std::string kind = "cpu";
    std::optional<int64_t> index = {};
};

// The kinds that PyTorch knows: "cpu", "cuda", ….
[[nodiscard]] const std::vector<std::string>& device_kinds();

// The parts of a name. RuntimeError, PyTorch's words, for what is none, or of a kind that is
// neither PyTorch's nor among `more`.
[[nodiscard]] DeviceName parse_device_name(std::string_view name,
                                           const std::vector<std::string>& more = {});
// The same with a number beside the name, which then has none. RuntimeError for two, and for a
// negative one.
[[nodiscard]] DeviceName device_name_with(std::string_view name, std::optional<int64_t> index,
                                          const std::vector<std::string>& more = {});

}  // namespace composit::aten

// Devices as small numbers: what nodes remember of where their values lie.
#pragma once

#include <cstdint>
#include <string>

namespace composit::ir {

// 0: anywhere, as numbers and what rules make. 1: "cpu", where the user put it.
using DeviceNumber = uint8_t;
inline constexpr DeviceNumber anywhere = 0, on_cpu = 1;

// The number of a name, the same for the life of the process. RuntimeError beyond 250 names.
DeviceNumber device_number(const std::string& name);
const std::string& device_name(DeviceNumber number);  // of `anywhere`: "cpu"

}  // namespace composit::ir

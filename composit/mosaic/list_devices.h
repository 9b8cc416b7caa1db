// The table that `python -m composit.devices` prints.
#pragma once

#include <string>

namespace composit::mosaic {

// A paragraph for the CPU and for each device that can be used: its name, description and memory in
// bytes; with `measure` its speed in matrix products of float32 and in copies (this_machine: some
// tenths of a second each, and a compilation), or why it cannot be measured; and what its target
// says of the kernels that are made for it. Then each kind of device of which there are no more,
// with the reason.
std::string list_devices(bool measure = true);

}  // namespace composit::mosaic

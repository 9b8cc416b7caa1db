// Procedures as files for devices: kernels in OpenCL C or CUDA C++, and a program that launches
// one.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <string>
#include <utility>
#include <vector>

namespace composit::device_source {

// The procedures as text of "opencl" or "cuda": a kernel for each, of which a thread works on one
// item of a batch, whatever the extents of its arrays. ValueError for other languages.
std::string print_kernels(const std::string& language,
                          const std::vector<ir::procedure::Procedure>& procedures);

// Name and text of two files: NAME.cl or NAME.cu, kernels of all the procedures, and
// NAME_example.cpp, a program that calls that of the first one for a few items. It needs the
// driver's library, and no headers but those of C++. `families`: a function and its derivatives, in
// one floating dtype; kernels of float32 have `_float` behind their names.
std::vector<std::pair<std::string, std::string>> print_kernel_files(
    const std::string& language, const std::string& name,
    const std::vector<std::vector<ir::procedure::Procedure>>& families);

}  // namespace composit::device_source

// Kernels placed on several devices by what they are expected to cost there.
#pragma once

#include "composit/execute/placement.h"
#include "composit/mosaic/machine.h"

#include <string>
#include <vector>

namespace composit::mosaic {

// What a copy between the host and a device takes, measured once: a start, and bytes in a second.
// Of a back end without a device: nothing.
struct Link {
    double seconds = 0, bytes_per_second = 0;
    double seconds_for(int64_t bytes) const {
        return bytes_per_second > 0 ? seconds + static_cast<double>(bytes) / bytes_per_second : 0;
    }
};
const Link& link_of(const std::string& backend);

// Places each kernel on one of these back ends, where it is done first (Topcuoglu et al., HEFT,
// 2002): kernels in order of the time from their beginning to the program's end, each where its
// roofline, its copies and what stands there already end first. The first back end is that of the
// arguments and results. All on one where several are not expected to be quicker. ValueError: no
// back ends.
execute::Placement choose_placement(const ir::kernel::Program& program,
                                    const std::vector<std::string>& backends, int threads = 0);

}  // namespace composit::mosaic

#include "composit/mosaic/list_devices.h"

#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/execute/execute.h"
#include "composit/mosaic/machine.h"
#include "composit/runtime/backend.h"
#include "composit/runtime/device.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace composit::mosaic {
namespace {

constexpr size_t name_width = 12;

// One digit behind the point.
std::string rounded(double value) {
    std::ostringstream out;
    out << std::fixed << std::setprecision(1) << value;
    return out.str();
}

std::string gibibytes(int64_t bytes) {
    return rounded(static_cast<double>(bytes) / (int64_t{1} << 30)) + " GiB";
}

std::string paragraph(const std::string& name, const std::vector<std::string>& lines) {
    std::string result;
    for (size_t k = 0; k < lines.size(); ++k) {
        std::string first = k == 0 ? name : "";
        first.resize(std::max(name_width, first.size() + 1), ' ');
        result += first + lines[k] + "\n";
    }
    return result;
}

std::string measured(const std::string& backend) {
    try {
        const Machine& machine = this_machine(backend);
        return text("measured: ", rounded(machine.flops_per_second / 1e9),
                    " GFLOP/s in matrix products of float32, ",
                    rounded(machine.bytes_per_second / 1e9), " GB/s in copies, ",
                    rounded(machine.launch_seconds * 1e6), " us a launch");
    } catch (const Error& error) {
        return text("not measured: ", error.what());
    }
}

std::string target_of(const runtime::Backend& backend) {
    const Target target = backend.target();
    std::string parts = "no fused kernels";
    if (target.part_bytes > 0)
        parts = text("fused kernels in parts of about ", target.part_bytes >> 10, " KiB, ",
                     target.enough_parts, " of them or more");
    return text("target: ", parts, "; at most ", target.most_inputs, " inputs, ",
                target.most_outputs, " outputs and ", target.most_operations,
                " operations in an elementwise kernel");
}

std::string host(bool measure) {
    std::string backends;
    for (const std::string& name : runtime::backend_names())
        if (!runtime::backend(name)->device()) backends += (backends.empty() ? "" : ", ") + name;
    const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * int64_t{sysconf(_SC_PAGESIZE)};
    std::vector<std::string> lines{text("the host, by one of the back ends ", backends, ": ",
                                        execute::default_threads(), " threads, ",
                                        gibibytes(bytes))};
    if (measure) lines.push_back(measured("cpp"));
    lines.push_back(target_of(*runtime::backend("cpp")));
    return paragraph("cpu", lines);
}

}  // namespace

std::string list_devices(bool measure) {
    std::string result, missing;
    // Families are opened first: their devices are among the back ends then.
    for (const std::string& family : runtime::backend_families()) {
        const std::string why = runtime::why_no_more(family);
        if (!why.empty()) missing += paragraph(family, {"not here: " + why});
    }
    result = host(measure);
    for (const std::string& name : runtime::device_names()) {
        const auto backend = runtime::backend(name);
        const auto device = backend->device();
        std::string memory = gibibytes(device->memory_bytes());
        if (device->free_bytes() >= 0)
            memory += ", " + gibibytes(device->free_bytes()) + " of them free";
        std::vector<std::string> lines{device->description() + ": " + memory};
        if (measure) lines.push_back(measured(name));
        lines.push_back(target_of(*backend));
        result += paragraph(device->name(), lines);
    }
    return result + missing;
}

}  // namespace composit::mosaic

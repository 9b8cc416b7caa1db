// Windows over images: attributes as lengths for every axis.
#include "composit/onnx/images.h"

#include <algorithm>

namespace composit::onnx {
namespace {

std::vector<int64_t> lengths(const Call& call, std::string_view name, size_t axes, int64_t missing,
                             int64_t least) {
    std::vector<int64_t> given = call.integers(name);
    if (given.empty()) return std::vector<int64_t>(axes, missing);
    call.check(given.size() == axes && std::all_of(given.begin(), given.end(),
                                                   [&](int64_t each) { return each >= least; }),
               "attribute '", name, "' is ", given, ". ", axes, " numbers of at least ", least,
               " are required.");
    return given;
}

}  // namespace

Windows windows_of(const Call& call, const Shape& x, std::vector<int64_t> kernel) {
    call.check(x.size() >= 3, "an image of shape ", x,
               ". A batch, channels and spatial axes are required.");
    const size_t axes = x.size() - 2;
    Windows windows;
    windows.kernel = call.has_attribute("kernel_shape") ? lengths(call, "kernel_shape", axes, 1, 1)
                                                        : std::move(kernel);
    call.check(windows.kernel.size() == axes, "a kernel of shape ", windows.kernel,
               " over an image of shape ", x, ". A length for each spatial axis is required.");
    windows.strides = lengths(call, "strides", axes, 1, 1);
    windows.dilations = lengths(call, "dilations", axes, 1, 1);
    windows.low.assign(axes, 0);
    windows.high.assign(axes, 0);
    windows.counts.assign(axes, 0);
    const std::string padding = call.text("auto_pad", "NOTSET");
    const bool is_same = padding == "SAME_UPPER" || padding == "SAME_LOWER";
    call.check(is_same || padding == "NOTSET" || padding == "VALID", "auto_pad is '", padding,
               "'. NOTSET, SAME_UPPER, SAME_LOWER or VALID is required.");
    if (padding == "NOTSET" && call.has_attribute("pads")) {
        const std::vector<int64_t> pads = lengths(call, "pads", 2 * axes, 0, 0);
        std::copy_n(pads.begin(), axes, windows.low.begin());
        std::copy_n(pads.begin() + static_cast<int64_t>(axes), axes, windows.high.begin());
    }
    for (size_t i = 0; i < axes; ++i) {
        const int64_t length = x[i + 2], stride = windows.strides[i], extent = windows.extent(i);
        if (is_same) {
            windows.counts[i] = (length + stride - 1) / stride;
            const int64_t total =
                std::max<int64_t>((windows.counts[i] - 1) * stride + extent - length, 0);
            const int64_t less = total / 2, more = total - less;
            windows.low[i] = padding == "SAME_UPPER" ? less : more;
            windows.high[i] = total - windows.low[i];
            continue;
        }
        const int64_t room = length + windows.low[i] + windows.high[i] - extent;
        call.check(room >= 0, "a window of ", extent, " elements over ", length, " with ",
                   windows.low[i], " and ", windows.high[i],
                   " around. A window that fits is required.");
        windows.counts[i] = room / stride + 1;
        if (call.flag("ceil_mode")) {
            int64_t& count = windows.counts[i];
            count = (room + stride - 1) / stride + 1;
            // The last window begins within x or the padding before it.
            if ((count - 1) * stride >= length + windows.low[i]) --count;
        }
    }
    return windows;
}

}  // namespace composit::onnx

// What a program on several devices did where and when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace composit::execute {

// The work of neighbouring kernels on a device, or a copy of a buffer to it. Times are seconds
// since the run began, on the host's clock.
struct TimelineStep {
    std::string device, what;
    int64_t bytes = 0;  // of a copy
    double begin = 0, end = 0;
};

struct Timeline {
    std::vector<TimelineStep> steps;  // by their beginning

    double seconds() const;                    // until the last one ended
    std::vector<std::string> devices() const;  // in order of their first step
    // Seconds in which the device did something.
    double busy_seconds(const std::string& device) const;
    // A line for each step, in milliseconds, and one for each device.
    std::string print() const;
    // A row for each device, SVG; copies are darker.
    std::string picture() const;
    // In Chrome's trace format, JSON, which trace viewers read.
    std::string trace() const;
};

}  // namespace composit::execute

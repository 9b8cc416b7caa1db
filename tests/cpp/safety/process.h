// What tests of strangers' texts ask of the process.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>

namespace composit::tests {

// A number in an environment variable.
inline size_t from_environment(const char* name, size_t otherwise) {
    const char* const value = std::getenv(name);
    return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

// The most bytes that the process has held so far.
inline int64_t most_bytes_so_far() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return int64_t{1024} * usage.ru_maxrss;
}

}  // namespace composit::tests

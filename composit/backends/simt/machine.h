// What OpenCL and CUDA have in common below the printer: code is built from text, and functions of
// it are launched in groups of threads.
#pragma once

#include "composit/runtime/device.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace composit::simt {

struct Dialect;  // dialect.h

// Code that a device has loaded.
class Code {
  public:
    virtual ~Code() = default;
    virtual std::string build_command() const = 0;  // "nvrtc --gpu-architecture=sm_90 …"
};

struct Launch {
    std::string function;
    int64_t groups[2] = {1, 1};  // along x and y
    int64_t threads = 1;         // of a group, along x
    // The function's arguments in order: first addresses on the device, each null or inside of a
    // block, then numbers (64 bits each). Where memory has handles (OpenCL) an address is two
    // arguments, a pointer to its block and behind it the number of bytes from there (long, 0 for
    // null): f(global char* a, long a_offset, global char* b, long b_offset, …, long n, …).
    std::vector<const void*> addresses;
    std::vector<int64_t> numbers;
};

class Machine : public runtime::Device {
  public:
    virtual const Dialect& dialect() const = 0;
    // Built in `cache_folder` (empty: the default one) at most once for one text. NotSupported with
    // the compiler's log when it cannot be.
    virtual std::shared_ptr<Code> build(const std::string& text,
                                        const std::string& cache_folder) = 0;
    virtual void launch(const Code& code, const Launch& launch) = 0;
};

// What looking for the devices of a kind gave.
struct OpenedDevices {
    std::vector<std::shared_ptr<Machine>> machines;  // "cuda:0", "cuda:1", …
    // Why there are no more, or none: each device that cannot be used, and why; the library that is
    // missing.
    std::string why_no_more;
};

}  // namespace composit::simt

// NVRTC, NVIDIA's compiler of CUDA C++ in a library, loaded when it is first asked for.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace composit::cuda {

// Which code a compilation makes: machine code of exactly one architecture ("sm_90"), or PTX of
// one, which a driver compiles for that and later ones ("compute_90").
struct Architecture {
    int number = 0;  // 10 * major + minor
    bool is_ptx = false;
    std::string option() const;  // "--gpu-architecture=sm_90"
};

struct Compilation {
    bool is_done = false;
    std::string code;  // cubin or PTX
    std::string log;   // of warnings, too
};

// Safe in any thread.
class Nvrtc {
  public:
    virtual ~Nvrtc() = default;
    virtual std::string path() const = 0;
    virtual int major() const = 0;
    virtual int minor() const = 0;
    virtual const std::vector<int>& architectures() const = 0;  // ascending: 75, 80, …
    virtual Compilation compile(const std::string& text, const Architecture& target) const = 0;

    // What code for a device of that capability (90 for 9.0) is compiled to: its own architecture,
    // else PTX of the newest one before. A number of 0: it is too old for this NVRTC.
    Architecture architecture_for(int capability) const;
};

// The options of every compilation, without the architecture: neither contraction nor flushed
// subnormals, correctly rounded quotients and square roots.
const std::vector<std::string>& compile_options();

// Where NVRTC may be, in this order: $COMPOSIT_NVRTC (a library, or folders with one, between
// colons), what the loader finds, the packages of Python beside composit's own (nvidia/*/lib),
// $CUDA_HOME, $CUDA_PATH and /usr/local/cuda.
std::vector<std::string> places_of_nvrtc();

// The first of these libraries that loads and is of no later major version than `most_major`.
// Null, and the reason. Libraries stay loaded.
std::shared_ptr<const Nvrtc> find_nvrtc(const std::vector<std::string>& places, int most_major,
                                        std::string& reason);

}  // namespace composit::cuda

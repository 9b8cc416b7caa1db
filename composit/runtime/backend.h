// The back-end contract: what a piece of hardware, or a way of running, must offer.
//
// A back end takes programs (lists of kernels over buffers, ir/kernel/kernel.h) and makes
// executables of them. Register one with `register_backend`; nothing else in composit need change.
#pragma once

#include "composit/ir/kernel/kernel.h"
#include "composit/target/target.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace composit::runtime {

class Device;  // device.h

// Runs task(i) for 0 <= i < count, in any order, on any threads; returns when all are done;
// rethrows the first error.
using ParallelFor = std::function<void(int64_t count, const std::function<void(int64_t)>& task)>;

// What an executable needs to run: memory and hands. Results never depend on `threads`. Inputs and
// outputs are addresses on the back end's device, where it has one (device.h).
struct Run {
    std::vector<const void*> inputs;  // in the program's order
    std::vector<void*> outputs;
    int threads = 1;
    ParallelFor parallel_for;  // never empty; sequential when threads is 1
};

// A file of generated text.
struct SourceFile {
    std::string name, text;
};

class Executable {
  public:
    virtual ~Executable() = default;
    virtual void run(const Run& run) const = 0;  // thread-safe
    // The same, kernel by kernel: seconds that each kernel of the program took (0 for what ran when
    // the executable was made). Nothing, and no run, where kernels cannot be told apart.
    virtual std::vector<double> seconds_of_kernels(const Run& run) const {
        static_cast<void>(run);
        return {};
    }
    // Generated text, if there is any: of the files that it was written into, or all of it.
    virtual std::vector<SourceFile> sources() const { return {}; }
    virtual std::string source() const;
    virtual std::string build_command() const { return ""; }  // how it was built, if it was
    // Memory that a run takes beside inputs and outputs, with that many threads: the arena and
    // scratch memory. -1: unknown.
    virtual int64_t working_bytes(int threads) const { return static_cast<void>(threads), -1; }
    // Memory that it keeps between runs: code, packed constants, arenas. About so many.
    virtual int64_t held_bytes() const { return 0; }
};

struct CompileOptions {
    std::string cache_folder;  // empty: the default; back ends that do not cache ignore it
    int threads = 1;
    bool whole_model = false;  // one function that calls all kernels, if it generates functions
    ParallelFor parallel_for = {};  // for what runs when the executable is made; empty: in turn
};

class Backend {
  public:
    virtual ~Backend() = default;
    virtual std::string name() const = 0;
    // Its `compile` may take seconds, and asks nobody: it may run on any thread.
    virtual bool compiles_for_long() const { return false; }
    // Why this kernel cannot run here; nothing when it can. Unsupported kernels are run by the
    // interpreter.
    virtual std::optional<std::string> refuses(const ir::kernel::Kernel& kernel,
                                               const ir::kernel::Program& program) const {
        (void)kernel;
        (void)program;
        return std::nullopt;
    }
    // What passes are to know of the place where its programs run. With part_bytes 0, as here, it
    // gets the kernels that `lower` makes.
    virtual Target target() const { return {}; }
    // The device that its programs' inputs and outputs lie on; null: host memory.
    virtual std::shared_ptr<Device> device() const { return nullptr; }
    virtual std::shared_ptr<Executable> compile(const ir::kernel::Program& program,
                                                const CompileOptions& options) = 0;
};

// The registry. Names are unique: a second registration of a name replaces the first. `backend`
// throws KeyError listing the available names.
void register_backend(std::shared_ptr<Backend> backend);
std::shared_ptr<Backend> backend(const std::string& name);
std::vector<std::string> backend_names();

// Back ends that are looked for when one of them is first asked for, since that takes long or
// touches hardware: `open` is called once then, and what it gives is registered. Names are
// "FAMILY:0", "FAMILY:1", …; `backend("FAMILY")` is the first one.
struct BackendFamily {
    std::vector<std::shared_ptr<Backend>> backends;
    std::string why_none;  // or why there are no more of them
};
void register_backend_family(std::string name, std::function<BackendFamily()> open);
// Opens none; backend_names() doesn't either, and has those of families that were opened.
std::vector<std::string> backend_families();
// Why a family has no back ends, or no more than it has, once it was opened; "" for no family.
std::string why_no_more(const std::string& family);

}  // namespace composit::runtime

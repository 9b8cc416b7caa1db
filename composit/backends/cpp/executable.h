// A compiled program: its kernels' functions in the order of calling, and the memory that they
// need.
#pragma once

#include "composit/backends/cpp/cache.h"
#include "composit/backends/cpp/entries.h"
#include "composit/backends/cpp/memory_pool.h"
#include "composit/runtime/backend.h"

#include <memory>
#include <string>
#include <vector>

namespace composit::cpp {

// What the compiler made of a program.
struct Compiled {
    std::vector<std::shared_ptr<Library>> libraries;  // one per module
    std::string source, command;
};

class CompiledProgram : public runtime::Executable {
  public:
    CompiledProgram(const ir::kernel::Program& program, const c_family::Modules& modules,
                    Compiled compiled);

    void run(const runtime::Run& run) const override;
    std::string source() const override { return compiled_.source; }
    std::string build_command() const override { return compiled_.command; }

  private:
    // Where a buffer lies at run time.
    struct Place {
        ir::kernel::BufferKind kind;
        int64_t at = 0;  // inputs, outputs: number; temporaries: offset in the arena
        const void* constant = nullptr;
    };
    // Names of what an index out of bounds concerns.
    struct IndexAxis {
        int64_t number, length;
    };
    struct Step {
        Entry entry;
        int64_t tasks;
        double work, most_work;
        std::vector<Place> at;
        std::vector<IndexAxis> axes;
    };

    void place_buffers(const ir::kernel::Program& program);
    void run_step(const Step& step, const runtime::Run& run, char* arena) const;
    static void report(const Step& step, const std::vector<Fault>& faults);

    Compiled compiled_;
    std::vector<Step> steps_;
    std::vector<Place> places_;
    std::vector<ir::Array> constants_;  // keeps their memory
    std::vector<std::shared_ptr<void>> packed_;
    int64_t arena_bytes_ = 0;
    mutable MemoryPool pool_;
};

}  // namespace composit::cpp

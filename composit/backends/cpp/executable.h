// A compiled program: its kernels' functions in the order of calling, and the memory that they
// need.
#pragma once

#include "composit/backends/cpp/cache.h"
#include "composit/backends/cpp/entries.h"
#include "composit/backends/cpp/whole_model.h"
#include "composit/runtime/foreign.h"
#include "composit/runtime/memory_pool.h"
#include "composit/runtime/packing.h"
#include "composit/runtime/procedure_call.h"

#include <memory>
#include <string>
#include <vector>

namespace composit::cpp {

// What the compiler made of a program.
struct Compiled {
    std::vector<runtime::SourceFile> sources;
    std::vector<std::shared_ptr<Library>> libraries;  // one per source: modules, then models
    size_t models = 0;  // how many of the last libraries run the program: see whole_model.h
    std::string command;
};

// Where each buffer lies at run time, and what runs in which order.
struct Layout {
    struct Place {
        ir::kernel::BufferKind kind = ir::kernel::BufferKind::temporary;
        int64_t at = 0;  // inputs, outputs, constants: number; temporaries: offset in the arena
    };
    std::vector<Place> places;  // of each buffer
    int64_t arena_bytes = 0;
    std::vector<ModelStep> steps;

    Layout(const ir::kernel::Program& program, const c_family::Modules& modules);

  private:
    ModelStep step_of(const ir::kernel::Program& program, const c_family::Modules& modules,
                      const c_family::KernelCall& call);
    size_t count_ = 0;  // of calls of functions
};

class CompiledProgram : public runtime::Executable {
  public:
    CompiledProgram(const ir::kernel::Program& program, const c_family::Modules& modules,
                    const Layout& layout, Compiled compiled,
                    const runtime::ParallelFor& parallel_for);

    void run(const runtime::Run& run) const override;
    std::vector<double> seconds_of_kernels(const runtime::Run& run) const override;
    std::vector<runtime::SourceFile> sources() const override { return compiled_.sources; }
    std::string build_command() const override { return compiled_.command; }
    int64_t working_bytes(int threads) const override;
    int64_t held_bytes() const override;

  private:
    // Names of what an index out of bounds concerns.
    struct IndexAxis {
        int64_t number, length;
    };
    struct Step {
        size_t kernel;  // in the program
        Entry entry;
        int64_t tasks, tasks_together;
        double work, most_work, nanoseconds;
        std::vector<Layout::Place> at;
        std::vector<IndexAxis> axes;
        int64_t begin = 0, end = 0;  // of a Repeat, whose counter is all that `at` names
        std::vector<Step> repeated = {};
        bool is_repeat = false;
        std::shared_ptr<const runtime::ForeignKernel> foreign = nullptr;
        std::shared_ptr<const runtime::ProcedureCall> called = nullptr;

        int64_t chunks(int threads) const;  // that the tasks are cut into
    };
    struct Running;  // a run of a model

    Step step_of(const ir::kernel::Program& program, const c_family::Modules& modules,
                 const c_family::KernelCall& call) const;
    void run_steps(const runtime::Run& run, std::vector<double>* seconds) const;
    void run_models(const runtime::Run& run) const;
    void* pointer(const Layout::Place& place, const runtime::Run& run, char* arena) const;
    void run_step(const Step& step, const runtime::Run& run, void* const* at) const;
    void run_in_turn(const std::vector<Step>& steps, const runtime::Run& run, char* arena,
                     std::vector<double>* seconds) const;
    // Numbers the steps that call functions, and finds the scratch memory that direct ones need.
    void number(const std::vector<Step>& steps, const std::vector<ModelStep>& as_text);
    static bool go_on_with_model(void* state);
    static bool accept_for_model(void* state, int64_t number, const Fault* fault);
    static bool run_for_model(void* state, int64_t number, void* const* at);
    static void report(const Step& step, const std::vector<Fault>& faults);

    Compiled compiled_;
    std::vector<const Entry*> entries_;  // of each module
    std::vector<Model> models_;
    std::vector<Step> steps_;
    std::vector<const Step*> numbered_;  // steps that call functions, however deep
    std::vector<Layout::Place> places_;
    std::vector<std::shared_ptr<const void>> constants_;  // by buffer number: keeps their memory
    std::vector<void*> constant_pointers_;
    size_t kernel_count_ = 0;
    int64_t packed_bytes_ = 0;                     // of copies of constants
    int64_t arena_bytes_ = 0, scratch_bytes_ = 0;  // of steps that the models call at once
    mutable runtime::MemoryPool pool_;
};

}  // namespace composit::cpp

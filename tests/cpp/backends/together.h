// Several programs as one, so that a compiler reads what they share once.
#pragma once

#include "composit/ir/kernel/kernel.h"
#include "tests/cpp/backends/cpp_programs.h"
#include "tests/cpp/backends/running.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace composit::tests {

// Moves a kernel, and those that it consists of, to buffers of higher numbers.
inline void move_buffers(ir::kernel::Body& body, int by) {
    for (ir::kernel::Access* access : ir::kernel::accesses(body))
        if (access->buffer != ir::kernel::Access::position) access->buffer += by;
    if (auto* fused = std::get_if<ir::kernel::Fused>(&body))
        for (int& local : fused->locals) local += by;
}

// One program that does what these do, one after the other: inputs and outputs in their order.
// Kernels are called after their program, temporaries lie side by side.
inline Program together(const std::vector<Program>& programs, const std::string& name) {
    Program result;
    result.name = result.graph_text = name;
    for (const Program& program : programs) {
        const int first = static_cast<int>(result.buffers.size());
        for (ir::kernel::Buffer buffer : program.buffers) {
            if (buffer.arena_offset >= 0) buffer.arena_offset += result.arena_bytes;
            if (buffer.starts_as >= 0) buffer.starts_as += first;
            result.buffers.push_back(std::move(buffer));
        }
        for (const int input : program.inputs) result.inputs.push_back(input + first);
        for (const int output : program.outputs) result.outputs.push_back(output + first);
        for (ir::kernel::Kernel kernel : program.kernels) {
            kernel.name = program.name + "_" + kernel.name;
            move_buffers(kernel.body, first);
            result.kernels.push_back(std::move(kernel));
        }
        result.arena_bytes += (program.arena_bytes + 63) / 64 * 64;
    }
    return result;
}

// A program, and what it is to return.
struct Expected {
    Program program;
    std::vector<Array> inputs, outputs;
};

// The back end "cpp" returns these bits, whatever the number of threads.
inline void expect_compiled_bits(const std::vector<Expected>& cases, const std::string& name) {
    std::vector<Program> programs;
    std::vector<Array> inputs;
    for (const Expected& c : cases) {
        programs.push_back(c.program);
        inputs.insert(inputs.end(), c.inputs.begin(), c.inputs.end());
    }
    const Program all = together(programs, name);
    setenv("COMPOSIT_COMPILER_SECONDS", "250", 0);  // for many programs
    const auto compiled = runtime::backend("cpp")->compile(all, {});
    for (const int threads : {1, 2, 4}) {
        const std::vector<Array> results = run(*compiled, all, inputs, threads);
        size_t at = 0;
        for (const Expected& c : cases)
            for (size_t k = 0; k < c.outputs.size(); ++k, ++at)
                EXPECT_EQ(differing(results[at], c.outputs[k]), 0)
                    << c.program.name << ", output " << k << ", threads " << threads << "\n"
                    << compiled->source();
        EXPECT_EQ(at, results.size());
    }
}

}  // namespace composit::tests

// Runs executables of programs built by hand, with threads of the test's own.
#pragma once

#include "composit/runtime/backend.h"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace composit::tests {

// Runs with real threads: each takes every `threads`th task.
inline std::vector<ir::Array> run(const runtime::Executable& executable,
                                  const ir::kernel::Program& program,
                                  const std::vector<ir::Array>& inputs, int threads) {
    runtime::Run run;
    std::vector<ir::Array> outputs;
    for (const ir::Array& input : inputs) run.inputs.push_back(input.data());
    for (const int number : program.outputs) {
        const auto& buffer = program.buffers[static_cast<size_t>(number)];
        outputs.push_back(ir::Array::zeros(buffer.dtype, buffer.shape));
        run.outputs.push_back(outputs.back().mutable_data());
    }
    run.threads = threads;
    run.parallel_for = [&](int64_t count, const std::function<void(int64_t)>& task) {
        std::exception_ptr error;
        std::mutex mutex;
        std::vector<std::thread> pool;
        for (int t = 0; t < threads; ++t)
            pool.emplace_back([&, t] {
                try {
                    for (int64_t i = t; i < count; i += threads) task(i);
                } catch (...) {
                    const std::lock_guard<std::mutex> lock(mutex);
                    error = std::current_exception();
                }
            });
        for (std::thread& thread : pool) thread.join();
        if (error) std::rethrow_exception(error);
    };
    executable.run(run);
    return outputs;
}

}  // namespace composit::tests

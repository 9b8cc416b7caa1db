// Asks the system for cache sizes and measures the rest with two small programs.
#include "composit/mosaic/machine.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/text.h"
#include "composit/execute/build.h"
#include "composit/runtime/device.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unistd.h>

namespace composit::mosaic {
namespace {

namespace kernel = ir::kernel;
using kernel::Access;
using kernel::Buffer;
using kernel::BufferKind;
using kernel::Program;

constexpr ir::DType f32 = ir::DType::float32;

int64_t cache_bytes(int name, int64_t otherwise) {
    const long bytes = sysconf(name);
    return bytes > 0 ? bytes : otherwise;
}

int64_t widest_vector() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return 64;
    if (__builtin_cpu_supports("avx2")) return 32;
#endif
    return 16;
}

int add_buffer(Program& program, const std::string& name, BufferKind kind, ir::Shape shape) {
    Buffer buffer;
    buffer.name = name;
    buffer.kind = kind;
    buffer.dtype = f32;
    buffer.shape = std::move(shape);
    buffer.bytes = ir::element_count(buffer.shape) * ir::size_of(f32);
    program.buffers.push_back(std::move(buffer));
    const int number = static_cast<int>(program.buffers.size()) - 1;
    if (kind == BufferKind::input) program.inputs.push_back(number);
    if (kind == BufferKind::output) program.outputs.push_back(number);
    return number;
}

// Seconds of the fastest of some runs.
double fastest_run(const Program& program, const std::string& target, int threads, int runs) {
    execute::Options options;
    options.backend = target;
    options.threads = threads;
    const DefaultFloatingPoint floating_point;
    const execute::Built built = execute::build(program, options);
    runtime::Run run;
    run.threads = threads;
    run.parallel_for = execute::parallel_for(threads);
    const auto device = runtime::backend(target)->device();
    std::vector<ir::Array> memory, held;
    for (const auto* numbers : {&program.inputs, &program.outputs})
        for (int number : *numbers) {
            const Buffer& buffer = program.buffers[static_cast<size_t>(number)];
            ir::Array& array = memory.emplace_back(f32, buffer.shape);
            auto* values = static_cast<float*>(array.mutable_data());
            std::fill(values, values + array.size(), 1.0F);
            void* place = array.mutable_data();
            if (device) {
                held.push_back(runtime::copied_to(device, array));
                place = held.back().remote()->address();
            }
            if (buffer.kind == BufferKind::input)
                run.inputs.push_back(place);
            else
                run.outputs.push_back(place);
        }
    double best = 1e300;
    for (int r = 0; r < runs; ++r) {
        const auto start = std::chrono::steady_clock::now();
        built.executable->run(run);
        if (device) device->synchronise();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        best = std::min(best, taken.count());
    }
    return best;
}

double measure_flops(const std::string& target, int threads) {
    constexpr int64_t n = 384;
    Program program;
    program.name = "product";
    const int a = add_buffer(program, "a", BufferKind::input, {n, n}),
              b = add_buffer(program, "b", BufferKind::input, {n, n}),
              c = add_buffer(program, "c", BufferKind::output, {n, n});
    program.kernels.push_back({"product",
                               "a @ b",
                               {},
                               kernel::Contract{{},
                                                {n},
                                                {n},
                                                {n},
                                                Access{a, f32, 0, {n, 1}},
                                                Access{b, f32, 0, {n, 1}},
                                                Access{c, f32, 0, {n, 1}}}});
    return 2.0 * n * n * n / fastest_run(program, target, threads, 12);
}

// Seconds of a copy of that many numbers.
double measure_copy(const std::string& target, int threads, int64_t n, int runs) {
    Program program;
    program.name = "copy";
    const int from = add_buffer(program, "from", BufferKind::input, {n}),
              to = add_buffer(program, "to", BufferKind::output, {n});
    program.kernels.push_back({"copy",
                               "copy",
                               {},
                               kernel::Map{{n},
                                           {Access{from, f32, 0, {1}}},
                                           {ir::scalar::Expr::argument(0, f32)},
                                           {Access{to, f32, 0, {1}}}}});
    return fastest_run(program, target, threads, runs);
}

double measure_bytes(const std::string& target, int threads) {
    const int64_t n = int64_t{17} << 20;  // too large to be kept when they are freed
    return 8.0 * static_cast<double>(n) / measure_copy(target, threads, n, 4);
}

// Bytes of memory that an access moves: whole cache lines where it strides through more than stays
// in the cache.
double bytes_of(const kernel::AccessInLoops& moved, const Machine& machine) {
    if (moved.access.buffer == Access::position) return 0;
    const auto size = static_cast<double>(ir::size_of(moved.access.dtype));
    double elements = 1;
    std::vector<std::pair<int64_t, int64_t>> loops;  // stride, extent
    for (size_t d = 0; d < moved.extents.size(); ++d) {
        if (moved.extents[d] == 0) return 0;
        if (moved.access.strides[d] == 0) continue;
        elements *= static_cast<double>(moved.extents[d]);
        loops.emplace_back(std::abs(moved.access.strides[d]), moved.extents[d]);
    }
    std::sort(loops.begin(), loops.end());
    int64_t run = 1;  // neighbours in memory that are walked
    for (const auto& [stride, extent] : loops)
        if (stride == run) run *= extent;
    const double bytes = elements * size;
    const auto line = static_cast<double>(machine.line_bytes);
    const double run_bytes = static_cast<double>(run) * size;
    const bool stays = bytes <= static_cast<double>(machine.l2_bytes);
    return moved.repeats * (run_bytes >= line || stays ? bytes : bytes * line / run_bytes);
}

}  // namespace

std::string Machine::print() const {
    return text(threads, threads == 1 ? " thread, " : " threads, ", flops_per_second / 1e9,
                " GFLOP/s in products, ", bytes_per_second / 1e9, " GB/s, vectors of ",
                vector_bytes, " bytes, caches of ", l1_bytes >> 10, " KiB, ", l2_bytes >> 10,
                " KiB and ", l3_bytes >> 10, " KiB");
}

const Machine& this_machine(const std::string& target, int threads) {
    if (threads <= 0) threads = execute::default_threads();
    static std::mutex mutex;
    static auto& measured = *new std::map<std::pair<std::string, int>, Machine>;
    const std::lock_guard lock(mutex);
    const auto found = measured.find({target, threads});
    if (found != measured.end()) return found->second;
    Machine machine;
    machine.threads = threads;
    machine.vector_bytes = widest_vector();
    machine.line_bytes = cache_bytes(_SC_LEVEL1_DCACHE_LINESIZE, machine.line_bytes);
    machine.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, machine.l1_bytes);
    machine.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, machine.l2_bytes);
    machine.l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE, machine.l3_bytes);
    machine.flops_per_second = measure_flops(target, threads);
    machine.bytes_per_second = measure_bytes(target, threads);
    machine.launch_seconds = measure_copy(target, threads, 1, 20);
    return measured[{target, threads}] = machine;
}

Roofline roofline(const kernel::Kernel& kernel, const Machine& machine) {
    Roofline result;
    result.flops = ir::kernel::flops(kernel);
    for (const auto& read : accesses_read(kernel)) result.bytes += bytes_of(read, machine);
    for (const auto& written : accesses_written(kernel)) result.bytes += bytes_of(written, machine);
    const double work = result.flops / machine.flops_per_second,
                 traffic = result.bytes / machine.bytes_per_second;
    result.seconds = std::max(work, traffic);
    result.is_bound_by_memory = traffic >= work;
    return result;
}

}  // namespace composit::mosaic

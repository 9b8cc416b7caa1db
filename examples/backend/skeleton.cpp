// A back end of one file: it runs Map kernels, element by element, and refuses all others, which
// the interpreter runs. A shared library that registers itself when it is loaded:
//
//     c++ -std=c++20 -O2 -shared -fPIC -I INCLUDE skeleton.cpp -o skeleton.so LIBCOMPOSIT
//     python -m composit.conformance skeleton --load skeleton.so
//
// From here: take more kinds (composit/ir/kernel/kernel.h says what each means), give a Target with
// part_bytes, so that the schedule fuses for you, and compile instead of walking expressions.
#include <composit/base/error.h>
#include <composit/ir/kernel/kernel.h>
#include <composit/ir/scalar/function.h>
#include <composit/runtime/backend.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using composit::ir::kernel::Access;
using composit::ir::kernel::Buffer;
using composit::ir::kernel::BufferKind;
using composit::ir::kernel::Kernel;
using composit::ir::kernel::Map;
using composit::ir::kernel::Program;
using composit::ir::scalar::Bits;
using Index = std::vector<int64_t>;

// Where an access stands at an index of the loops, in elements.
int64_t place_of(const Access& access, const Index& index) {
    int64_t place = access.offset;
    for (size_t d = 0; d < index.size(); ++d) place += access.strides[d] * index[d];
    return place;
}

Bits load(const Access& access, const std::vector<char*>& memory, const Index& index) {
    const int64_t place = place_of(access, index);
    Bits bits{};
    if (access.buffer == Access::position) {  // the position itself is the value
        bits[0] = static_cast<uint64_t>(place);
        return bits;
    }
    const auto bytes = static_cast<size_t>(composit::ir::size_of(access.dtype));
    std::memcpy(bits.data(),
                memory[static_cast<size_t>(access.buffer)] + place * static_cast<int64_t>(bytes),
                bytes);
    return bits;
}

void store(const Bits& bits, const Access& access, const std::vector<char*>& memory,
           const Index& index) {
    const auto bytes = static_cast<size_t>(composit::ir::size_of(access.dtype));
    std::memcpy(memory[static_cast<size_t>(access.buffer)] +
                    place_of(access, index) * static_cast<int64_t>(bytes),
                bits.data(), bytes);
}

// The next index in row-major order; false after the last one.
bool advance(Index& index, const composit::ir::kernel::Extents& extents) {
    for (size_t d = extents.size(); d-- > 0;) {
        if (++index[d] < extents[d]) return true;
        index[d] = 0;
    }
    return false;
}

void run_map(const Map& map, const std::vector<char*>& memory) {
    if (composit::ir::element_count(map.extents) == 0) return;
    Index index(map.extents.size(), 0);
    do {
        std::vector<Bits> arguments;
        for (const Access& input : map.inputs) arguments.push_back(load(input, memory, index));
        const std::vector<Bits> results = composit::ir::scalar::evaluate(map.values, arguments);
        for (size_t j = 0; j < results.size(); ++j)
            store(results[j], map.outputs[j], memory, index);
    } while (advance(index, map.extents));
}

// A program with its buffers placed. One run may go on beside another.
class SkeletonExecutable : public composit::runtime::Executable {
  public:
    explicit SkeletonExecutable(Program program) : program_(std::move(program)) {
        for (const Buffer& buffer : program_.buffers)
            constants_.push_back(buffer.kind == BufferKind::constant ? buffer.value.row_major()
                                                                     : nullptr);
    }

    void run(const composit::runtime::Run& run) const override {
        const std::shared_ptr<void> arena = composit::ir::allocate_aligned(program_.arena_bytes);
        std::vector<char*> memory(program_.buffers.size());
        for (size_t i = 0; i < memory.size(); ++i) {
            const Buffer& buffer = program_.buffers[i];
            if (buffer.kind == BufferKind::temporary)
                memory[i] = static_cast<char*>(arena.get()) + buffer.arena_offset;
            if (constants_[i]) memory[i] = writable(constants_[i].get());
        }
        for (size_t i = 0; i < run.inputs.size(); ++i)
            memory[static_cast<size_t>(program_.inputs[i])] = writable(run.inputs[i]);
        for (size_t i = 0; i < run.outputs.size(); ++i)
            memory[static_cast<size_t>(program_.outputs[i])] = static_cast<char*>(run.outputs[i]);
        for (const Kernel& kernel : program_.kernels) run_map(std::get<Map>(kernel.body), memory);
    }

  private:
    // Kernels write into outputs and temporaries alone.
    static char* writable(const void* memory) {
        return const_cast<char*>(static_cast<const char*>(memory));
    }

    Program program_;
    std::vector<std::shared_ptr<const void>> constants_;
};

class Skeleton : public composit::runtime::Backend {
  public:
    std::string name() const override { return "skeleton"; }

    std::optional<std::string> refuses(const Kernel& kernel, const Program&) const override {
        if (std::holds_alternative<Map>(kernel.body)) return std::nullopt;
        return std::string(composit::ir::kernel::kind_name(kernel)) +
               " kernels are not written for skeleton";
    }

    std::shared_ptr<composit::runtime::Executable> compile(
        const Program& program, const composit::runtime::CompileOptions&) override {
        return std::make_shared<SkeletonExecutable>(program);
    }
};

const bool is_registered = [] {
    composit::runtime::register_backend(std::make_shared<Skeleton>());
    return true;
}();

}  // namespace

// Programs built by hand that use every kind of kernel in awkward ways, and arrays to run them on.
#pragma once

#include "composit/ir/kernel/kernel.h"
#include "composit/ir/scalar/function.h"
#include "composit/runtime/backend.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace composit::tests {

using ir::Array;
using ir::DType;
using ir::Shape;
using ir::kernel::Access;
using ir::kernel::BufferKind;
using ir::kernel::Combiner;
using ir::kernel::Extents;
using ir::kernel::Kernel;
using ir::kernel::Program;
using ir::scalar::Expr;

// Adds buffers and kernels to a program.
class Builder {
  public:
    explicit Builder(std::string name) { program_.name = std::move(name); }

    int input(const std::string& name, DType dtype, Shape shape) {
        program_.inputs.push_back(add(name, BufferKind::input, dtype, std::move(shape)));
        return program_.inputs.back();
    }
    int output(const std::string& name, DType dtype, Shape shape) {
        program_.outputs.push_back(add(name, BufferKind::output, dtype, std::move(shape)));
        return program_.outputs.back();
    }
    int constant(const std::string& name, const Array& value) {
        int number = add(name, BufferKind::constant, value.dtype(), value.shape());
        program_.buffers.back().value = value;
        return number;
    }
    // `offset` in the arena; -1: the next free place.
    int temporary(const std::string& name, DType dtype, Shape shape, int64_t offset = -1) {
        int number = add(name, BufferKind::temporary, dtype, std::move(shape));
        ir::kernel::Buffer& buffer = program_.buffers.back();
        buffer.arena_offset = offset >= 0 ? offset : program_.arena_bytes;
        int64_t end = (buffer.arena_offset + buffer.bytes + 63) / 64 * 64;
        program_.arena_bytes = std::max(program_.arena_bytes, end);
        return number;
    }
    void kernel(const std::string& name, ir::kernel::Body body) {
        program_.kernels.push_back({name, name + " of a test", {}, std::move(body)});
    }
    Access access(int buffer, std::vector<int64_t> strides, int64_t offset = 0) const {
        if (buffer == Access::position) return {buffer, DType::int64, offset, std::move(strides)};
        DType dtype = program_.buffers[static_cast<size_t>(buffer)].dtype;
        return {buffer, dtype, offset, std::move(strides)};
    }
    // The whole buffer, row-major.
    Access all(int buffer) const {
        const auto& shape = program_.buffers[static_cast<size_t>(buffer)].shape;
        return access(buffer, ir::row_major_strides(shape));
    }
    Program done() {
        program_.graph_text = program_.name + "(…)";
        return program_;
    }

  private:
    int add(const std::string& name, BufferKind kind, DType dtype, Shape shape) {
        ir::kernel::Buffer buffer;
        buffer.name = name;
        buffer.kind = kind;
        buffer.dtype = dtype;
        buffer.bytes = ir::element_count(shape) * ir::size_of(dtype);
        buffer.shape = std::move(shape);
        program_.buffers.push_back(std::move(buffer));
        return static_cast<int>(program_.buffers.size()) - 1;
    }

    Program program_;
};

// Numbers that differ in all bits, with a few special floats; the same for the same seed.
inline Array random_array(DType dtype, const Shape& shape, uint64_t seed,
                          bool with_specials = true) {
    Array array(dtype, shape);
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    auto next = [&] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return state >> 33;
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double specials[] = {0.0, -0.0, infinity, -infinity, std::nan(""), 1e-42, -5e-39};
    for (int64_t i = 0; i < array.size(); ++i) {
        double unit = static_cast<double>(next()) / 1073741824.0 - 1.0;
        if (with_specials && next() % 61 == 0) unit = specials[next() % 7];
        ir::scalar::Bits bits = ir::is_floating(dtype) ? ir::scalar::bits_of(dtype, unit)
                                                       : ir::scalar::Bits{next() * 2654435761u, 0};
        if (dtype == DType::boolean) bits = {next() & 1, 0};
        size_t size = static_cast<size_t>(ir::size_of(dtype));
        std::memcpy(static_cast<char*>(array.mutable_data()) + static_cast<size_t>(i) * size,
                    bits.data(), size);
    }
    return array;
}

inline std::vector<Array> random_inputs(const Program& program, bool with_specials = true) {
    std::vector<Array> inputs;
    for (int number : program.inputs) {
        const auto& buffer = program.buffers[static_cast<size_t>(number)];
        inputs.push_back(random_array(buffer.dtype, buffer.shape, static_cast<uint64_t>(number) + 7,
                                      with_specials));
    }
    return inputs;
}

// Elements that differ in a bit, NaN being equal to NaN.
inline int64_t differing(const Array& a, const Array& b) {
    if (a.dtype() != b.dtype() || a.shape() != b.shape()) return -1;
    const size_t size = static_cast<size_t>(ir::size_of(a.dtype()));
    int64_t count = 0;
    for (int64_t i = 0; i < a.size(); ++i) {
        const char* x = a.data_as<char>() + static_cast<size_t>(i) * size;
        const char* y = b.data_as<char>() + static_cast<size_t>(i) * size;
        if (std::memcmp(x, y, size) == 0) continue;
        ir::scalar::Bits p{}, q{};
        std::memcpy(&p, x, size);
        std::memcpy(&q, y, size);
        bool are_nan = ir::is_floating(a.dtype()) &&
                       std::isnan(ir::scalar::value_of(a.dtype(), p)) &&
                       std::isnan(ir::scalar::value_of(a.dtype(), q));
        if (!are_nan) ++count;
    }
    return count;
}

}  // namespace composit::tests

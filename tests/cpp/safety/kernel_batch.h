// Scalar functions as the maps of one program, so that one call of a compiler serves many.
#pragma once

#include "composit/execute/build.h"
#include "composit/ir/scalar/function.h"
#include "composit/ops/nest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace composit::tests {

class KernelBatch {
  public:
    size_t size() const { return texts_.size(); }

    // Each of its results, over some elements.
    void add(const ir::scalar::Function& function, const std::string& text) {
        const std::vector<int64_t> extents{count};
        ir::kernel::Map map{extents, {}, function.results, {}};
        for (const ir::DType dtype : function.parameters)
            map.inputs.push_back(
                ops::row_major(input_of(dtype, map.inputs.size()), dtype, extents));
        for (const ir::scalar::Expr& result : function.results) {
            const int buffer = new_buffer(ir::kernel::BufferKind::output, result.dtype());
            program_.outputs.push_back(buffer);
            map.outputs.push_back(ops::row_major(buffer, result.dtype(), extents));
            text_of_output_.push_back(texts_.size());
        }
        ir::kernel::Kernel kernel;
        kernel.name = "k_" + std::to_string(texts_.size());
        kernel.body = std::move(map);
        program_.kernels.push_back(std::move(kernel));
        texts_.push_back(text);
    }

    // Runs all of them on both back ends, and expects the same bits. Any NaN is any other
    // (docs/semantics.md).
    void compare() const {
        const std::vector<ir::Array> expected = run("interpreter"), compiled = run("cpp");
        for (size_t k = 0; k < expected.size(); ++k)
            for (int64_t i = 0; i < count; ++i)
                EXPECT_TRUE(is_alike(expected[k], compiled[k], i))
                    << "element " << i << " of buffer " << program_.outputs[k] << " in\n"
                    << texts_[text_of_output_[k]];
    }

    // Whether a kernel's results show the signs of NaN, which are not defined.
    static bool shows_signs(const std::string& text) {
        for (const char* word : {"bitcast", "copysign", "signbit"})
            if (text.find(word) != std::string::npos) return true;
        return false;
    }

  private:
    static constexpr int64_t count = 37;  // vectors, and what is left of them

    static bool is_alike(const ir::Array& a, const ir::Array& b, int64_t i) {
        const auto size = static_cast<size_t>(ir::size_of(a.dtype()));
        ir::scalar::Bits one{}, other{};
        std::memcpy(one.data(), static_cast<const char*>(a.data()) + size * static_cast<size_t>(i),
                    size);
        std::memcpy(other.data(),
                    static_cast<const char*>(b.data()) + size * static_cast<size_t>(i), size);
        return one == other ||
               (ir::is_floating(a.dtype()) && std::isnan(ir::scalar::value_of(a.dtype(), one)) &&
                std::isnan(ir::scalar::value_of(b.dtype(), other)));
    }

    int new_buffer(ir::kernel::BufferKind kind, ir::DType dtype) {
        ir::kernel::Buffer buffer;
        buffer.name = "b" + std::to_string(program_.buffers.size());
        buffer.kind = kind;
        buffer.dtype = dtype;
        buffer.shape = {count};
        buffer.bytes = count * ir::size_of(dtype);
        program_.buffers.push_back(std::move(buffer));
        return static_cast<int>(program_.buffers.size()) - 1;
    }

    // Functions share their inputs: one for each dtype and place among the parameters.
    int input_of(ir::DType dtype, size_t place) {
        const auto [known, is_new] = inputs_.try_emplace({dtype, place}, 0);
        if (!is_new) return known->second;
        known->second = new_buffer(ir::kernel::BufferKind::input, dtype);
        program_.inputs.push_back(known->second);
        ir::Array array(dtype, {count});
        auto* const bytes = static_cast<char*>(array.mutable_data());
        const auto size = static_cast<size_t>(ir::size_of(dtype));
        for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
            const ir::scalar::Bits bits = element(dtype, i * (2 * place + 1) + 5 * place);
            std::memcpy(bytes + i * size, bits.data(), size);
        }
        values_.push_back(std::move(array));
        return known->second;
    }

    static ir::scalar::Bits element(ir::DType dtype, size_t i) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        constexpr double numbers[] = {
            0.0,  -0.0, 1.0,     -1.0, 0.5, -1.5, 2.0,      3.0,       7.0, 1e-310, 1e300, 0.1,
            -0.1, 1e-5, -2.7182, 64,   -63, 1e10, infinity, -infinity, NAN, 100,    -1e20, 0.9999};
        constexpr int64_t integers[] = {0,  1,  2,   -1,   3,  -2,      7, 63,
                                        64, -7, 100, 4096, 65, 1 << 30, 5, -64};
        if (dtype == ir::DType::boolean) return ir::scalar::bits_of_integer(dtype, i % 2);
        return ir::is_floating(dtype)
                   ? ir::scalar::bits_of(dtype, numbers[i % std::size(numbers)])
                   : ir::scalar::bits_of_integer(dtype, integers[i % std::size(integers)]);
    }

    std::vector<ir::Array> run(const std::string& backend) const {
        execute::Options options;
        options.backend = backend;
        options.threads = 1;
        const execute::Built built = execute::build(program_, options);
        std::vector<ir::Array> results;
        runtime::Run run;
        run.parallel_for = execute::parallel_for(1);
        for (const ir::Array& value : values_) run.inputs.push_back(value.data());
        for (const int output : program_.outputs) {
            const ir::kernel::Buffer& buffer = program_.buffers[static_cast<size_t>(output)];
            run.outputs.push_back(
                results.emplace_back(buffer.dtype, ir::Shape{count}).mutable_data());
        }
        built.executable->run(run);
        return results;
    }

    ir::kernel::Program program_;
    std::map<std::pair<ir::DType, size_t>, int> inputs_;
    std::vector<ir::Array> values_;  // of the inputs
    std::vector<std::string> texts_;
    std::vector<size_t> text_of_output_;
};

}  // namespace composit::tests

// Products of bytes have the sums of the products of int32 that they stand for: in the reference,
// for every instruction set, and compiled.
#include "composit/backends/interpreter/interpreter.h"
#include "composit/base/text.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"
#include "tests/cpp/backends/cpp_reference.h"
#include "tests/cpp/backends/together.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

using ir::Tensor;
using ir::kernel::ByteContract;
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

struct Case {
    std::string name;
    DType left, right;
    std::vector<Shape> shapes;
    Function function;
};

Tensor wide(const Tensor& x) { return ops::astype(x, DType::int32); }

std::vector<Tensor> product(const std::vector<Tensor>& x) {
    return {numpy::matmul(wide(x[0]), wide(x[1]))};
}
std::vector<Tensor> product_with_transposed(const std::vector<Tensor>& x) {
    return {numpy::matmul(wide(x[0]), numpy::transpose(wide(x[1])))};
}
std::vector<Tensor> transposed_product(const std::vector<Tensor>& x) {
    return {numpy::transpose(numpy::matmul(wide(x[0]), wide(x[1])))};
}
// Bytes that are computed, and int32 only for the product.
std::vector<Tensor> product_of_computed(const std::vector<Tensor>& x) {
    const Tensor halved = ops::map("right_shift", {x[0], ops::astype(x[0], x[0].dtype())});
    return {numpy::matmul(wide(ops::map("bitwise_xor", {halved, x[0]})), wide(x[1]))};
}
// One operand of two products.
std::vector<Tensor> two_products(const std::vector<Tensor>& x) {
    const Tensor shared = wide(x[0]);
    return {numpy::matmul(shared, wide(x[1])), numpy::matmul(wide(x[1]), shared)};
}
Tensor windows(const Tensor& x, const Tensor& filters, int64_t step) {
    return ops::convolve(wide(x), wide(filters), {{step, step}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, 1});
}
std::vector<Tensor> images(const std::vector<Tensor>& x) { return {windows(x[0], x[1], 1)}; }
std::vector<Tensor> second_windows(const std::vector<Tensor>& x) {
    return {windows(x[0], x[1], 2)};
}
std::vector<Tensor> third_windows(const std::vector<Tensor>& x) { return {windows(x[0], x[1], 3)}; }

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const DType left : {DType::int8, DType::uint8})
        for (const DType right : {DType::int8, DType::uint8}) {
            const std::string types = text("_", left, "_", right);
            all.push_back({"odd" + types, left, right, {{67, 83}, {83, 101}}, product});
            all.push_back({"deep" + types, left, right, {{7, 2051}, {2051, 35}}, product});
        }
    const auto add = [&](const char* name, Shape left, Shape right, Function function) {
        all.push_back({name, DType::int8, DType::uint8, {left, right}, std::move(function)});
    };
    add("wide", {5, 64}, {64, 600}, product);
    add("one_row", {1, 300}, {300, 700}, product);
    add("one_column", {700, 300}, {300, 1}, product);
    add("batch", {4, 40, 50}, {4, 50, 70}, product);
    add("shared_right", {3, 40, 50}, {50, 70}, product);
    add("turned", {40, 90}, {70, 90}, product_with_transposed);
    add("result_turned", {150, 40}, {40, 70}, transposed_product);
    add("computed", {50, 60}, {60, 70}, product_of_computed);
    add("two", {64, 64}, {64, 64}, two_products);
    add("images", {2, 5, 12, 13}, {8, 5, 3, 3}, images);
    add("images_of_short_rows", {1, 8, 9, 9}, {28, 8, 3, 3}, images);
    add("images_of_rows_of_14", {1, 4, 16, 16}, {12, 4, 3, 3}, images);
    add("images_as_they_are", {1, 64, 7, 7}, {40, 64, 1, 1}, images);
    add("second_windows", {1, 4, 29, 30}, {12, 4, 3, 3}, second_windows);
    add("third_windows", {1, 8, 29, 30}, {24, 8, 3, 3}, third_windows);
    return all;
}

Program lowered(const Case& c) {
    const std::vector<Tensor> inputs = {ir::input("x", c.left, c.shapes[0]),
                                        ir::input("y", c.right, c.shapes[1])};
    return transforms::lower(transforms::simplify(c.function(inputs)), inputs,
                             {.name = c.name, .inline_scalars = true})
        .program;
}

size_t byte_products(const Program& program) {
    return static_cast<size_t>(std::ranges::count_if(program.kernels, [](const Kernel& kernel) {
        return std::holds_alternative<ByteContract>(kernel.body);
    }));
}

// Every number of eight bits, the least ones often.
Array bytes(DType dtype, const Shape& shape, uint32_t state) {
    Array array(dtype, shape);
    for (int64_t i = 0; i < array.size(); ++i) {
        state = state * 1664525u + 1013904223u;
        const uint32_t drawn = state >> 16;
        static_cast<uint8_t*>(array.mutable_data())[i] =
            static_cast<uint8_t>(drawn % 5 == 0   ? 0x80
                                 : drawn % 7 == 0 ? 0xff
                                                  : drawn);
    }
    return array;
}

// The results of a planned program as the reference has them, and as every instruction set does.
void expect_results(const Program& program, const std::vector<Array>& inputs,
                    const std::vector<Array>& expected, bool by_reference = true) {
    const auto expect = [&](const std::string& way, const std::vector<Array>& results) {
        for (size_t k = 0; k < results.size(); ++k)
            EXPECT_EQ(differing(results[k], expected[k]), 0) << way << ", output " << k;
    };
    if (by_reference) expect("reference", Reference(program, inputs).run());
    for (const auto* set : interpreter::usable_kernel_sets()) {
        const auto interpreted = interpreter::InterpreterBackend(*set).compile(program, {});
        for (int threads : {1, 2, 4})
            expect(set->name, run(*interpreted, program, inputs, threads));
    }
}

TEST(ByteProducts, HaveTheSumsOfInt32) {
    std::vector<Expected> to_be_compiled;
    for (const Case& c : cases()) {
        SCOPED_TRACE(c.name);
        const Program plain = lowered(c);
        const std::vector<Array> inputs = {bytes(c.left, c.shapes[0], 1),
                                           bytes(c.right, c.shapes[1], 2)};
        const std::vector<Array> expected = Reference(plain, inputs).run();
        Program narrow = transforms::narrow_products(plain, {.part_bytes = 64 << 10});
        EXPECT_EQ(byte_products(narrow), expected.size()) << ir::kernel::print(narrow);
        for (const auto& buffer : narrow.buffers)
            if (buffer.kind == ir::kernel::BufferKind::temporary)
                EXPECT_EQ(ir::size_of(buffer.dtype), 1) << ir::kernel::print(narrow);
        narrow = transforms::plan_buffers(std::move(narrow), true);
        expect_results(narrow, inputs, expected);
        to_be_compiled.push_back({narrow, inputs, expected});
    }
    expect_compiled_bits(to_be_compiled, "byte_products");
}

// Constant right operands are packed when a program is made ready.
TEST(ByteProducts, OfConstantsHaveTheSameSums) {
    std::vector<Expected> to_be_compiled;
    const std::vector<std::pair<Shape, bool>> weights = {{{128, 256}, false},
                                                         {{300, 70}, false},
                                                         {{1100, 33}, false},
                                                         {{90, 256}, true},
                                                         {{83, 256}, false}};
    for (const DType dtype : {DType::int8, DType::uint8})
        for (const auto& [shape, is_turned] : weights)
            for (const int64_t rows : {1, 29}) {
                const Tensor given = ir::constant(bytes(dtype, shape, 3));
                const Tensor right = is_turned ? numpy::transpose(given) : given;
                const Shape left = {rows, right.shape()[0]};
                const Tensor x = ir::input("x", DType::int8, left);
                Program plain =
                    transforms::lower(transforms::simplify({numpy::matmul(wide(x), wide(right))}),
                                      {x}, {.inline_scalars = true})
                        .program;
                plain.name = text("of_", rows, "_", dtype, "_", shape[0], "_", shape[1]);
                SCOPED_TRACE(plain.name);
                const std::vector<Array> inputs = {bytes(DType::int8, left, 4)};
                const std::vector<Array> expected = Reference(plain, inputs).run();
                const Target target{
                    .part_bytes = 64 << 10, .least_packed_bytes = 1, .least_product = 1};
                const Program packed =
                    transforms::pack_constants(transforms::narrow_products(plain, target), target);
                const Program apart = transforms::without_packs(packed);
                const bool has_fours = right.shape()[0] % 4 == 0;
                EXPECT_EQ(packed.kernels.size(), has_fours ? 2U : 1U) << ir::kernel::print(packed);
                EXPECT_EQ(apart.kernels.size(), 1U);
                for (const Program& program : {packed, apart})
                    expect_results(transforms::plan_buffers(program, true), inputs, expected);
                to_be_compiled.push_back(
                    {transforms::plan_buffers(packed, true), inputs, expected});
            }
    expect_compiled_bits(to_be_compiled, "constant_byte_products");
}

// Constant filters are packed where the other operand needs no sums of their rows.
TEST(ByteProducts, OfConstantFiltersHaveTheSameSums) {
    std::vector<Expected> to_be_compiled;
    const std::vector<std::pair<int64_t, int64_t>> sizes = {{12, 4}, {70, 12}, {27, 120}};
    for (const DType dtype : {DType::int8, DType::uint8})
        for (const auto& [outputs, channels] : sizes) {
            const Tensor filters = ir::constant(bytes(dtype, {outputs, channels, 3, 3}, 3));
            const Tensor x = ir::input("x", DType::uint8, {1, channels, 9, 9});
            Program plain = transforms::lower(transforms::simplify({windows(x, filters, 1)}), {x},
                                              {.inline_scalars = true})
                                .program;
            plain.name = text("filters_", outputs, "_", dtype, "_", channels);
            SCOPED_TRACE(plain.name);
            const std::vector<Array> inputs = {bytes(DType::uint8, x.shape(), 4)};
            const std::vector<Array> expected = Reference(plain, inputs).run();
            const Target target{
                .part_bytes = 64 << 10, .least_packed_bytes = 1, .least_product = 1};
            const Program packed =
                transforms::pack_constants(transforms::narrow_products(plain, target), target);
            const Program apart = transforms::without_packs(packed);
            EXPECT_EQ(packed.kernels.size() - apart.kernels.size(), dtype == DType::int8 ? 1U : 0U)
                << ir::kernel::print(packed);
            for (const Program& program : {packed, apart})
                expect_results(transforms::plan_buffers(program, true), inputs, expected);
            to_be_compiled.push_back({transforms::plan_buffers(packed, true), inputs, expected});
        }
    expect_compiled_bits(to_be_compiled, "constant_filters_of_bytes");
}

// What follows the sums is computed of them tile by tile, in numbers of any dtype.
TEST(ByteProducts, AreFinishedWhereTheyAreFormed) {
    const auto rounded = [](const Tensor& scaled) {
        const Tensor x = ops::map("rint", {scaled});
        const Tensor cut =
            ops::map("minimum", {ops::map("maximum", {x, x * 0.0f}), x * 0.0f + 255.0f});
        return ops::astype(ops::astype(cut, DType::int32), DType::uint8);
    };
    std::vector<Expected> to_be_compiled;
    const std::vector<std::pair<int64_t, int64_t>> sizes = {{40, 100}, {1057, 500}, {4100, 150}};
    for (const auto& [depth, columns] : sizes) {
        const Tensor x = ir::input("x", DType::int8, {9, depth}),
                     y = ir::input("y", DType::uint8, {depth, columns});
        const Tensor scale = ir::constant(random_array(DType::float32, {9, 1}, 5));
        const Tensor sums = numpy::matmul(wide(x), wide(y));
        const Tensor scaled = ops::astype(sums, DType::float32) * scale;
        const bool is_deep = depth > 1000;  // the reference takes seconds
        for (const bool has_two : {false, true}) {
            if (has_two && is_deep) continue;
            std::vector<Tensor> results = {has_two ? scaled : rounded(scaled)};
            if (has_two) results.push_back(ops::map("negative", {sums}));
            Program plain =
                transforms::lower(transforms::simplify(results), {x, y}, {.inline_scalars = true})
                    .program;
            plain.name = text("finished_", depth, "_", columns, has_two ? "_two" : "");
            SCOPED_TRACE(plain.name);
            const std::vector<Array> inputs = {bytes(DType::int8, x.shape(), 6),
                                               bytes(DType::uint8, y.shape(), 7)};
            const std::vector<Array> expected = Reference(plain, inputs).run();
            const Target target{.least_product = 1};
            Program made =
                transforms::merge_maps(transforms::narrow_products(plain, target), target);
            made = transforms::plan_buffers(transforms::finish_products(std::move(made), target),
                                            true);
            ASSERT_EQ(made.kernels.size(), 1U) << ir::kernel::print(made);
            expect_results(made, inputs, expected, !is_deep);
            to_be_compiled.push_back({made, inputs, expected});
        }
    }
    expect_compiled_bits(to_be_compiled, "finished_byte_products");
}

// What others read as int32, or what was no byte, stays as it is; so do small products.
TEST(ByteProducts, AreMadeOfBytesAlone) {
    const Tensor x = ir::input("x", DType::int8, {64, 64}),
                 y = ir::input("y", DType::int8, {64, 64});
    const Tensor halves = ir::input("h", DType::int16, {64, 64});
    const auto count = [&](const std::vector<Tensor>& outputs) {
        const Program plain = transforms::lower(transforms::simplify(outputs), {x, y, halves},
                                                {.inline_scalars = true})
                                  .program;
        return byte_products(transforms::narrow_products(plain, {.part_bytes = 64 << 10}));
    };
    EXPECT_EQ(count({numpy::matmul(wide(x), wide(y))}), 1U);
    EXPECT_EQ(count({numpy::matmul(wide(x), wide(halves))}), 0U);
    EXPECT_EQ(count({numpy::matmul(wide(x) + 1, wide(y))}), 0U);
    EXPECT_EQ(
        count({numpy::matmul(ops::astype(x, DType::float32), ops::astype(y, DType::float32))}), 0U);
    // The Map of what is only wider stays for its other reader.
    EXPECT_EQ(count({numpy::matmul(wide(x), wide(y)), numpy::sum(wide(x))}), 1U);
    const Tensor few = ops::slice(x, {0, 0}, {8, 64}, {1, 1});
    EXPECT_EQ(count({numpy::matmul(wide(few), numpy::transpose(wide(few)))}), 0U);
}

}  // namespace
}  // namespace composit::tests

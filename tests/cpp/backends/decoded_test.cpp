// Weights in few bits: products that compute them where they read them have the bits of a Map and a
// Contract, in the reference, in compiled code, and taken apart again.
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"
#include "tests/cpp/backends/cpp_reference.h"
#include "tests/cpp/backends/together.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

using ir::Tensor;
using ir::kernel::DecodedContract;
using Weights = std::function<Tensor()>;

Tensor drawn(DType dtype, const Shape& shape, uint64_t seed) {
    return ir::constant(random_array(dtype, shape, seed));
}

Tensor numbers(const std::vector<int32_t>& values) {
    return ir::constant(
        Array::of<int32_t>(DType::int32, {static_cast<int64_t>(values.size()), 1}, values));
}

Tensor floats(const Tensor& x) { return ops::astype(x, DType::float32); }

struct Case {
    std::string name;
    int64_t rows, depth;
    Weights weights;  // (depth, columns)
};

std::vector<Case> cases() {
    const auto by_columns = [](DType dtype, int64_t depth, int64_t columns) {
        return [=] {
            return floats(drawn(dtype, {depth, columns}, 1)) * drawn(DType::float32, {columns}, 2);
        };
    };
    const auto turned = [](int64_t depth, int64_t columns) {
        return [=] {
            return numpy::transpose(floats(drawn(DType::int8, {columns, depth}, 3)) *
                                    drawn(DType::float32, {columns, 1}, 4));
        };
    };
    const auto by_groups = [](int64_t groups, int64_t columns) {
        return [=] {
            const Tensor whole = floats(drawn(DType::int8, {groups, 32, columns}, 5)) *
                                 drawn(DType::float32, {groups, 1, columns}, 6);
            return numpy::reshape(whole, {groups * 32, columns});
        };
    };
    // Two in a byte: the low halves are columns 0 to 31 of 64, the high ones columns 32 to 63.
    const auto four_bits = [](int64_t groups, int64_t tiles) {
        return [=] {
            const Tensor both =
                ops::astype(drawn(DType::uint8, {groups, 32, tiles, 1, 32}, 7), DType::int32);
            const Tensor parts =
                ops::map("subtract",
                         {ops::map("bitwise_and", {both, numbers({15, 240})}), numbers({8, 128})});
            return numpy::reshape(
                floats(parts) * drawn(DType::float32, {groups, 1, tiles, 2, 32}, 8),
                {groups * 32, tiles * 64});
        };
    };
    return {
        {"whole_tiles", 1, 300, by_columns(DType::int8, 300, 128)},
        {"last_tile_of_two", 3, 513, by_columns(DType::uint8, 513, 130)},
        {"halves", 8, 257, by_columns(DType::int16, 257, 65)},
        {"unsigned_halves", 5, 100, by_columns(DType::uint16, 100, 200)},
        {"turned", 2, 270, turned(270, 193)},
        {"groups", 4, 288, by_groups(9, 100)},
        {"four_bits", 7, 320, four_bits(10, 3)},
        {"one_tile", 1, 128, by_columns(DType::int8, 128, 64)},
    };
}

Program lowered(const Case& c) {
    const Tensor x = ir::input("x", DType::float32, {c.rows, c.depth});
    return transforms::lower(transforms::simplify({numpy::matmul(x, c.weights())}), {x},
                             {.name = c.name, .inline_scalars = true})
        .program;
}

int64_t decoded_kernels(const Program& program) {
    return std::ranges::count_if(program.kernels, [](const Kernel& kernel) {
        return std::holds_alternative<DecodedContract>(kernel.body);
    });
}

TEST(DecodedWeights, HaveTheBitsOfAMapAndAContract) {
    const Target target{.part_bytes = 64 << 10, .most_decoded_rows = 8};
    std::vector<Expected> to_be_compiled;
    for (const Case& c : cases()) {
        SCOPED_TRACE(c.name);
        const Program plain = lowered(c);
        const std::vector<Array> inputs = random_inputs(plain);
        const std::vector<Array> expected = Reference(plain, inputs).run();
        const Program decoded = transforms::decode_weights(plain, target);
        ASSERT_EQ(decoded_kernels(decoded), 1) << ir::kernel::print(decoded);
        Program apart = transforms::without_packs(decoded);
        ASSERT_EQ(apart.kernels.size(), 1U) << ir::kernel::print(apart);
        EXPECT_EQ(differing(Reference(apart, inputs).run()[0], expected[0]), 0);
        apart.name += "_apart";
        for (const Program& program : {decoded, apart}) {
            const Program planned = transforms::plan_buffers(program, true);
            if (program.name == c.name)
                EXPECT_EQ(differing(Reference(planned, inputs).run()[0], expected[0]), 0);
            to_be_compiled.push_back({planned, inputs, expected});
        }
    }
    expect_compiled_bits(to_be_compiled, "decoded");
}

// What would be read more often than a Map and a product read it, or is nothing constant, stays.
TEST(DecodedWeights, StayAMapAndAContractWhereThatIsLessWork) {
    const Target target{.part_bytes = 64 << 10, .most_decoded_rows = 8};
    const auto count = [&](const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs) {
        const Program plain =
            transforms::lower(transforms::simplify(outputs), inputs, {.inline_scalars = true})
                .program;
        return decoded_kernels(transforms::decode_weights(plain, target));
    };
    const Tensor x = ir::input("x", DType::float32, {4, 256});
    const Tensor many = ir::input("x", DType::float32, {9, 256});
    const Tensor w = drawn(DType::int8, {256, 128}, 1),
                 given = ir::input("w", DType::int8, {256, 128});
    EXPECT_EQ(count({numpy::matmul(x, floats(w))}, {x}), 1);
    EXPECT_EQ(count({numpy::matmul(many, floats(w))}, {many}), 0);
    EXPECT_EQ(count({numpy::matmul(x, floats(given))}, {x, given}), 0);
    EXPECT_EQ(count({numpy::matmul(x, floats(w)), floats(w)}, {x}), 0);
    const Tensor few = drawn(DType::int8, {256, 32}, 2);
    EXPECT_EQ(count({numpy::matmul(x, floats(few))}, {x}), 0);
    const Tensor wide = drawn(DType::int32, {256, 128}, 3);
    EXPECT_EQ(count({numpy::matmul(x, floats(wide))}, {x}), 0);
}

}  // namespace
}  // namespace composit::tests

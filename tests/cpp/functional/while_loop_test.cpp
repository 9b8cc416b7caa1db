// Loops with a condition: those that count are one loop, others go on while there are values.
#include "composit/functional/while_loop.h"

#include "composit/base/error.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <gtest/gtest.h>

#include <limits>

namespace composit {
namespace {

Tensor whole(int64_t value) { return ir::constant(Array::of<int64_t>(DType::int64, {}, {value})); }
Tensor real(double value) { return ir::constant(Array::scalar(DType::float64, value)); }

struct Counted {
    const char* comparison;
    int64_t first, end, by, iterations;
};

TEST(WhileLoop, CountsAreFound) {
    for (const Counted& c : {Counted{"less", 0, 5, 1, 5},
                             {"less", 3, 10, 4, 2},
                             {"less_equal", 0, 5, 1, 6},
                             {"greater", 9, 0, -3, 3},
                             {"greater_equal", 4, 0, -2, 3},
                             {"not_equal", 1, 7, 2, 3},
                             {"less", 5, 5, 1, 0}}) {
        const Tensor x = ir::input("x", DType::float64, {2});
        const Tensors made = while_loop(
            [&](const Tensors& s) { return ops::map(c.comparison, {s[0], s[2]}); },
            [&](const Tensors& s) {
                const Tensor next = ops::map("add", {s[1], ops::astype(s[0], DType::float64)});
                return Tensors{ops::map("add", {s[0], whole(c.by)}), next, s[2]};
            },
            {whole(c.first), x, whole(c.end)});
        EXPECT_EQ(transforms::is_loop(made[1].node()), c.iterations > 0) << c.comparison;
        const Tensors values = transforms::simplify(ir::substitute(
            made, {x}, {ir::constant(Array::of<double>(DType::float64, {2}, {0, 100}))}));
        double sum = 0;
        for (int64_t k = 0; k < c.iterations; ++k) sum += static_cast<double>(c.first + k * c.by);
        const std::vector<Array> arrays = evaluate(values);
        EXPECT_EQ(*arrays[0].data_as<int64_t>(), c.first + c.iterations * c.by) << c.comparison;
        EXPECT_EQ(arrays[1].data_as<double>()[1], 100 + sum) << c.comparison;
    }
}

TEST(WhileLoop, CountersThatLeaveTheirDtypeDoNotCount) {
    const auto make = [](DType dtype, int64_t first, int64_t end, int64_t by) {
        const auto number = [&](int64_t value) { return ops::astype(whole(value), dtype); };
        return while_loop([&](const Tensors& s) { return ops::map("less", {s[0], number(end)}); },
                          [&](const Tensors& s) {
                              return Tensors{ops::map("add", {s[0], number(by)}),
                                             ops::map("add", {s[1], whole(1)})};
                          },
                          {number(first), whole(0)});
    };
    // 0, 50, 100, 150 - 256, …, until one of 120 to 127 comes.
    int8_t counter = 0;
    int64_t steps = 0;
    for (; counter < 120; ++steps) counter = static_cast<int8_t>(counter + 50);
    const Tensors wrapped = make(DType::int8, 0, 120, 50);
    EXPECT_FALSE(transforms::is_loop(wrapped[1].node()));
    EXPECT_EQ(*evaluate(wrapped)[0].data_as<int8_t>(), counter);
    EXPECT_EQ(*evaluate(wrapped)[1].data_as<int64_t>(), steps);
    const int64_t least = std::numeric_limits<int64_t>::min();
    const Tensors from_least = make(DType::int64, least, least + 7, 3);
    EXPECT_TRUE(transforms::is_loop(from_least[1].node()));
    EXPECT_EQ(*evaluate(from_least)[0].data_as<int64_t>(), least + 9);
    EXPECT_EQ(*evaluate(from_least)[1].data_as<int64_t>(), 3);
    // As uint64, -8 is more than any int64.
    const std::vector<Array> large = evaluate(make(DType::uint64, -8, -2, 2));
    EXPECT_EQ(*large[0].data_as<uint64_t>(), ~uint64_t{0} - 1);
    EXPECT_EQ(*large[1].data_as<int64_t>(), 3);
    EXPECT_THROW((void)make(DType::int64, least, std::numeric_limits<int64_t>::max(), 1),
                 NotSupported);
}

TEST(WhileLoop, OthersGoOnWhileThereAreValues) {
    const auto is_large = [](const Tensors& s) { return ops::map("greater", {s[0], real(0.1)}); };
    const auto halve = [](const Tensors& s) {
        return Tensors{ops::map("multiply", {s[0], real(0.5)})};
    };
    const Array made = evaluate(while_loop(is_large, halve, {real(1)})[0]);
    EXPECT_EQ(*made.data_as<double>(), 0.0625);
    EXPECT_THROW((void)while_loop(is_large, halve, {ir::input("x", DType::float64, {})}),
                 NotSupported);
    EXPECT_THROW(
        (void)while_loop(is_large, [](const Tensors& s) { return Tensors{s[0], s[0]}; }, {real(1)}),
        TypeError);
    EXPECT_THROW((void)while_loop(is_large, [](const Tensors& s) { return s; }, {real(1)}),
                 NotSupported);
}

}  // namespace
}  // namespace composit

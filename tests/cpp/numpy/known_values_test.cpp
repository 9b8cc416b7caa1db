// Values that results keep: of rows that are chosen and written, and of numbers that are converted.
#include "composit/numpy/known_values.h"

#include "composit/execute/execute.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

#include <vector>

namespace composit::numpy {
namespace {

template <class T>
std::vector<T> values_of(const ir::ConstantArray& known) {
    const Array value = known.value();
    return {value.data_as<T>(), value.data_as<T>() + value.size()};
}

Array places(const std::vector<int64_t>& at) {
    return Array::of<int64_t>(DType::int64, {static_cast<int64_t>(at.size())}, at);
}

Tensor matrix() { return array<float>({0, 1, 2, 3, 4, 5}, {3, 2}); }

TEST(KnownValues, are_few_and_on_the_host) {
    EXPECT_EQ(values_of<float>(few_known(matrix())).size(), 6U);
    EXPECT_FALSE(few_known(matrix() + matrix()));
    EXPECT_FALSE(few_known(zeros({0})));
    EXPECT_FALSE(few_known(zeros({most_known_elements + 1})));
    EXPECT_FALSE(few_known(ir::input("x", DType::float32, {3})));
    EXPECT_FALSE(few_known(ir::weak_scalar(2.0)));
}

TEST(KnownValues, of_chosen_rows_are_kept) {
    const Tensor x = matrix(), rows = ops::gather(x, {array<int64_t>({2, 0})}, {0});
    EXPECT_FALSE(few_known(with_known_rows(rows, x, 3, places({2, 3}))));
    EXPECT_FALSE(few_known(with_known_rows(rows, x, 3, places({-1, 0}))));
    EXPECT_EQ(values_of<float>(few_known(with_known_rows(rows, x, 3, places({2, 0})))),
              (std::vector<float>{4, 5, 0, 1}));
}

TEST(KnownValues, of_written_rows_are_kept) {
    const Tensor x = matrix(), at = array<int64_t>({1, 1});
    const auto written = [&](const Tensor& update, const ir::ConstantArray& value) {
        const Tensor result = ops::scatter(x, {at}, {0}, update, false);
        return values_of<float>(few_known(with_known_writes(result, x, 3, places({1, 1}), value)));
    };
    const Tensor update = array<float>({7, 8, 9, 10}, {2, 2});
    EXPECT_EQ(written(update, known_as(update, DType::float32)),
              (std::vector<float>{0, 1, 9, 10, 4, 5}));
    EXPECT_EQ(written(full({2, 2}, 6, DType::float32),
                      known_as(ir::weak_scalar(int64_t{6}), DType::float32)),
              (std::vector<float>{0, 1, 6, 6, 4, 5}));
}

TEST(KnownValues, of_numbers_that_may_be_an_error_are_left_to_a_plan) {
    EXPECT_TRUE(known_as(ir::weak_scalar(0.1), DType::float32));
    EXPECT_TRUE(known_as(ir::weak_scalar(1e300), DType::float64));
    EXPECT_FALSE(known_as(ir::weak_scalar(1e300), DType::float32));
    EXPECT_FALSE(known_as(ir::weak_scalar(1e-50), DType::float32));
    EXPECT_FALSE(known_as(ir::weak_scalar(2.5), DType::int32));
    EXPECT_FALSE(known_as(array<double>({1, 2}), DType::float32));
}

TEST(KnownValues, are_cast_where_no_cast_fails) {
    const Tensor x = array<float>({0, -2});
    EXPECT_EQ(known_cast(x, DType::boolean).data_as<bool>()[1], true);
    EXPECT_EQ(known_cast(x, DType::float64).data_as<double>()[1], -2);
    EXPECT_FALSE(known_cast(x, DType::int64));
    EXPECT_EQ(known_cast(array<uint8_t>({200}), DType::int64).data_as<int64_t>()[0], 200);
}

}  // namespace
}  // namespace composit::numpy

// Where results go: masks, outputs and rules of casting, with NumPy's errors.
#include "composit/numpy/outputs.h"

#include "composit/numpy/assembling.h"
#include "composit/numpy/casting.h"
#include "values.h"

namespace composit::numpy {
namespace {

TEST(outputs, masks_leave_what_is_there) {
    const Tensor sums = array<double>({1, 2, 3}), is_kept = array<bool>({true, false, true});
    expect_values<double>(masked_by("add", sums, is_kept), {3}, {1, 0, 3});
    expect_values<float>(masked_by("add", sums, is_kept, array<float>({7, 8, 9})), {3}, {1, 8, 3});
    expect_values<double>(masked_by("add", array<double>({5}), is_kept, array<double>({1, 2, 3})),
                          {3}, {5, 2, 5});
    expect_error<TypeError>(
        [&] { (void)masked_by("add", sums, is_kept, array<int32_t>({1, 2, 3})); },
        "Cannot cast ufunc 'add' output from dtype('float64') to dtype('int32') with casting rule "
        "'same_kind'");
}

TEST(outputs, results_are_cast_and_widened_by_rules) {
    const Tensor x = array<double>({1.5});
    expect_values<float>(written_as("add", x, {1}, DType::float32), {1}, {1.5F});
    expect_values<int32_t>(
        written_as("add", x, {2}, DType::int32, {.casting = "unsafe", .widens = true}), {2},
        {1, 1});
    expect_error<ValueError>([&] { (void)written_as("add", x, {2}, DType::float64); },
                             "non-broadcastable output operand with shape (2,) doesn't match the "
                             "broadcast shape (1,)");
    EXPECT_TRUE(broadcasts_to({3}, {2, 3}));
    EXPECT_FALSE(broadcasts_to({2, 3}, {3}));
    EXPECT_FALSE(broadcasts_to({2}, {3}));
}

TEST(outputs, rows_are_applied_by_rules) {
    const Tensor x = array<int32_t>({1, 2}), y = array<double>({0.5, 1.5});
    expect_values<float>(apply_by("add", {y, 1}, DType::float32, "unsafe"), {2}, {1.5F, 2.5F});
    expect_values<bool>(apply_by("less", {x, y}, DType::boolean, "same_kind"), {2}, {false, false});
    expect_error<TypeError>([&] { (void)apply_by("add", {x, y}, {}, "no"); },
                            "Cannot cast ufunc 'add' input 0 from dtype('int32') to "
                            "dtype('float64') with casting rule 'no'");
    expect_error<ValueError>([&] { (void)apply_by("add", {x, y}, {}, "some"); },
                             "casting must be one of");
}

TEST(outputs, rules_and_orders_are_checked) {
    EXPECT_TRUE(is_same_kind("same_kind"));
    EXPECT_FALSE(is_same_kind("unsafe"));
    check_order("k");
    expect_error<ValueError>([] { check_order("X"); }, "order must be one of");
    check_buffer_cast(DType::int32, DType::int64);
    expect_error<TypeError>([] { check_buffer_cast(DType::float64, DType::int64); },
                            "Cannot cast array data from dtype('float64') to dtype('int64') "
                            "according to the rule 'safe'");
    expect_error<TypeError>([] { check_difference_cast(DType::int64, DType::boolean); },
                            "Cannot cast ufunc 'subtract' output");
}

TEST(outputs, axes_come_in_front) {
    EXPECT_EQ(with_rank(array<double>({1, 2}), 3).shape(), (Shape{1, 1, 2}));
    EXPECT_EQ(with_rank(zeros({2, 3}), 1).shape(), (Shape{2, 3}));
}

TEST(outputs, ranges_of_bools_have_two_elements) {
    expect_values<bool>(arange(0, 2, 1, DType::boolean), {2}, {false, true});
    expect_error<TypeError>([] { (void)arange(3, DType::boolean); },
                            "arange() is only supported for booleans");
}

}  // namespace
}  // namespace composit::numpy

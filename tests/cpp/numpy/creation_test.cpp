// Creation: values as NumPy's, names as written in Python, mistakes in NumPy's words.
#include "composit/numpy/creation.h"

#include "values.h"

namespace composit::numpy {
namespace {

TEST(creation, arrays_keep_values_and_dtype) {
    expect_values<float>(array<float>({1, 2, 3, 4, 5, 6}, {2, 3}), {2, 3}, {1, 2, 3, 4, 5, 6});
    expect_values<bool>(array<bool>({true, false}), {2}, {true, false});
    EXPECT_EQ(array<uint16_t>({7}).dtype(), DType::uint16);
    expect_error<ValueError>([] { (void)array<int>({1, 2, 3}, {2, 2}); },
                             "array: cannot reshape array of size 3 into shape (2, 2)");
}

TEST(creation, filled_tensors_are_named_leaves) {
    const Tensor x = zeros({2, 3});
    EXPECT_EQ(x.name(), "zeros((2, 3))");
    EXPECT_TRUE(ir::is_constant(x.node()));
    expect_values<double>(x, {2, 3}, std::vector<double>(6, 0));
    EXPECT_EQ(ones({2}, DType::float32).name(), "ones((2,), dtype=float32)");
    expect_values<float>(ones({2}, DType::float32), {2}, {1, 1});
    expect_values<int64_t>(full({2}, 7), {2}, {7, 7});
    EXPECT_EQ(full({2}, 7).name(), "full((2,), 7)");
    expect_values<int32_t>(full({2}, 3.7, DType::int32), {2}, {3, 3});
    expect_values<double>(full({2, 2}, array<double>({1, 2})), {2, 2}, {1, 2, 1, 2});
    expect_values<float>(ones_like(zeros({2}, DType::float32)), {2}, {1, 1});
    expect_values<int8_t>(full_like(zeros({3}), -1, DType::int8), {3}, {-1, -1, -1});
    EXPECT_FALSE(zeros({2}) == zeros({2}));  // each call makes a node of its own
}

TEST(creation, mistakes) {
    expect_error<ValueError>([] { (void)zeros({-1}); }, "negative dimensions are not allowed");
    expect_error<OverflowError>([] { (void)full({2}, 300, DType::uint8); },
                                "Python integer 300 out of bounds for uint8");
    expect_error<ZeroDivisionError>([] { (void)arange(0, 1, 0); }, "division by zero");
    expect_error<ValueError>([] { (void)linspace(0, 1, -1); },
                             "Number of samples, -1, must be non-negative.");
}

TEST(creation, ranges) {
    expect_values<int64_t>(arange(4), {4}, {0, 1, 2, 3});
    expect_values<int64_t>(arange(5, 0, -2), {3}, {5, 3, 1});
    expect_values<int64_t>(arange(3, 3), {0}, {});
    expect_values<uint8_t>(arange(0, 3, 1, DType::uint8), {3}, {0, 1, 2});
    const double second = 1.0 + 0.1, step = second - 1.0;  // as NumPy computes them
    expect_values<double>(arange(1.0, 1.4, 0.1), {4}, {1.0, second, 1 + 2 * step, 1 + 3 * step});
    EXPECT_EQ(arange(0, 10, 2, DType::int32).name(), "arange(0, 10, 2, dtype=int32)");
}

TEST(creation, linspace_ends_where_it_should) {
    expect_values<double>(linspace(0, 1, 5), {5}, {0, 0.25, 0.5, 0.75, 1});
    expect_values<double>(linspace(0, 1, 4, false), {4}, {0, 0.25, 0.5, 0.75});
    expect_values<double>(linspace(2, 3, 1), {1}, {2});
    expect_values<double>(linspace(2, 3, 0), {0}, {});
    expect_values<int64_t>(linspace(-1, 1, 4, true, DType::int64), {4}, {-1, -1, 0, 1});
    expect_values<float>(linspace(0, 1, 3, true, DType::float32), {3}, {0, 0.5f, 1});
}

TEST(creation, matrices) {
    expect_values<double>(eye(2, 3, 1), {2, 3}, {0, 1, 0, 0, 0, 1});
    expect_values<float>(identity(2, DType::float32), {2, 2}, {1, 0, 0, 1});
    expect_values<double>(tri(3, 2, -1), {3, 2}, {0, 0, 1, 0, 1, 1});
    const Tensor x = counting({2, 2, 2});
    expect_values<double>(tril(x), {2, 2, 2}, {0, 0, 2, 3, 4, 0, 6, 7});
    expect_values<double>(triu(x, 1), {2, 2, 2}, {0, 1, 0, 0, 0, 5, 0, 0});
}

}  // namespace
}  // namespace composit::numpy

// Shapes, joining, splitting, rearranging, padding and taking.
#include "composit/numpy/manipulation.h"

#include "values.h"

namespace composit::numpy {
namespace {

TEST(manipulation, reshape) {
    const Tensor x = counting({2, 3});
    EXPECT_EQ(reshape(x, {3, -1}).shape(), (Shape{3, 2}));
    EXPECT_EQ(reshape(zeros({0, 3}), {3, -1}).shape(), (Shape{3, 0}));
    EXPECT_TRUE(reshape(x, {2, 3}) == x);
    expect_error<ValueError>([&] { (void)reshape(x, {4, 2}); },
                             "cannot reshape array of size 6 into shape (4, 2)");
    expect_error<ValueError>([&] { (void)reshape(x, {4, -1}); }, "cannot reshape array of size 6");
    expect_error<ValueError>([&] { (void)reshape(x, {-1, -1}); },
                             "can only specify one unknown dimension");
}

TEST(manipulation, orders_of_axes) {
    const Tensor x = counting({2, 3, 4});
    EXPECT_EQ(transpose(x).shape(), (Shape{4, 3, 2}));
    EXPECT_EQ(transpose(x, std::vector<int64_t>{1, -1, 0}).shape(), (Shape{3, 4, 2}));
    EXPECT_EQ(swapaxes(x, 0, -1).shape(), (Shape{4, 3, 2}));
    EXPECT_EQ(moveaxis(x, 0, -1).shape(), (Shape{3, 4, 2}));
    EXPECT_EQ(moveaxis(x, {0, 1}, {-1, -2}).shape(), (Shape{4, 3, 2}));
    EXPECT_EQ(rollaxis(x, 2).shape(), (Shape{4, 2, 3}));
    EXPECT_EQ(rollaxis(x, 0, 2).shape(), (Shape{3, 2, 4}));
    EXPECT_EQ(matrix_transpose(x).shape(), (Shape{2, 4, 3}));
    expect_values<double>(transpose(counting({2, 3})), {3, 2}, {0, 3, 1, 4, 2, 5});
    expect_error<ValueError>([&] { (void)transpose(x, std::vector<int64_t>{0, 1}); },
                             "axes don't match array");
    expect_error<ValueError>([&] { (void)transpose(x, std::vector<int64_t>{0, 1, 1}); },
                             "repeated axis in transpose");
    expect_error<AxisError>([&] { (void)swapaxes(x, 0, 3); }, "axis 3 is out of bounds");
}

TEST(manipulation, axes_of_length_one) {
    const Tensor x = counting({3});
    EXPECT_EQ(expand_dims(x, {0, -1}).shape(), (Shape{1, 3, 1}));
    EXPECT_EQ(squeeze(reshape(x, {1, 3, 1})).shape(), (Shape{3}));
    EXPECT_EQ(squeeze(reshape(x, {1, 3, 1}), -1).shape(), (Shape{1, 3}));
    EXPECT_EQ(atleast_2d(x).shape(), (Shape{1, 3}));
    EXPECT_EQ(atleast_3d(x).shape(), (Shape{1, 3, 1}));
    expect_error<ValueError>([&] { (void)squeeze(x, 0); }, "size not equal to one");
}

TEST(manipulation, broadcasting) {
    const auto both = broadcast_arrays({counting({3}), counting({2, 1})});
    expect_values<double>(both[0], {2, 3}, {0, 1, 2, 0, 1, 2});
    expect_values<double>(both[1], {2, 3}, {0, 0, 0, 1, 1, 1});
    expect_error<ValueError>([] { (void)broadcast_to(zeros({3}), {2}); }, "could not be broadcast");
    expect_error<ValueError>([] { (void)broadcast_shapes({{2}, {3}}); }, "(2,) (3,)");
}

TEST(manipulation, joining_promotes) {
    const Tensor a = array<float>({1, 2}), b = array<int32_t>({3});
    expect_values<double>(concatenate({a, b}), {3}, {1, 2, 3});
    expect_values<float>(concatenate({a, b}, 0, DType::float32), {3}, {1, 2, 3});
    expect_values<double>(concatenate({counting({2, 2}), counting({2, 1})}, -1), {2, 3},
                          {0, 1, 0, 2, 3, 1});
    expect_values<double>(concatenate({counting({2, 2}), counting({1})}, std::nullopt), {5},
                          {0, 1, 2, 3, 0});
    expect_values<double>(stack({counting({2}), counting({2})}, 1), {2, 2}, {0, 0, 1, 1});
    EXPECT_EQ(hstack({counting({2, 1}), counting({2, 2})}).shape(), (Shape{2, 3}));
    EXPECT_EQ(vstack({counting({2}), counting({3, 2})}).shape(), (Shape{4, 2}));
    EXPECT_EQ(dstack({counting({2}), counting({2})}).shape(), (Shape{1, 2, 2}));
    expect_error<ValueError>([] { (void)concatenate({}); },
                             "need at least one array to concatenate");
    expect_error<ValueError>([] { (void)concatenate({zeros({2, 2}), zeros({3, 3})}); },
                             "along dimension 1, the array at index 0 has size 2 and the array at "
                             "index 1 has size 3");
    expect_error<ValueError>([] { (void)concatenate({zeros({}), zeros({})}); },
                             "zero-dimensional arrays cannot be concatenated");
    expect_error<ValueError>([] { (void)stack({zeros({2}), zeros({3})}); },
                             "all input arrays must have the same shape");
}

TEST(manipulation, splitting) {
    const Tensor x = counting({7});
    auto parts = split(x, {2, -2});
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts[0].node_ref(), parts[2].node_ref());  // one node
    expect_values<double>(parts[1], {3}, {2, 3, 4});
    parts = array_split(x, 3);
    EXPECT_EQ(parts[0].size(), 3);
    expect_values<double>(parts[2], {2}, {5, 6});
    parts = split(x, {5, 2});
    expect_values<double>(parts[1], {0}, {});
    expect_values<double>(parts[2], {5}, {2, 3, 4, 5, 6});
    EXPECT_EQ(split(counting({2, 4}), 2, 1)[1].shape(), (Shape{2, 2}));
    expect_error<ValueError>([&] { (void)split(x, 2); },
                             "array split does not result in an equal division");
    expect_error<ValueError>([&] { (void)array_split(x, 0); },
                             "number sections must be larger than 0");
}

TEST(manipulation, flip_roll_rotate) {
    const Tensor x = counting({2, 3});
    expect_values<double>(flip(x), {2, 3}, {5, 4, 3, 2, 1, 0});
    expect_values<double>(flip(x, 0), {2, 3}, {3, 4, 5, 0, 1, 2});
    expect_values<double>(roll(x, 1), {2, 3}, {5, 0, 1, 2, 3, 4});
    expect_values<double>(roll(x, -1, 1), {2, 3}, {1, 2, 0, 4, 5, 3});
    expect_values<double>(roll(x, {1, 1}, {0, 1}), {2, 3}, {5, 3, 4, 2, 0, 1});
    expect_values<double>(rot90(x), {3, 2}, {2, 5, 1, 4, 0, 3});
    expect_values<double>(rot90(x, -1), {3, 2}, {3, 0, 4, 1, 5, 2});
    expect_values<double>(rot90(x, 2), {2, 3}, {5, 4, 3, 2, 1, 0});
}

TEST(manipulation, repeat_and_tile) {
    const Tensor x = counting({2, 2});
    expect_values<double>(repeat(x, 2), {8}, {0, 0, 1, 1, 2, 2, 3, 3});
    expect_values<double>(repeat(x, 2, 0), {4, 2}, {0, 1, 0, 1, 2, 3, 2, 3});
    expect_values<double>(repeat(x, std::vector<int64_t>{2, 0}, 1), {2, 2}, {0, 0, 2, 2});
    expect_values<double>(tile(counting({2}), {2, 2}), {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
    expect_values<double>(tile(x, {2}), {2, 4}, {0, 1, 0, 1, 2, 3, 2, 3});
}

TEST(manipulation, padding_modes) {
    const Tensor x = counting({3});
    const std::vector<std::pair<int64_t, int64_t>> widths{{2, 4}};
    expect_values<double>(pad(x, widths, "constant", 9), {9}, {9, 9, 0, 1, 2, 9, 9, 9, 9});
    expect_values<double>(pad(x, widths, "edge"), {9}, {0, 0, 0, 1, 2, 2, 2, 2, 2});
    expect_values<double>(pad(x, widths, "reflect"), {9}, {2, 1, 0, 1, 2, 1, 0, 1, 2});
    expect_values<double>(pad(x, widths, "symmetric"), {9}, {1, 0, 0, 1, 2, 2, 1, 0, 0});
    expect_values<double>(pad(x, widths, "wrap"), {9}, {1, 2, 0, 1, 2, 0, 1, 2, 0});
    expect_values<double>(pad(counting({1, 2}), {{0, 1}, {1, 0}}, "edge"), {2, 3},
                          {0, 0, 1, 0, 0, 1});
    expect_values<double>(pad(x, widths, "median"), {9}, {1, 1, 0, 1, 2, 1, 1, 1, 1});
    expect_error<ValueError>([&] { (void)pad(x, widths, "nonsense"); }, "nonsense");
    expect_error<ValueError>([&] { (void)pad(x, {{-1, 0}}); }, "can't contain negative values");
}

TEST(manipulation, taking) {
    const Tensor x = counting({3, 2});
    const Tensor indices = array<int64_t>({2, 0, -1, 1}, {2, 2});
    expect_values<double>(take(x, indices, 0), {2, 2, 2}, {4, 5, 0, 1, 4, 5, 2, 3});
    expect_values<double>(take(x, array<int32_t>({1, 0}), 1), {3, 2}, {1, 0, 3, 2, 5, 4});
    expect_values<double>(take(x, array<int64_t>({5, 0})), {2}, {5, 0});
    expect_values<double>(take(x, array<int64_t>({7, -7}), 0, "wrap"), {2, 2}, {2, 3, 4, 5});
    expect_values<double>(take(x, array<int64_t>({7, -7}), 0, "clip"), {2, 2}, {4, 5, 0, 1});
    EXPECT_EQ(message_of<IndexError>([&] { (void)take(x, array<int64_t>({3}), 0); }),
              "index 3 is out of bounds for axis 0 with size 3.");
    expect_error<TypeError>([&] { (void)take(x, ones({1}), 0); }, "Cannot cast array data");
    expect_values<double>(take_along_axis(x, array<int64_t>({1, 0, 1}, {3, 1}), 1), {3, 1},
                          {1, 2, 5});
    expect_values<double>(take_along_axis(x, array<int64_t>({2, 0}, {1, 2}), 0), {1, 2}, {4, 1});
    expect_values<double>(take_along_axis(x, array<int64_t>({5}), std::nullopt), {1}, {5});
}

TEST(manipulation, differences) {
    const Tensor x = array<double>({1, 4, 9, 16});
    expect_values<double>(diff(x), {3}, {3, 5, 7});
    expect_values<double>(diff(x, 2), {2}, {2, 2});
    expect_values<double>(diff(x, 5), {0}, {});
    expect_values<double>(diff(x, 1, 0, scalar(DType::float64, 0)), {4}, {1, 3, 5, 7});
    expect_values<bool>(diff(array<bool>({true, false, false})), {2}, {true, false});
    expect_values<double>(diff(counting({2, 3}), 1, 0), {1, 3}, {3, 3, 3});
}

TEST(manipulation, windows) {
    expect_values<double>(sliding_window_view(counting({4}), {2}), {3, 2}, {0, 1, 1, 2, 2, 3});
    const Tensor x = counting({2, 3});
    expect_values<double>(sliding_window_view(x, {2}, 0), {1, 3, 2}, {0, 3, 1, 4, 2, 5});
    EXPECT_EQ(sliding_window_view(counting({4, 5}), {2, 3}).shape(), (Shape{3, 3, 2, 3}));
    expect_error<ValueError>([&] { (void)sliding_window_view(x, {3}, 0); },
                             "window shape cannot be larger than input array shape");
}

TEST(manipulation, grids) {
    const auto xy = meshgrid({counting({3}), counting({2})});
    expect_values<double>(xy[0], {2, 3}, {0, 1, 2, 0, 1, 2});
    expect_values<double>(xy[1], {2, 3}, {0, 0, 0, 1, 1, 1});
    EXPECT_EQ(meshgrid({counting({3}), counting({2})}, "ij")[0].shape(), (Shape{3, 2}));
}

TEST(manipulation, resize_takes_elements_again_and_again) {
    const Tensor x = array<int64_t>({1, 2, 3});
    expect_values<int64_t>(resize(x, {2, 4}), {2, 4}, {1, 2, 3, 1, 2, 3, 1, 2});
    expect_values<int64_t>(resize(x, {2}), {2}, {1, 2});
    EXPECT_THROW((void)resize(x, {-1}), ValueError);
}

}  // namespace
}  // namespace composit::numpy

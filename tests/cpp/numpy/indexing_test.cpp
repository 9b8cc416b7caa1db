// get_item and set_item: NumPy's rules for basic, integer-array and boolean indices, and their
// errors.
#include "composit/numpy/indexing.h"

#include "composit/functional/functional.h"
#include "composit/numpy/manipulation.h"
#include "values.h"

#include <functional>

namespace composit::numpy {
namespace {

const Slice all_of_it{};

Tensor integers(const std::vector<int64_t>& elements, const Shape& shape) {
    return array(elements, shape);
}

TEST(indexing, basic) {
    const Tensor x = counting({2, 3, 4});
    expect_values<double>(get_item(x, {1, 2, 3}), {}, {23});
    expect_values<double>(get_item(x, {-1, -3}), {4}, {12, 13, 14, 15});
    expect_values<double>(get_item(x, {Ellipsis{}, 1}), {2, 3}, {1, 5, 9, 13, 17, 21});
    expect_values<double>(get_item(x, {0, Slice{1, {}, {}}, Slice{{}, {}, -2}}), {2, 2},
                          {7, 5, 11, 9});
    EXPECT_EQ(get_item(x, {NewAxis{}, Ellipsis{}, NewAxis{}}).shape(), (Shape{1, 2, 3, 4, 1}));
    EXPECT_EQ(get_item(x, {all_of_it, Slice{5, 1, {}}}).shape(), (Shape{2, 0, 4}));
    EXPECT_EQ(get_item(x, {all_of_it, Slice{-100, 100, 2}}).shape(), (Shape{2, 2, 4}));
    EXPECT_TRUE(get_item(x, {}) == x);
}

TEST(indexing, integer_arrays) {
    const Tensor x = counting({3, 4});
    const Tensor rows = integers({2, 0}, {2}), columns = integers({1, -1}, {2});
    expect_values<double>(get_item(x, {rows}), {2, 4}, {8, 9, 10, 11, 0, 1, 2, 3});
    expect_values<double>(get_item(x, {rows, columns}), {2}, {9, 3});
    expect_values<double>(get_item(x, {integers({0, 2}, {2, 1}), columns}), {2, 2}, {1, 3, 9, 11});
    expect_values<double>(get_item(x, {Slice{1, {}, {}}, columns}), {2, 2}, {5, 7, 9, 11});
    expect_values<double>(get_item(x, {1, columns}), {2}, {5, 7});
    expect_values<double>(get_item(x, {integers({2}, {})}), {4}, {8, 9, 10, 11});
    expect_values<double>(get_item(x, {rows, NewAxis{}, 1}), {2, 1}, {9, 1});
}

TEST(indexing, where_indexed_dimensions_go) {
    const Tensor x = zeros({2, 3, 4, 5});
    const Tensor a = integers({0, 1, 0, 1, 0, 1}, {6}), b = integers({0, 0, 0, 0, 0, 0}, {6});
    EXPECT_EQ(get_item(x, {all_of_it, a, b}).shape(), (Shape{2, 6, 5}));
    EXPECT_EQ(get_item(x, {a, all_of_it, b}).shape(), (Shape{6, 3, 5}));
    EXPECT_EQ(get_item(x, {all_of_it, a, all_of_it, b}).shape(), (Shape{6, 2, 4}));
    EXPECT_EQ(get_item(x, {all_of_it, 0, b}).shape(), (Shape{2, 6, 5}));
    EXPECT_EQ(get_item(x, {0, all_of_it, b}).shape(), (Shape{6, 3, 5}));
    EXPECT_EQ(get_item(x, {all_of_it, NewAxis{}, a}).shape(), (Shape{2, 1, 6, 4, 5}));
    EXPECT_EQ(get_item(x, {all_of_it, a, NewAxis{}, b}).shape(), (Shape{6, 2, 1, 5}));
    EXPECT_EQ(get_item(x, {Ellipsis{}, a}).shape(), (Shape{2, 3, 4, 6}));
}

TEST(indexing, masks) {
    const Tensor x = counting({2, 3});
    const Tensor mask = array<bool>({true, false, true, false, false, true}, {2, 3});
    expect_values<double>(get_item(x, {mask}), {3}, {0, 2, 5});
    expect_values<double>(get_item(x, {all_of_it, array<bool>({true, false, true})}), {2, 2},
                          {0, 2, 3, 5});
    EXPECT_EQ(get_item(x, {array<bool>({true}, {})}).shape(), (Shape{1, 2, 3}));
    EXPECT_EQ(get_item(x, {array<bool>({false}, {})}).shape(), (Shape{0, 2, 3}));
    EXPECT_EQ(message_of<IndexError>([&] { (void)get_item(x, {array<bool>({true})}); }),
              "boolean index did not match indexed array along axis 0; size of axis is 2 but size "
              "of corresponding boolean axis is 1.");
    const auto places = nonzero(mask);
    expect_values<int64_t>(places[0], {3}, {0, 0, 1});
    expect_values<int64_t>(places[1], {3}, {0, 2, 2});
}

TEST(indexing, masks_of_placeholders_are_refused_by_name) {
    const Tensor mask = ir::input("chosen", DType::boolean, {2});
    expect_error<NotSupported>([&] { (void)get_item(zeros({2}), {mask}); },
                               "depends on the values of a boolean index, which depend on the "
                               "placeholder 'chosen'");
}

TEST(indexing, mistakes_in_numpys_words) {
    const Tensor x = counting({2, 3});
    EXPECT_EQ(message_of<IndexError>([&] { (void)get_item(x, {0, 0, 0}); }),
              "too many indices for array: array is 2-dimensional, but 3 were indexed. Its shape "
              "is (2, 3).");
    EXPECT_EQ(message_of<IndexError>([&] { (void)get_item(x, {0, -4}); }),
              "index -4 is out of bounds for axis 1 with size 3.");
    expect_error<IndexError>([&] { (void)get_item(x, {integers({2}, {1})}); },
                             "index 2 is out of bounds for axis 0 with size 2");
    expect_error<IndexError>([&] { (void)get_item(x, {Ellipsis{}, Ellipsis{}}); },
                             "an index can only have a single ellipsis ('...')");
    expect_error<IndexError>([&] { (void)get_item(x, {ones({2})}); },
                             "arrays used as indices must be of integer (or boolean) type");
    expect_error<IndexError>(
        [&] { (void)get_item(x, {integers({0, 1}, {2}), integers({0, 1, 2}, {3})}); },
        "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,)");
    expect_error<ValueError>([&] { (void)get_item(x, {Slice{{}, {}, 0}}); },
                             "slice step cannot be zero");
}

TEST(indexing, assignment_of_slices) {
    const Tensor x = counting({2, 3});
    expect_values<double>(set_item(x, {0, 1}, 9), {2, 3}, {0, 9, 2, 3, 4, 5});
    expect_values<double>(set_item(x, {all_of_it, Slice{{}, {}, 2}}, array<int>({7, 8})), {2, 3},
                          {7, 1, 8, 7, 4, 8});
    expect_values<double>(set_item(x, {1, Slice{{}, {}, -1}}, array<double>({7, 8, 9})), {2, 3},
                          {0, 1, 2, 9, 8, 7});
    expect_values<double>(set_item(x, {Ellipsis{}}, 1.5), {2, 3}, {1.5, 1.5, 1.5, 1.5, 1.5, 1.5});
    expect_values<double>(set_item(x, {Slice{1, 1, {}}}, 9), {2, 3}, {0, 1, 2, 3, 4, 5});
    expect_values<double>(set_item(x, {0}, ones({1, 1, 3})), {2, 3}, {1, 1, 1, 3, 4, 5});
    expect_values<int32_t>(set_item(array<int32_t>({1, 2}), {0}, 7.9), {2}, {7, 2});
    EXPECT_EQ(message_of<ValueError>([&] { (void)set_item(x, {0, Slice{0, 2, {}}}, ones({3})); }),
              "could not broadcast input array from shape (3,) into shape (2,)");
    expect_error<OverflowError>([] { (void)set_item(zeros({1}, DType::uint8), {0}, 256); },
                                "Python integer 256 out of bounds for uint8");
}

TEST(indexing, assignment_through_arrays) {
    const Tensor x = zeros({2, 3});
    const Tensor twice = integers({1, 1}, {2});
    expect_values<double>(set_item(x, {all_of_it, twice}, array<double>({5, 6})), {2, 3},
                          {0, 6, 0, 0, 6, 0});
    expect_values<double>(add_at(x, {0, twice}, array<double>({5, 6})), {2, 3},
                          {0, 11, 0, 0, 0, 0});
    expect_values<double>(add_at(x, {all_of_it, 0}, 2), {2, 3}, {2, 0, 0, 2, 0, 0});
    expect_values<double>(
        set_item(x, {Slice{1, {}, {}}, integers({0, 2}, {2})}, array<double>({1, 2})), {2, 3},
        {0, 0, 0, 1, 0, 2});
    const Tensor mask = array<bool>({true, false, false, true, true, false}, {2, 3});
    expect_values<double>(set_item(x, {mask}, array<double>({1, 2, 3})), {2, 3},
                          {1, 0, 0, 2, 3, 0});
    expect_error<ValueError>([&] { (void)set_item(x, {mask}, ones({2})); },
                             "shape mismatch: value array of shape (2,) could not be broadcast to "
                             "indexing result of shape (3,)");
}

// Reading back what was written: for many indices, x[index] = value gives x[index] == value.
TEST(indexing, reading_back) {
    const Tensor x = zeros({3, 4, 2});
    const std::vector<Index> indices{
        {1},
        {Slice{{}, {}, -2}, 3},
        {integers({2, 0}, {2}), all_of_it, 1},
        {all_of_it, integers({3, 1, 0}, {3})},
        {NewAxis{}, Ellipsis{}, integers({1, 0}, {2})},
        {Slice{1, {}, {}}, integers({0, 2}, {2, 1}), integers({0, 1}, {2})},
        {array<bool>({true, false, true})},
    };
    for (size_t i = 0; i < indices.size(); ++i) {
        SCOPED_TRACE(i);
        const Shape shape = get_item(x, indices[i]).shape();
        const Tensor value = counting(shape);
        const Tensor y = set_item(x, indices[i], value);
        EXPECT_EQ(values<double>(get_item(y, indices[i])), values<double>(value));
    }
}

TEST(indexing, gradients_flow_to_what_was_read) {
    const auto f = [](const Tensor& x) {
        const Tensor part = get_item(x, {Slice{{}, {}, -2}, array<int64_t>({1, 1})});
        return ops::reduce(ops::Combiner::sum, part, {0, 1});
    };
    expect_values<double>(grad(f)(zeros({3, 2})), {3, 2}, {0, 2, 0, 0, 0, 2});
}

}  // namespace
}  // namespace composit::numpy

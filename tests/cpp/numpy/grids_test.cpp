// Grids and joined rows, as NumPy's mgrid, ogrid, r_ and c_ make them.
#include "composit/numpy/grids.h"

#include "values.h"

namespace composit::numpy {
namespace {

TEST(grids, lines_are_ranges_or_counts) {
    expect_values<int64_t>(points_of({.stop = 4}), {4}, {0, 1, 2, 3});
    expect_values<double>(points_of({1, 2.0, 0.25}), {4}, {1, 1.25, 1.5, 1.75});
    expect_values<double>(points_of({.stop = 1, .count = 3}), {3}, {0, 0.5, 1});
}

TEST(grids, grids_are_open_or_whole) {
    const std::vector<Tensor> open = ogrid({{0, 2}, {.stop = 1, .count = 3}});
    expect_values<double>(open[0], {2, 1}, {0, 1});
    expect_values<double>(open[1], {1, 3}, {0, 0.5, 1});
    expect_values<int64_t>(mgrid({{0, 2}, {1, 3}}), {2, 2, 2}, {0, 0, 1, 1, 1, 2, 1, 2});
    EXPECT_EQ(mgrid({}).shape(), Shape{0});
    expect_error<ValueError>([] { (void)mgrid({{3, 1}}); },
                             "mgrid: negative dimensions are not allowed: (-2,).");
}

TEST(grids, parts_are_joined) {
    const Tensor x = array<double>({7, 8});
    expect_values<double>(joined({1, GridLine{2, 5}, x}), {6}, {1, 2, 3, 4, 7, 8});
    expect_values<double>(joined({x, x}, as_columns), {2, 2}, {7, 7, 8, 8});
    EXPECT_EQ(joined({x}, joining_named("r_", "0,3,1", as_rows)).shape(), (Shape{1, 2, 1}));
    expect_error<ValueError>([] { (void)joined({}); }, "need at least one array to concatenate");
    expect_error<ValueError>([] { (void)joining_named("r_", "x", as_rows); },
                             "r_: unknown special directive 'x'");
    expect_error<TypeError>([] { (void)joining_named("c_", "c", as_columns); },
                            "'c' makes a matrix");
}

}  // namespace
}  // namespace composit::numpy

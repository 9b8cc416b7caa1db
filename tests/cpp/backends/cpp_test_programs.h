// One program for each way in which kernels of every kind may be laid out.
#pragma once

#include "tests/cpp/backends/cpp_programs.h"

namespace composit::tests {

inline Expr arg(int index, DType dtype = DType::float32) { return Expr::argument(index, dtype); }
inline Array indices(Shape shape, const std::vector<int64_t>& values) {
    return Array::of<int64_t>(DType::int64, std::move(shape), values);
}

inline std::vector<Program> map_programs() {
    std::vector<Program> programs;
    {
        Builder b("broadcast");
        int x = b.input("x", DType::float32, {4, 6, 8}),
            w = b.input("weights.0", DType::float32, {8});
        int c =
            b.constant("for", Array::of<float>(DType::float32, {6}, {1, 2, -3, .5f, 1e-20f, 7}));
        int y = b.output("y", DType::float32, {4, 6, 8});
        b.kernel("multiply_add",
                 ir::kernel::Map{{4, 6, 8},
                                 {b.all(x), b.access(w, {0, 0, 1}), b.access(c, {0, 1, 0})},
                                 {arg(0) * arg(1) + arg(2)},
                                 {b.all(y)}});
        programs.push_back(b.done());
    }
    {
        Builder b("reversed, transposed");
        int x = b.input("x", DType::float64, {5, 7});
        int y = b.output("y", DType::float64, {7, 5});
        b.kernel("load",
                 ir::kernel::Map{
                     {7, 5},
                     {b.access(x, {1, -7}, 28), b.access(Access::position, {5, 1}, 100)},
                     {arg(0, DType::float64) * Expr::cast(arg(1, DType::int64), DType::float64)},
                     {b.all(y)}});
        programs.push_back(b.done());
    }
    {
        Builder b("two_outputs");
        int x = b.input("begin", DType::float32, {300}), w = b.input("i", DType::float32, {300});
        int t = b.temporary("t", DType::float32, {300});
        int u = b.temporary("u", DType::float32, {300}, 0);
        int v = b.temporary("v", DType::int32, {300}, 0);
        int y = b.output("y", DType::float32, {300}), z = b.output("z", DType::int32, {300});
        Expr s = (arg(0) + arg(1)).named("total");
        b.kernel("both",
                 ir::kernel::Map{
                     {300}, {b.all(x), b.all(w)}, {s * s, s - arg(0)}, {b.all(t), b.all(y)}});
        b.kernel("in_place", ir::kernel::Map{{300}, {b.all(t)}, {arg(0) * 0.5}, {b.all(u)}});
        Expr clipped = ir::scalar::select(ir::scalar::absolute(arg(0)) < 1e6, arg(0), 3.0);
        b.kernel(
            "as_integer",
            ir::kernel::Map{{300}, {b.all(u)}, {Expr::cast(clipped, DType::int32)}, {b.all(v)}});
        b.kernel("out",
                 ir::kernel::Map{{300}, {b.all(v)}, {arg(0, DType::int32) * 3.0}, {b.all(z)}});
        programs.push_back(b.done());
    }
    {
        Builder b("scalar_and_empty");
        int x = b.input("x", DType::float32, {}), y = b.output("y", DType::float32, {});
        int z = b.output("z", DType::float32, {3, 0});
        b.kernel("negate", ir::kernel::Map{{}, {b.all(x)}, {-arg(0)}, {b.all(y)}});
        b.kernel("nothing", ir::kernel::Map{{3, 0}, {b.access(x, {0, 0})}, {arg(0)}, {b.all(z)}});
        programs.push_back(b.done());
    }
    {
        Builder b("large");
        int x = b.input("x", DType::float32, {200, 333}),
            w = b.input("w", DType::float32, {200, 1});
        int y = b.output("y", DType::float32, {200, 333}),
            z = b.output("z", DType::float64, {333, 200});
        Expr root = ir::scalar::square_root(ir::scalar::absolute(arg(0)));
        b.kernel("root", ir::kernel::Map{{200, 333},
                                         {b.all(x), b.access(w, {1, 0})},
                                         {ir::scalar::fma(root, arg(1), arg(0))},
                                         {b.all(y)}});
        b.kernel("widen", ir::kernel::Map{{333, 200},
                                          {b.access(y, {1, 333})},
                                          {Expr::cast(arg(0), DType::float64)},
                                          {b.all(z)}});
        programs.push_back(b.done());
    }
    for (DType dtype : {DType::int8, DType::uint16, DType::int32, DType::int64, DType::uint64}) {
        Builder b("wrap_" + std::string(ir::name(dtype)));
        int x = b.input("x", dtype, {97}), w = b.input("w", dtype, {97});
        int y = b.output("y", dtype, {97}), z = b.output("is_less", DType::boolean, {97});
        Expr p = arg(0, dtype), q = arg(1, dtype);
        b.kernel("wrap", ir::kernel::Map{{97},
                                         {b.all(x), b.all(w)},
                                         {-(p * q + p - (q ^ p)) * 3.0, p < q},
                                         {b.all(y), b.all(z)}});
        programs.push_back(b.done());
    }
    return programs;
}

// One Reduce of `value` over x[kept + reduced] with the given strides of x.
inline Program reduction(const std::string& name, Combiner combiner, DType dtype, Shape shape,
                         Extents kept, Extents reduced, std::vector<int64_t> strides,
                         bool is_fused = false, int64_t offset = 0) {
    Builder b(name);
    int x = b.input("x", dtype, std::move(shape));
    bool by_position = combiner == Combiner::argmax || combiner == Combiner::argmin;
    int y = b.output("y", by_position ? DType::int64 : dtype, kept);
    Expr value = is_fused ? arg(0, dtype) * arg(0, dtype) - arg(0, dtype) : arg(0, dtype);
    b.kernel(
        name,
        ir::kernel::Reduce{
            kept, reduced, {b.access(x, std::move(strides), offset)}, value, combiner, b.all(y)});
    return b.done();
}

inline std::vector<Program> reduce_programs() {
    const DType f = DType::float32, d = DType::float64;
    std::vector<Program> programs = {
        reduction("rows", Combiner::sum, f, {7, 10000}, {7}, {10000}, {10000, 1}),
        reduction("rows_fused", Combiner::sum, f, {7, 10000}, {7}, {10000}, {10000, 1}, true),
        reduction("rows_short", Combiner::sum, f, {900, 50}, {900}, {50}, {50, 1}, true),
        reduction("rows_tiny", Combiner::product, d, {11, 3}, {11}, {3}, {3, 1}),
        reduction("all", Combiner::sum, d, {100001}, {}, {100001}, {1}),
        reduction("one", Combiner::sum, f, {5, 1}, {5}, {1}, {1, 1}, true),
        reduction("nested", Combiner::sum, f, {3, 40, 200}, {3}, {40, 150}, {8000, 200, 1}, true),
        reduction("nested_short", Combiner::maximum, f, {3, 9, 20}, {3}, {9, 13}, {180, 20, 1}),
        reduction("reversed", Combiner::sum, f, {3000}, {}, {3000}, {-1}, false, 2999),
        reduction("columns", Combiner::sum, f, {5000, 200}, {200}, {5000}, {1, 200}),
        reduction("columns_fused", Combiner::sum, d, {500, 70}, {70}, {500}, {1, 70}, true),
        reduction("columns_fused_long", Combiner::sum, f, {5003, 200}, {200}, {5003}, {1, 200},
                  true),
        reduction("columns_fused_nested", Combiner::maximum, f, {7, 150, 40}, {20}, {7, 150},
                  {2, 6000, 40}, true),
        reduction("columns_middle", Combiner::sum, f, {4, 90, 160}, {4, 160}, {90},
                  {14400, 1, 160}),
        reduction("columns_nested", Combiner::minimum, f, {6, 9, 40}, {20}, {6, 9}, {2, 360, 40}),
        reduction("integers", Combiner::sum, DType::int32, {60, 5000}, {60}, {5000}, {5000, 1}),
        reduction("bytes", Combiner::product, DType::int8, {40, 70}, {70}, {40}, {1, 70}, true),
        reduction("largest_integer", Combiner::maximum, DType::int16, {500}, {}, {500}, {1}),
        reduction("position", Combiner::argmax, f, {9, 3000}, {9}, {3000}, {3000, 1}),
        reduction("position_fused", Combiner::argmin, d, {2, 9000}, {2}, {9000}, {9000, 1}, true),
        reduction("position_columns", Combiner::argmin, f, {50, 300}, {300}, {50}, {1, 300}),
        reduction("position_integer", Combiner::argmax, DType::uint8, {33, 5}, {33}, {5}, {5, 1}),
        reduction("any", Combiner::any, DType::boolean, {40, 3}, {40}, {3}, {3, 1}),
        reduction("all_columns", Combiner::all, DType::boolean, {3, 40}, {40}, {3}, {1, 40}),
        reduction("nothing_summed", Combiner::sum, f, {4, 0}, {4}, {0}, {0, 1}),
        reduction("nothing_multiplied", Combiner::product, d, {0, 40}, {40}, {0}, {1, 40}),
    };
    return programs;
}

inline Program scan(const std::string& name, Combiner combiner, DType dtype, Extents extents,
                    std::vector<int64_t> in, std::vector<int64_t> out, bool is_fused) {
    Builder b(name);
    int x = b.input("x", dtype, {ir::element_count(extents)});
    int y = b.output("y", dtype, {ir::element_count(extents)});
    Expr value = is_fused ? arg(0, dtype) * 0.5 : arg(0, dtype);
    b.kernel(name, ir::kernel::Scan{std::move(extents),
                                    {b.access(x, std::move(in))},
                                    value,
                                    combiner,
                                    b.access(y, std::move(out))});
    return b.done();
}

inline std::vector<Program> scan_programs() {
    const DType f = DType::float32, d = DType::float64;
    return {
        scan("running_sum", Combiner::sum, f, {300, 70}, {70, 1}, {70, 1}, false),
        scan("running_fused", Combiner::product, d, {3, 2500}, {2500, 1}, {2500, 1}, true),
        scan("running_columns", Combiner::sum, f, {400, 60}, {1, 400}, {1, 400}, true),
        scan("running_maximum", Combiner::maximum, f, {5, 60}, {60, 1}, {1, 5}, false),
        scan("running_integers", Combiner::product, DType::int16, {9, 60}, {1, 9}, {1, 9}, false),
    };
}

inline Program product(const std::string& name, DType dtype, int64_t rows, int64_t depth,
                       int64_t columns, int64_t batch = 1, bool is_transposed = false) {
    Builder b(name);
    int x = b.input("x", dtype, {batch, rows, depth}), w = b.input("w", dtype, {depth, columns});
    int y = b.output("y", dtype, {batch, rows, columns});
    std::vector<int64_t> right = {0, columns, 1};
    if (is_transposed) right = {0, 1, depth};
    b.kernel("matmul",
             ir::kernel::Contract{
                 {batch}, {rows}, {columns}, {depth}, b.all(x), b.access(w, right), b.all(y)});
    return b.done();
}

// The left operand, whose rows are columns in memory, is packed; few columns are beside whole
// tiles.
inline Program narrow_product(DType dtype, int64_t rows, int64_t depth, int64_t columns) {
    Builder b("product_narrow_" + std::to_string(rows));
    int x = b.input("x", dtype, {depth, rows}), w = b.input("w", dtype, {depth, columns});
    int y = b.output("y", dtype, {rows, columns});
    b.kernel("matmul",
             ir::kernel::Contract{
                 {}, {rows}, {columns}, {depth}, b.access(x, {1, rows}), b.all(w), b.all(y)});
    return b.done();
}

// A convolution: windows of the image are rows of a product.
inline Program convolution() {
    Builder b("convolution");
    int image = b.input("image", DType::float32, {2, 12, 13, 3});
    int filters = b.input("filters", DType::float32, {3, 3, 3, 20});
    int y = b.output("y", DType::float32, {2, 5, 11, 20});
    b.kernel("convolve", ir::kernel::Contract{{},
                                              {2, 5, 11},
                                              {20},
                                              {3, 3, 3},
                                              b.access(image, {468, 78, 3, 39, 3, 1}),
                                              b.access(filters, {180, 60, 20, 1}),
                                              b.all(y)});
    return b.done();
}

// A convolution whose columns are the pixels of padded images: vectors of them are in two rows.
inline Program image_columns(int64_t filters, int64_t channels, int64_t width) {
    const int64_t padded = width + 2, pixels = padded * padded;
    Builder b("image_columns_" + std::to_string(filters) + "_" + std::to_string(width));
    int image = b.input("image", DType::float32, {2, channels, padded, padded});
    int w = b.input("w", DType::float32, {filters, channels, 3, 3});
    int y = b.output("y", DType::float32, {2, filters, width, width});
    b.kernel("convolve", ir::kernel::Contract{
                             {},
                             {filters},
                             {2, width, width},
                             {3, 3, channels},
                             b.access(w, {channels * 9, 3, 1, 9}),
                             b.access(image, {padded, 1, pixels, channels * pixels, padded, 1}),
                             b.access(y, {width * width, filters * width * width, width, 1})});
    return b.done();
}

// Windows of single filters, each of `size` x `size`, over padded images: rows of results are
// shorter and longer than vectors are.
inline Program windows_of_channels(DType dtype, int64_t step, int64_t size) {
    Builder b("windows_of_channels_" + std::to_string(step) + "_" + std::to_string(size));
    constexpr int64_t channels = 3;
    for (const int64_t width : {2, 3, 4, 5, 7, 8, 9, 14, 17, 28, 33}) {
        const std::string name = std::to_string(width);
        const int64_t padded = (width - 1) * step + size;
        const int image = b.input("image" + name, dtype, {channels, padded, padded});
        const int w = b.input("w" + name, dtype, {channels, size, size});
        const int y = b.output("y" + name, dtype, {channels, width, width});
        b.kernel(
            "windows_" + name,
            ir::kernel::Contract{{channels},
                                 {1},
                                 {width, width},
                                 {size, size},
                                 b.access(w, {size * size, 0, size, 1}),
                                 b.access(image, {padded * padded, padded, 1, padded * step, step}),
                                 b.access(y, {width * width, 0, width, 1})});
    }
    return b.done();
}

// Products too small for panels: of all lengths around those of vectors and tiles, with the right
// operand and the output either way round.
inline Program small_products(DType dtype) {
    Builder b("small_products");
    constexpr int64_t batch = 3, columns[] = {1, 3, 4, 7, 8, 9, 15, 16, 17, 24, 31, 33};
    int64_t number = 0;
    for (const int64_t rows : {1, 2, 5, 6, 8, 13, 17})
        for (const int64_t depth : {1, 8, 17}) {
            const int64_t n = columns[number % 12];
            const std::string name = std::to_string(number++);
            const int x = b.input("x" + name, dtype, {batch, rows, depth});
            const int w = b.input("w" + name, dtype, {batch, depth, n});
            const int y = b.output("y" + name, dtype, {batch, rows, n});
            std::vector<int64_t> right = {depth * n, n, 1}, out = {rows * n, n, 1};
            if (number % 2 == 0) right = {depth * n, 1, depth};
            if (number % 5 == 0) out = {rows * n, 1, rows};
            b.kernel(
                "small_" + name,
                ir::kernel::Contract{
                    {batch}, {rows}, {n}, {depth}, b.all(x), b.access(w, right), b.access(y, out)});
        }
    return b.done();
}

inline std::vector<Program> contract_programs() {
    const DType f = DType::float32, d = DType::float64;
    return {
        product("product", f, 33, 300, 45),
        product("product_tall", f, 200, 520, 70),
        product("product_wide", f, 3, 40, 2100),
        product("product_of_few_rows_and_many_columns", f, 5, 258, 1030, 2),
        product("product_vector", f, 1, 600, 500, 1, true),
        product("product_batch", d, 20, 30, 25, 40, true),
        product("product_single", f, 1, 1, 1),
        product("product_no_depth", f, 4, 0, 3),
        narrow_product(f, 31, 300, 67),
        narrow_product(f, 151, 9, 340),
        narrow_product(f, 28, 40, 98),
        narrow_product(f, 100, 260, 115),
        narrow_product(d, 20, 270, 65),
        product("product_int32", DType::int32, 20, 30, 40),
        product("product_int8", DType::int8, 5, 30, 7, 2),
        product("product_bool", DType::boolean, 6, 5, 7),
        convolution(),
        small_products(f),
        small_products(d),
        windows_of_channels(f, 1, 3),
        windows_of_channels(f, 2, 3),
        windows_of_channels(f, 2, 2),
        windows_of_channels(d, 1, 5),
        windows_of_channels(d, 2, 3),
        image_columns(7, 3, 26),
        image_columns(8, 30, 5),
        image_columns(150, 2, 9),
    };
}

inline std::vector<Program> indexing_programs() {
    std::vector<Program> programs;
    {
        Builder b("gather_rows");
        int x = b.input("x", DType::float32, {10, 1500}),
            y = b.output("y", DType::float32, {5, 1500});
        int at = b.constant("at", indices({5}, {3, -1, 0, 3, 9}));
        b.kernel("take",
                 ir::kernel::Gather{
                     {5}, {1500}, b.access(x, {1}), {b.all(at)}, {1500}, {10}, {0}, b.all(y)});
        programs.push_back(b.done());
    }
    {
        Builder b("gather_pairs");
        int x = b.input("x", DType::int16, {4, 5, 6}), y = b.output("y", DType::int16, {2, 3, 6});
        int p = b.constant("p", indices({2, 1}, {3, -4})),
            q = b.constant("q", indices({3}, {-1, 0, 2}));
        b.kernel("take", ir::kernel::Gather{{2, 3},
                                            {6},
                                            b.access(x, {-1}, 5),
                                            {b.access(p, {1, 0}), b.access(q, {0, 1})},
                                            {30, 6},
                                            {4, 5},
                                            {0, 1},
                                            b.all(y)});
        programs.push_back(b.done());
    }
    for (bool add : {true, false}) {
        for (int64_t width : {3, 2000}) {
            Builder b("scatter_" + std::to_string(width) + (add ? "_add" : "_set"));
            int x = b.input("x", DType::float32, {6, width}),
                y = b.output("y", DType::float32, {5, width});
            int at = b.constant("at", indices({6}, {3, -1, 0, 3, 3, 1}));
            b.kernel("zeros", ir::kernel::Map{
                                  {5, width}, {}, {Expr::constant(DType::float32, 0)}, {b.all(y)}});
            b.kernel(
                "put",
                ir::kernel::Scatter{
                    {6}, {width}, b.all(x), {b.all(at)}, {width}, {5}, {0}, b.access(y, {1}), add});
            programs.push_back(b.done());
        }
    }
    {
        Builder b("fold");
        int x = b.input("x", DType::float32, {3, 4, 5, 3, 2}),
            y = b.output("y", DType::float32, {3, 11, 8});
        b.kernel("fold", ir::kernel::Fold{
                             {3}, {11, 8}, {4, 5}, {3, 2}, {2, 1}, {2, 3}, b.all(x), b.all(y)});
        programs.push_back(b.done());
    }
    for (DType dtype : {DType::float32, DType::float64, DType::int16, DType::boolean}) {
        Builder values(text("sort_values_", dtype));
        const int from = values.input("x", dtype, {3, 150, 5});
        const int to = values.output("y", dtype, {3, 5, 150});
        const int other = values.temporary("spare", dtype, {3, 5, 150});
        values.kernel("sort", ir::kernel::Sort{{3, 5, 150},
                                               values.access(from, {750, 1, 5}),
                                               values.all(to),
                                               values.all(other),
                                               true});
        programs.push_back(values.done());
        Builder b(text("sort_", dtype));
        const int x = b.input("x", dtype, {3, 70, 5}), y = b.output("y", DType::int64, {3, 5, 70});
        const int spare = b.temporary("spare", DType::int64, {3, 5, 70});
        b.kernel("sort",
                 ir::kernel::Sort{{3, 5, 70}, b.access(x, {350, 1, 5}), b.all(y), b.all(spare)});
        programs.push_back(b.done());
    }
    for (DType dtype : {DType::float32, DType::float64, DType::int16, DType::boolean})
        for (bool is_right : {false, true}) {
            Builder b(text("search_", dtype, is_right ? "_right" : "_left"));
            const int sorted = b.input("sorted", dtype, {7, 3});
            const int x = b.input("x", dtype, {3, 100});
            const int y = b.output("y", DType::int64, {3, 100});
            b.kernel("search",
                     ir::kernel::Search{
                         {3, 100}, {7}, b.access(sorted, {1, 0, 3}), b.all(x), b.all(y), is_right});
            programs.push_back(b.done());
        }
    {
        Builder b("fold_channels_last");
        int x = b.input("x", DType::float64, {2, 6, 4, 7}),
            y = b.output("y", DType::float64, {2, 9, 7});
        b.kernel("fold", ir::kernel::Fold{{2, 7},
                                          {9},
                                          {6},
                                          {4},
                                          {1},
                                          {1},
                                          b.access(x, {168, 1, 28, 7}),
                                          b.access(y, {63, 1, 7})});
        programs.push_back(b.done());
    }
    return programs;
}

inline std::vector<Program> test_programs() {
    std::vector<Program> programs;
    for (const auto& part : {map_programs(), reduce_programs(), scan_programs(),
                             contract_programs(), indexing_programs()})
        programs.insert(programs.end(), part.begin(), part.end());
    return programs;
}

}  // namespace composit::tests

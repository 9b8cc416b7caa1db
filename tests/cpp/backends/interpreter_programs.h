// Programs at the sizes where the interpreter changes its ways: chunk, block, strip and tile
// borders, and enough work for several threads.
#pragma once

#include "tests/cpp/backends/cpp_test_programs.h"

namespace composit::tests {

inline const std::vector<int64_t>& border_sizes() {
    static const std::vector<int64_t> sizes = {0,    1,    31,   32,   33,   511,
                                               512,  513,  1023, 1024, 1025, 4095,
                                               4096, 4097, 8191, 8192, 8193, 12289};
    return sizes;
}

inline std::vector<Program> border_maps() {
    const Expr x = arg(0), y = arg(1), z = arg(2);
    std::vector<Program> programs;
    for (const int64_t n : border_sizes()) {
        Builder b("map_" + std::to_string(n));
        const int p = b.input("p", DType::float32, {3, n + 1}),
                  q = b.input("q", DType::float32, {3});
        const int r = b.output("r", DType::float32, {3, n}),
                  s = b.output("s", DType::boolean, {3, n});
        b.kernel("mixed", ir::kernel::Map{{3, n},
                                          {b.access(p, {n + 1, 1}, 1), b.access(q, {1, 0}),
                                           b.access(p, {n + 1, -1}, n)},
                                          {x * y + z, x < z},
                                          {b.all(r), b.all(s)}});
        programs.push_back(b.done());
    }
    return programs;
}

// Every order of three loops for the input, against a row-major output.
inline std::vector<Program> permuted_maps() {
    const std::vector<std::vector<int64_t>> orders = {
        {1200, 30, 1},    {1, 40, 1200}, {30, 1, 1200}, {1200, 1, 40}, {1, 1200, 40},
        {-1200, -30, -1}, {0, 0, 0},     {30, 0, 1},    {0, 1, 0}};
    std::vector<Program> programs;
    for (const auto& order : orders) {
        for (const Extents& extents :
             {Extents{40, 40, 30}, Extents{30, 40, 40}, Extents{40, 30, 30}}) {
            Builder b("permuted");
            const int x = b.input("x", DType::int16, {60000}),
                      y = b.output("y", DType::int16, extents);
            const int64_t offset = order[0] < 0 ? 59999 : 0;
            b.kernel(
                "copy",
                ir::kernel::Map{
                    extents, {b.access(x, order, offset)}, {arg(0, DType::int16)}, {b.all(y)}});
            programs.push_back(b.done());
        }
    }
    return programs;
}

inline std::vector<Program> border_reductions() {
    std::vector<Program> programs;
    for (const int64_t n : border_sizes()) {
        const std::string size = std::to_string(n);
        for (const bool is_fused : {false, true}) {
            programs.push_back(reduction("sum_" + size, Combiner::sum, DType::float32, {3, n}, {3},
                                         {n}, {n, 1}, is_fused));
            programs.push_back(reduction("sum_down_" + size, Combiner::sum, DType::float32, {n, 9},
                                         {9}, {n}, {1, 9}, is_fused));
            programs.push_back(reduction("product_" + size, Combiner::product, DType::float64,
                                         {2 * n}, {}, {n}, {2}, is_fused));
            if (n == 0) continue;
            programs.push_back(reduction("maximum_" + size, Combiner::maximum, DType::float64,
                                         {2, n}, {2}, {n}, {n, 1}, is_fused));
            programs.push_back(reduction("minimum_" + size, Combiner::minimum, DType::int8, {n, 5},
                                         {5}, {n}, {1, 5}, is_fused));
            programs.push_back(reduction("argmin_" + size, Combiner::argmin, DType::int32, {2, n},
                                         {2}, {n}, {n, 1}, is_fused));
            programs.push_back(reduction("argmax_" + size, Combiner::argmax, DType::float32, {n, 6},
                                         {6}, {n}, {1, 6}, is_fused));
        }
    }
    // Counts of what is true.
    for (const int64_t n : {0, 3, 64, 255, 300, 16320, 16321, 70000})
        for (const bool is_down : {false, true}) {
            Builder b("count_" + std::to_string(n));
            const int x = b.input("x", DType::boolean, {5 * n}),
                      y = b.output("y", DType::int64, {5});
            const ir::kernel::Access input =
                b.access(x, is_down ? std::vector<int64_t>{1, 5} : std::vector<int64_t>{n, 1});
            const Expr value = Expr::cast(arg(0, DType::boolean), DType::int64);
            b.kernel("count",
                     ir::kernel::Reduce{{5}, {n}, {input}, value, Combiner::sum, b.all(y)});
            programs.push_back(b.done());
        }
    // Loops that do not join, with rows that end inside a lane.
    programs.push_back(reduction("ragged", Combiner::sum, DType::float32, {50, 110}, {}, {50, 101},
                                 {110, 1}, true));
    programs.push_back(reduction("ragged_long", Combiner::sum, DType::float32, {9, 3000}, {},
                                 {9, 2777}, {3000, 1}));
    programs.push_back(reduction("ragged_three", Combiner::sum, DType::float64, {2, 7, 9, 11}, {2},
                                 {7, 8, 10}, {693, 99, 11, 1}));
    programs.push_back(
        reduction("broadcast", Combiner::sum, DType::float32, {3}, {3}, {5000}, {1, 0}));
    return programs;
}

// One row or one number: nothing is packed.
inline std::vector<Program> vector_contractions() {
    const DType f = DType::float32, d = DType::float64;
    std::vector<Program> programs;
    for (const int64_t depth : {0, 1, 5, 100, 256, 257, 600, 769, 1000, 2048, 4096, 4399, 8200})
        for (const int64_t n : {1, 2, 9, 16, 17, 300}) {
            if (depth > 1000 && n > 17) continue;
            const std::string size = std::to_string(depth) + "_by_" + std::to_string(n);
            programs.push_back(product("f" + size, f, 1, depth, n, 2, true));
            programs.push_back(product("d" + size, d, 1, depth, n, 1, true));
            if (n > 9) continue;
            // Factors that lie apart, and squares.
            for (const int64_t step : {1, 2, -1}) {
                Builder b("squares_" + size + "_" + std::to_string(step));
                const int64_t length = 1 + 2 * depth, first = step < 0 ? depth : 0;
                const int x = b.input("x", f, {n, length}), y = b.output("y", f, {n});
                const ir::kernel::Access left = b.access(x, {length, step}, first),
                                         right = b.access(x, {length, 1});
                b.kernel("square",
                         ir::kernel::Contract{{n}, {}, {}, {depth}, left, right, b.all(y)});
                programs.push_back(b.done());
            }
        }
    return programs;
}

// Many products of few rows and columns.
inline std::vector<Program> tiny_contractions() {
    const auto tiny = [](DType dtype, int64_t rows, int64_t depth, int64_t columns,
                         bool is_turned) {
        constexpr int64_t batch = 19;
        Builder b("tiny_" + std::to_string(rows) + "_" + std::to_string(depth) + "_" +
                  std::to_string(columns));
        const int x = b.input("x", dtype, {batch, rows, depth}),
                  w = b.input("w", dtype, {batch, depth, columns}),
                  y = b.output("y", dtype, {batch, rows * columns});
        const std::vector<int64_t> output = {rows * columns, is_turned ? 1 : columns,
                                             is_turned ? rows : 1},
                                   left = {rows * depth, is_turned ? 1 : depth,
                                           is_turned ? rows : 1};
        b.kernel("matmul", ir::kernel::Contract{{batch},
                                                {rows},
                                                {columns},
                                                {depth},
                                                b.access(x, left),
                                                b.all(w),
                                                b.access(y, output)});
        return b.done();
    };
    std::vector<Program> programs;
    for (const int64_t rows : {2, 3, 4, 7, 9, 13})
        for (const int64_t columns : {2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33})
            for (const int64_t depth : {0, 1, 4, 40})
                for (const bool is_turned : {false, true})
                    programs.push_back(tiny(rows % 2 == 0 ? DType::float32 : DType::float64, rows,
                                            depth, columns, is_turned));
    return programs;
}

inline std::vector<Program> border_contractions() {
    const DType f = DType::float32, d = DType::float64;
    std::vector<Program> programs;
    for (const int64_t n : {1, 2, 3, 4, 5, 6, 7, 13, 15, 16, 17, 31, 32, 33, 65}) {
        programs.push_back(product("rows_" + std::to_string(n), f, n, 37, 50));
        programs.push_back(product("columns_" + std::to_string(n), f, 21, 37, n));
        programs.push_back(product("both_" + std::to_string(n), d, n, 19, n, 2, true));
    }
    for (const int64_t n : {40, 41, 47, 48, 49, 50, 73, 80, 81, 82, 113})
        for (const int64_t rows : {17, 21, 24}) {
            const std::string name = std::to_string(rows) + "_by_" + std::to_string(n);
            programs.push_back(product(name, rows % 2 ? f : d, rows, 37, n));
        }
    for (const int64_t depth : {1, 255, 256, 257, 511, 512, 513, 1025})
        programs.push_back(
            product("depth_" + std::to_string(depth), f, 8, depth, 20, 1, depth % 2 == 1));
    programs.push_back(product("row_blocks", f, 300, 40, 35));
    programs.push_back(product("column_blocks", d, 14, 9, 1100));
    programs.push_back(product("many_columns_without_depth", f, 5, 0, 300));
    programs.push_back(product("long_integers", DType::int64, 7, 300, 530));
    programs.push_back(product("short_integers", DType::uint16, 3, 20, 9, 2, true));
    // The left operand runs along the rows.
    for (const int64_t n : {48, 49, 50, 55, 57, 96, 104}) {
        Builder b("transposed_left_" + std::to_string(n));
        const int x = b.input("x", f, {30, n}), w = b.input("w", f, {30, 66}),
                  y = b.output("y", f, {n, 66});
        b.kernel("matmul", ir::kernel::Contract{
                               {}, {n}, {66}, {30}, b.access(x, {1, n}), b.all(w), b.all(y)});
        programs.push_back(b.done());
    }
    // The output runs along the rows.
    Builder b("transposed_output");
    const int x = b.input("x", f, {60, 30}), w = b.input("w", f, {30, 50}),
              y = b.output("y", f, {50, 60});
    b.kernel("matmul",
             ir::kernel::Contract{{}, {60}, {50}, {30}, b.all(x), b.all(w), b.access(y, {1, 60})});
    programs.push_back(b.done());
    return programs;
}

// Enough elements that threads share them.
inline std::vector<Program> large_programs() {
    const DType f = DType::float32;
    std::vector<Program> programs;
    {
        Builder b("large_map");
        const int x = b.input("x", f, {300, 700}), w = b.input("w", f, {700}),
                  y = b.output("y", f, {300, 700});
        b.kernel("scale",
                 ir::kernel::Map{
                     {300, 700}, {b.all(x), b.access(w, {0, 1})}, {arg(0) * arg(1)}, {b.all(y)}});
        programs.push_back(b.done());
    }
    programs.push_back(
        reduction("large_rows", Combiner::sum, f, {40, 5000}, {40}, {5000}, {5000, 1}, true));
    programs.push_back(
        reduction("large_short_rows", Combiner::sum, f, {20000, 9}, {20000}, {9}, {9, 1}));
    programs.push_back(
        reduction("large_columns", Combiner::sum, f, {300, 700}, {700}, {300}, {1, 700}));
    programs.push_back(reduction("large_all", Combiner::sum, f, {250001}, {}, {250001}, {1}));
    programs.push_back(
        scan("large_scan", Combiner::sum, f, {40, 4000}, {4000, 1}, {4000, 1}, true));
    programs.push_back(
        scan("large_scan_down", Combiner::sum, f, {600, 300}, {1, 600}, {1, 600}, false));
    programs.push_back(product("large_product", f, 90, 300, 170));
    programs.push_back(product("large_batch", f, 60, 70, 50, 9));
    return programs;
}

}  // namespace composit::tests

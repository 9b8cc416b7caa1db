// Schedules change the order of work and where operands lie, never bits: rows fused, weights
// packed.
#include "composit/backends/interpreter/interpreter.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"
#include "tests/cpp/backends/cpp_reference.h"
#include "tests/cpp/backends/together.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

using ir::Tensor;
using ir::kernel::Fused;
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

struct Case {
    std::string name;
    std::vector<Shape> shapes;
    Function function;
    size_t fused, packed;  // kernels of the schedule
};

Tensor weights(const Shape& shape, uint64_t seed) {
    return ir::constant(random_array(DType::float32, shape, seed));
}

Tensor softmax(const Tensor& x, int64_t axis) {
    const Tensor e = ops::map("exp", {x - numpy::max(x, {{axis}}, true)});
    return e / numpy::sum(e, {{axis}}, {}, true);
}

Tensor standardised(const Tensor& x) {
    const std::vector<int64_t> last = {-1};
    const Tensor centred = x - numpy::mean(x, last, {}, true);
    const Tensor variance = numpy::mean(centred * centred, last, {}, true);
    return centred / ops::map("sqrt", {variance + 1e-5});
}

std::vector<Case> cases() {
    using V = const std::vector<Tensor>&;
    return {
        {"softmax", {{96, 200}}, [](V x) { return std::vector{softmax(x[0], -1)}; }, 1, 0},
        {"softmax_of_three_axes",
         {{7, 12, 130}},
         [](V x) { return std::vector{softmax(x[0], -1)}; },
         1,
         0},
        {"normalisation", {{2, 64, 96}}, [](V x) { return std::vector{standardised(x[0])}; }, 1, 0},
        {"attention",
         {{2, 3, 40, 16}, {2, 3, 40, 16}, {2, 3, 40, 16}},
         [](V x) {
             const Tensor scores = numpy::matmul(x[0], numpy::swapaxes(x[1], -1, -2));
             return std::vector{numpy::matmul(softmax(scores * 0.25, -1), x[2])};
         },
         1,
         0},
        {"attention_of_more_than_stays_in_the_cache",  // by blocks of rows
         {{128, 4}, {264, 4}, {264, 5}},
         [](V x) {
             const Tensor scores = numpy::matmul(x[0], numpy::swapaxes(x[1], -1, -2));
             return std::vector{numpy::matmul(softmax(scores * 0.25, -1), x[2])};
         },
         1,
         0},
        {"softmax_of_a_product_that_is_not_cut",  // 131 is a prime number
         {{131, 4}, {256, 4}, {256, 5}},
         [](V x) {
             const Tensor scores = numpy::matmul(x[0], numpy::swapaxes(x[1], -1, -2));
             return std::vector{numpy::matmul(softmax(scores * 0.25, -1), x[2])};
         },
         1,
         0},
        {"optimiser",
         {{100, 100}, {100, 100}, {100, 100}},
         [](V x) {
             const Tensor m = x[0] * 0.9 + x[1] * 0.1;
             return std::vector{m, x[2] - m * 0.01};
         },
         0,  // one map
         0},
        {"rows_go_before_columns",
         {{128, 128}},
         [](V x) {
             const Tensor e = ops::map("exp", {x[0] - numpy::max(x[0], {{-1}}, true)});
             const Tensor columns = numpy::sum(e, {{0}});
             return std::vector{columns, e / numpy::sum(e, {{-1}}, {}, true)};
         },
         1,
         0},
        {"layer",
         {{50, 300}},
         [](V x) { return std::vector{numpy::matmul(x[0], weights({300, 70}, 3))}; },
         0,
         1},
        {"transposed_weights",
         {{3, 130}},
         [](V x) {
             return std::vector{numpy::matmul(x[0], numpy::transpose(weights({129, 130}, 4)))};
         },
         0,
         1},
        {"weights_on_the_left",
         {{300, 100}},
         [](V x) { return std::vector{numpy::matmul(weights({31, 300}, 5), x[0])}; },
         0,
         1},
        {"weights_beside_whole_tiles",  // of 4, 6 and 12 rows
         {{70, 33}},
         [](V x) {
             std::vector<Tensor> products;
             for (const int64_t rows : {62, 63, 65, 67, 128, 154})
                 products.push_back(numpy::matmul(weights({rows, 70}, 5), x[0]));
             return products;
         },
         0,
         6},
        {"mean_and_variance_of_columns",
         {{260, 192}},
         [](V x) {
             const Tensor mean = numpy::mean(x[0], {{0}});
             return std::vector{mean, numpy::mean((x[0] - mean) * (x[0] - mean), {{0}})};
         },
         1,
         0},
        {"too_small_to_gain", {{2, 3}}, [](V x) { return std::vector{softmax(x[0], -1)}; }, 0, 0},
        {"handed_on_by_columns",  // sums over rows do not belong to rows
         {{128, 128}},
         [](V x) {
             const Tensor e = ops::map("exp", {x[0]});
             return std::vector{e / numpy::sum(e, {{0}}, {}, true)};
         },
         0,
         0},
    };
}

Program lowered(const Case& c) {
    std::vector<Tensor> inputs;
    for (const Shape& shape : c.shapes) inputs.push_back(ir::input("", DType::float32, shape));
    transforms::LowerOptions options;
    options.inline_scalars = true;
    return transforms::lower(transforms::simplify(transforms::inline_calls(c.function(inputs))),
                             inputs, options)
        .program;
}

template <class Body>
size_t count_of(const Program& program) {
    size_t count = 0;
    for (const auto& kernel : program.kernels) count += std::holds_alternative<Body>(kernel.body);
    return count;
}

TEST(Schedules, ReturnTheBitsOfTheProgram) {
    std::vector<Expected> to_be_compiled;
    for (const Case& c : cases()) {
        SCOPED_TRACE(c.name);
        Program plain = lowered(c);
        plain.name = c.name;
        const std::vector<Array> inputs = random_inputs(plain);
        const std::vector<Array> expected = Reference(plain, inputs).run();
        for (const int64_t bytes : {1 << 10, 16 << 10}) {
            Program scheduled = transforms::pack_constants(
                transforms::fuse_rows(transforms::merge_maps(plain, {}), {.part_bytes = bytes}),
                {});
            scheduled = transforms::plan_buffers(std::move(scheduled), true);
            EXPECT_EQ(count_of<Fused>(scheduled), c.fused) << ir::kernel::print(scheduled);
            EXPECT_EQ(count_of<ir::kernel::Pack>(scheduled), c.packed);
            const auto expect = [&](const std::string& way, const std::vector<Array>& results) {
                for (size_t k = 0; k < results.size(); ++k)
                    EXPECT_EQ(differing(results[k], expected[k]), 0) << way << ", output " << k;
            };
            expect("reference", Reference(scheduled, inputs).run());
            for (const auto* set : interpreter::usable_kernel_sets()) {
                const auto interpreted =
                    interpreter::InterpreterBackend(*set).compile(scheduled, {});
                for (int threads : {1, 2, 4})
                    expect(set->name, run(*interpreted, scheduled, inputs, threads));
            }
            if (bytes == 16 << 10) to_be_compiled.push_back({scheduled, inputs, expected});
        }
    }
    expect_compiled_bits(to_be_compiled, "schedules");
}

// Rows that are cut into parts of a few elements are slow to read.
TEST(Schedules, PartsOfColumnsAreWide) {
    const auto pieces = [](const Shape& shape, int64_t axis) {
        const auto statistics = [&](const std::vector<Tensor>& x) {
            const Tensor mean = numpy::mean(x[0], {{axis}}, {}, true);
            return std::vector{mean, numpy::mean((x[0] - mean) * (x[0] - mean), {{axis}})};
        };
        const Program plain = lowered({"", {shape}, statistics, 1, 0});
        const Program fused =
            transforms::fuse_rows(transforms::merge_maps(plain, {}), {.part_bytes = 64 << 10});
        int64_t count = 0;
        for (const auto& kernel : fused.kernels)
            if (const auto* body = std::get_if<Fused>(&kernel.body))
                count = ir::element_count(body->pieces);
        return count;
    };
    EXPECT_EQ(pieces({1024, 512}, 0), 4);    // 512 bytes of each row
    EXPECT_EQ(pieces({3000, 512}, 0), 8);    // 256 bytes: more would not stay in the cache
    EXPECT_EQ(pieces({256, 256}, 0), 4);     // 256 bytes: with more too few parts
    EXPECT_EQ(pieces({256, 4096}, 0), 16);   // 1024 bytes
    EXPECT_EQ(pieces({256, 131}, 0), 1);     // a prime number of columns
    EXPECT_EQ(pieces({1024, 24}, 0), 1);     // all there are
    EXPECT_EQ(pieces({64, 40, 64}, 1), 64);  // a part for each of the first axis
    EXPECT_EQ(pieces({4096, 768}, 0), 0);    // nothing wide stays in the cache
    EXPECT_EQ(pieces({1024, 10007}, 0), 0);
    EXPECT_EQ(pieces({512, 1024}, 1), 64);  // rows
}

TEST(Schedules, WithoutPacksIsTheProgramBefore) {
    for (const Case& c : cases()) {
        const Program plain = lowered(c);
        const Program unpacked = transforms::without_packs(transforms::pack_constants(plain, {}));
        ASSERT_EQ(unpacked.kernels.size(), plain.kernels.size());
        for (size_t k = 0; k < plain.kernels.size(); ++k)
            EXPECT_EQ(ir::kernel::print(unpacked.kernels[k], unpacked),
                      ir::kernel::print(plain.kernels[k], plain));
    }
}

}  // namespace
}  // namespace composit::tests

// What follows a product in its own kernel leaves the bits of two kernels, one after the other.
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
using ir::kernel::Contract;
using V = const std::vector<Tensor>&;
using Function = std::function<std::vector<Tensor>(V)>;

struct Case {
    std::string name;
    std::vector<Shape> shapes;
    Function function;
    size_t finished;  // products with a finish
    DType dtype = DType::float32;
};

Tensor weights(const Shape& shape, uint64_t seed, DType dtype = DType::float32) {
    return ir::constant(random_array(dtype, shape, seed));
}

Tensor relu(const Tensor& x) { return ops::map("maximum", {x, x * 0.0}); }
Tensor map(const char* name, const Tensor& x) { return ops::map(name, {x}); }

std::vector<Case> cases() {
    const DType d = DType::float64, i = DType::int32;
    return {
        {"bias_and_activation",  // two blocks of depth; columns beside whole tiles
         {{14, 300}},
         [](V x) {
             const Tensor y = numpy::matmul(x[0], weights({300, 85}, 3)) + weights({85}, 4);
             return std::vector{map("gelu", y)};
         },
         1},
        {"residual",
         {{27, 40}, {40, 75}, {27, 75}},
         [](V x) { return std::vector{relu(numpy::matmul(x[0], x[1]) + x[2])}; },
         1},
        {"of_doubles",
         {{7, 530}, {530, 50}, {7, 1}},
         [](V x) { return std::vector{map("tanh", numpy::matmul(x[0], x[1]) / x[2])}; },
         1,
         d},
        {"of_integers",
         {{27, 40}, {40, 75}, {27, 75}},
         [](V x) {
             const Tensor y = numpy::matmul(x[0], x[1]);
             return std::vector{y * y + x[2] * y};
         },
         1,
         i},
        {"two_results",
         {{14, 100}, {100, 96}},
         [](V x) {
             const Tensor y = numpy::matmul(x[0], x[1]);
             return std::vector{map("exp", y), ops::astype(y * y, DType::int32)};
         },
         1},
        {"heads",  // of 64 columns, which stay side by side
         {{3, 5, 40}},
         [](V x) {
             const Tensor y = numpy::matmul(x[0], weights({40, 256}, 3)) + weights({256}, 4);
             return std::vector{numpy::transpose(numpy::reshape(y, {3, 5, 4, 64}), {{0, 2, 1, 3}}) *
                                0.125};
         },
         1},
        {"keys",  // of which the columns are turned round
         {{3, 5, 40}},
         [](V x) {
             const Tensor y = numpy::matmul(x[0], weights({40, 256}, 3));
             return std::vector{numpy::transpose(numpy::reshape(y, {3, 5, 4, 64}), {{0, 2, 3, 1}}) *
                                0.125};
         },
         0},
        {"heads_of_few_columns",
         {{3, 5, 40}},
         [](V x) {
             const Tensor y = numpy::matmul(x[0], weights({40, 240}, 3));
             return std::vector{numpy::transpose(numpy::reshape(y, {3, 5, 8, 30}), {{0, 2, 1, 3}}) *
                                0.125};
         },
         0},
        {"one_row",
         {{1, 300}},
         [](V x) { return std::vector{relu(numpy::matmul(x[0], weights({300, 260}, 3)))}; },
         1},
        {"images",  // whose pixels end inside tiles
         {{3, 40, 7, 7}, {3, 34, 49}},
         [](V x) {
             const Tensor y =
                 numpy::matmul(weights({34, 40}, 5), numpy::reshape(x[0], {3, 40, 49}));
             return std::vector{relu(y / weights({34, 1}, 6) + x[1])};
         },
         1},
        {"windows_of_channels",  // of which the last ones of a row are computed with those before
         {{1, 6, 16, 16}, {6, 1, 3, 3}},
         [](V x) {
             const Tensor y =
                 ops::convolve(x[0], x[1], {{1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, 6});
             return std::vector{relu(y / weights({6, 1, 1}, 6))};
         },
         1},
        {"batches",
         {{3, 24, 60}, {3, 60, 50}, {3, 1, 50}},
         [](V x) { return std::vector{relu(numpy::matmul(x[0], x[1]) - x[2])}; },
         1},
        {"of_what_is_multiplied",
         {{48, 48}},
         [](V x) { return std::vector{relu(numpy::matmul(x[0], x[0]) + x[0])}; },
         1},
        {"turned_round",
         {{40, 40}, {40, 50}},
         [](V x) { return std::vector{numpy::transpose(relu(numpy::matmul(x[0], x[1])))}; },
         0},
        {"with_its_transpose",
         {{48, 48}},
         [](V x) {
             const Tensor y = numpy::matmul(x[0], x[0]);
             return std::vector{y + numpy::transpose(y)};
         },
         0},
        {"read_twice",
         {{48, 48}},
         [](V x) {
             const Tensor y = numpy::matmul(x[0], x[0]);
             return std::vector{relu(y), numpy::sum(y, {{0}})};
         },
         0},
        {"a_result_itself",
         {{48, 48}},
         [](V x) {
             const Tensor y = numpy::matmul(x[0], x[0]);
             return std::vector{y, relu(y)};
         },
         0},
        {"repeated",
         {{48, 48}, {4, 48, 48}},
         [](V x) { return std::vector{numpy::matmul(x[0], x[0]) + x[1]}; },
         0},
        {"of_another_dtype_alone",
         {{48, 48}},
         [](V x) { return std::vector{ops::astype(numpy::matmul(x[0], x[0]), DType::int32)}; },
         0},
        {"small",
         {{16, 16}, {16, 40}},
         [](V x) { return std::vector{relu(numpy::matmul(x[0], x[1]))}; },
         0},
        {"of_few_columns",
         {{100, 100}, {100, 10}},
         [](V x) { return std::vector{relu(numpy::matmul(x[0], x[1]))}; },
         0},
        {"one_after_the_other",
         {{24, 60}},
         [](V x) {
             const Tensor y = relu(numpy::matmul(x[0], weights({60, 64}, 3)) + weights({64}, 4));
             return std::vector{map("tanh", numpy::matmul(y, weights({64, 60}, 5)) + x[0])};
         },
         2},
    };
}

Program lowered(const Case& c) {
    std::vector<Tensor> inputs;
    for (const Shape& shape : c.shapes) inputs.push_back(ir::input("", c.dtype, shape));
    transforms::LowerOptions options;
    options.inline_scalars = true;
    Program program =
        transforms::lower(transforms::simplify(transforms::inline_calls(c.function(inputs))),
                          inputs, options)
            .program;
    program.name = c.name;
    return program;
}

size_t finished_products(const Program& program) {
    size_t count = 0;
    for (const auto& kernel : program.kernels)
        if (const auto* c = std::get_if<Contract>(&kernel.body))
            count += c->finish.values.empty() ? 0 : 1;
    return count;
}

Program finished(const Program& program) {
    return transforms::finish_products(transforms::merge_maps(program, {}), {});
}

TEST(Finish, LeavesTheBitsOfTwoKernels) {
    std::vector<Expected> to_be_compiled;
    for (const Case& c : cases()) {
        SCOPED_TRACE(c.name);
        const Program plain = lowered(c);
        const std::vector<Array> inputs = random_inputs(plain);
        const std::vector<Array> expected = Reference(plain, inputs).run();
        Program made = finished(plain);
        EXPECT_EQ(finished_products(made), c.finished) << ir::kernel::print(made);
        made = transforms::plan_buffers(transforms::pack_constants(std::move(made), {}), true);
        const auto expect = [&](const std::string& way, const std::vector<Array>& results) {
            for (size_t k = 0; k < results.size(); ++k)
                EXPECT_EQ(differing(results[k], expected[k]), 0) << way << ", output " << k;
        };
        expect("reference", Reference(made, inputs).run());
        for (const auto* set : interpreter::usable_kernel_sets()) {
            const auto interpreted = interpreter::InterpreterBackend(*set).compile(made, {});
            for (int threads : {1, 3}) expect(set->name, run(*interpreted, made, inputs, threads));
        }
        to_be_compiled.push_back({made, inputs, expected});
    }
    expect_compiled_bits(to_be_compiled, "finished");
}

TEST(Finish, TakesTheBufferBetweenAway) {
    for (const Case& c : cases()) {
        if (c.finished == 0) continue;
        const Program plain = transforms::merge_maps(lowered(c), {}), made = finished(plain);
        EXPECT_EQ(made.buffers.size() + c.finished, plain.buffers.size()) << c.name;
        EXPECT_EQ(made.kernels.size() + c.finished, plain.kernels.size()) << c.name;
        double flops[2] = {};
        for (const auto& kernel : plain.kernels) flops[0] += ir::kernel::flops(kernel);
        for (const auto& kernel : made.kernels) flops[1] += ir::kernel::flops(kernel);
        EXPECT_EQ(flops[0], flops[1]) << c.name;
    }
}

TEST(Finish, IsNotForWhatStaysNear) {
    const Program plain = lowered(cases()[0]);  // 14 x 85 sums of depth 300
    EXPECT_EQ(finished_products(transforms::finish_products(plain, {.near_bytes = 14 * 85 * 4})),
              1U);
    EXPECT_EQ(
        finished_products(transforms::finish_products(plain, {.near_bytes = 14 * 85 * 4 + 1})), 0U);
    const Program shallow = lowered(cases()[1]);
    EXPECT_EQ(finished_products(transforms::finish_products(shallow, {.near_bytes = 1 << 20})), 1U);
}

TEST(Finish, IsPrintedBelowTheSum) {
    const Program program = finished(lowered(cases()[1]));
    ASSERT_EQ(program.kernels.size(), 1U);
    EXPECT_EQ(ir::kernel::print(program.kernels[0], program),
              "kernel contract_multiply_maximum: Contract  # contract; add; maximum\n"
              "  for m < 27, n < 75:\n"
              "    sum = sum for k < 40 of x0[40 m + k] * x1[75 k + n]\n"
              "    maximum[75 m + n] =\n"
              "      let t0: float32 = add(sum, x2[75 m + n])\n"
              "      maximum(t0, multiply(t0, float32(float64(0.0))))\n");
}

}  // namespace
}  // namespace composit::tests

// Functions that are registered at run time, as nodes: evaluated, compiled, with complex operands,
// and what they are refused.
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/ir/node.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "composit/runtime/foreign.h"

#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <string>

namespace composit {
namespace {

using numpy::Tensor;

// Row sums of a matrix, options[0] times.
void sum_rows(const runtime::ForeignCall& call) {
    const runtime::ForeignArray& x = call.inputs[0];
    const auto* from = static_cast<const double*>(x.data);
    auto* to = static_cast<double*>(call.outputs[0].data);
    for (int64_t i = 0; i < x.shape[0]; ++i) {
        to[i] = 0;
        for (int64_t j = 0; j < x.shape[1]; ++j)
            to[i] +=
                static_cast<double>(call.options[0]) * from[i * x.strides[0] + j * x.strides[1]];
    }
}

// Conjugates, by parts.
void conjugate(const runtime::ForeignCall& call) {
    const runtime::ForeignArray &x = call.inputs[0], &y = call.outputs[0];
    for (int64_t i = 0; i < x.shape[0]; ++i) {
        static_cast<double*>(y.data)[i] = static_cast<const double*>(x.data)[i * x.strides[0]];
        static_cast<double*>(y.imaginary)[i] =
            -static_cast<const double*>(x.imaginary)[i * x.imaginary_strides[0]];
    }
}

Tensor row_sums(const Tensor& x, int64_t times) {
    return ops::foreign_call("row_sums", "test.sum_rows", {times}, {x},
                             {{{x.shape()[0]}, ir::DType::float64}})[0];
}

class ForeignCall : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        runtime::register_foreign_function("test.sum_rows", sum_rows);
        runtime::register_foreign_function("test.conjugate", conjugate);
    }
};

std::vector<double> doubles(const ir::Array& array) {
    return {array.data_as<double>(), array.data_as<double>() + array.size()};
}

TEST_F(ForeignCall, RunsInTheInterpreterAndInCompiledPrograms) {
    const Tensor values = numpy::array<double>({0, 1, 2, 3, 4, 5}, {2, 3});
    const auto function = [](const Tensor& x) {
        return row_sums(ops::transpose(x, {1, 0}) + 2.0, 2) * 10.0;
    };
    const std::vector<double> expected = {20. * (0 + 3 + 4), 20. * (1 + 4 + 4), 20. * (2 + 5 + 4)};
    EXPECT_EQ(doubles(execute::evaluate({function(values)})[0]), expected);
    const Tensor x = ir::input("x", ir::DType::float64, {2, 3});
    const execute::Compiled compiled("f", {x}, {function(x)}, {});
    EXPECT_EQ(doubles(compiled(execute::evaluate({values}))[0]), expected);
}

TEST_F(ForeignCall, ComplexOperandsComeByParts) {
    const std::vector<std::complex<double>> numbers = {{1, 2}, {-3, 4}, {0, -5}};
    const Tensor x = numpy::array<std::complex<double>>(numbers, {3});
    const Tensor y = ops::foreign_call("conjugate", "test.conjugate", {}, {x * 2.0},
                                       {{{3}, ir::DType::complex128}})[0];
    const ir::Array found = execute::evaluate({y})[0];
    for (size_t i = 0; i < 3; ++i)
        EXPECT_EQ(found.data_as<std::complex<double>>()[i], std::conj(2.0 * numbers[i]));
}

template <class E>
std::string message(const std::function<void()>& call) {
    try {
        call();
    } catch (const E& error) {
        return error.what();
    }
    return "no error";
}

TEST_F(ForeignCall, RefusesWhatNoFunctionIsCalledWith) {
    const Tensor half = ops::astype(numpy::array<double>({1, 2}, {2}), ir::DType::float16);
    EXPECT_EQ(message<TypeError>([&] {
                  ops::foreign_call("f", "test.sum_rows", {1}, {half}, {{{2}, ir::DType::float64}});
              }),
              "f: an operand or result has dtype float16. float32, float64, complex128, an integer "
              "or bool is required.");
    const Tensor unknown = ops::foreign_call("f", "test.unknown", {}, {numpy::array<double>({1})},
                                             {{{1}, ir::DType::float64}})[0];
    EXPECT_EQ(message<NotSupported>([&] { execute::evaluate({unknown}); }),
              "interpreter: f_2 (f) cannot run: run: the foreign function test.unknown is not "
              "registered. register_foreign_function is required.");
}

}  // namespace
}  // namespace composit

// Dtypes in C++: numbers as parameters and literals take the dtype of the operands beside them, in
// the call, in its graph and in programs.
#include "composit/cg/derived.h"
#include "composit/composit.h"
#include "models.h"

#include <gtest/gtest.h>

namespace composit::cg {
namespace {

using ir::DType;

Tensor of(DType dtype) { return numpy::astype(vector({1, 2}), dtype); }

// Of a call's value; those of its graph and of programs are the same.
DType dtype_of(const Module& m, const Tensor& x) {
    const ModuleGraph result = m(x);
    const Array value = result.value();
    EXPECT_EQ(result.tensor().dtype(), value.dtype());
    for (const execute::Compiled& program : {result.compile(), m.compiled({x})})
        EXPECT_EQ(program({evaluate(x)})[0].dtype(), value.dtype());
    return value.dtype();
}

TEST(CgPromotion, ParametersThatAreNumbers) {
    const SimpleModel number(1);
    EXPECT_EQ(dtype_of(number, of(DType::float32)), DType::float32);
    EXPECT_EQ(dtype_of(number, of(DType::float16)), DType::float16);
    EXPECT_EQ(dtype_of(number, of(DType::float64)), DType::float64);
    EXPECT_EQ(dtype_of(number, of(DType::int64)), DType::float64);
    ModuleGraph result = number(of(DType::float32));
    result.back();
    EXPECT_EQ(numbers(numpy::astype(result.grad(number.param("w")), DType::float64)),
              (std::vector<double>{1, 4}));
    EXPECT_EQ(dtype_of(gradfn(number, number.param("w")), of(DType::float32)), DType::float32);
    number.param("w")->assign(ir::constant(Array::scalar(DType::float64, 1)));
    EXPECT_FALSE(number.param("w")->is_number());
    EXPECT_EQ(dtype_of(number, of(DType::float32)), DType::float64);
    number.param("w")->assign(2.0);
    EXPECT_EQ(dtype_of(number, of(DType::float32)), DType::float32);
}

TEST(CgPromotion, IntegersThatDoNotFit) {
    const BuiltModule m = Module::build("m",
                                        [](const Module& self, const Nodes& x) -> Nodes {
                                            return {op::add(x[0], self.param("w"))};
                                        },
                                        {variable("x")}, {parameter("w", 300)});
    EXPECT_EQ(m(of(DType::int16)).value().dtype(), DType::int16);
    EXPECT_NE(refusal<OverflowError>([&] { (void)m(of(DType::int8)); }), "nothing was refused");
}

TEST(CgPromotion, Literals) {
    const BuiltModule inner = Module::build(
        "inner", [](const Module&, const Nodes& x) -> Nodes { return {op::add(x[0], 2.0)}; },
        {variable("x")});
    const BuiltModule outer = Module::build("outer",
                                            [inner](const Module&, const Nodes& x) -> Nodes {
                                                return {op::multiply(inner({x[0]})[0], 3)};
                                            },
                                            {variable("x")});
    EXPECT_EQ(dtype_of(inner, of(DType::float32)), DType::float32);
    EXPECT_EQ(dtype_of(outer, of(DType::float32)), DType::float32);
    EXPECT_EQ(dtype_of(outer, of(DType::int64)), DType::float64);
    ModuleGraph result = outer(of(DType::float32));
    result.back();
    EXPECT_EQ(numbers(numpy::astype(result.grad(outer.input("x")), DType::float64)),
              (std::vector<double>{3, 0, 0, 3}));
}

TEST(CgPromotion, OperatorsOfOnesOwn) {
    const Multiply multiply;
    const BuiltModule of_literal = Module::build(
        "f", [multiply](const Module&, const Nodes& x) -> Nodes { return {multiply({x[0], 3.0})}; },
        {variable("x")});
    const BuiltModule of_parameter =
        Module::build("f",
                      [multiply](const Module& self, const Nodes& x) -> Nodes {
                          return {multiply({x[0], self.param("w")})};
                      },
                      {variable("x")}, {parameter("w", 3.0)});
    for (const BuiltModule* m : {&of_literal, &of_parameter}) {
        EXPECT_EQ(dtype_of(*m, of(DType::float32)), DType::float32);
        ModuleGraph result = (*m)(of(DType::float32));
        result.back();
        const Tensor slope = numpy::astype(result.root().children()[1].gradient(), DType::float64);
        EXPECT_EQ(numbers(slope), (std::vector<double>{1, 2}));
    }
}

TEST(CgPromotion, TrainedNumbersStayNumbers) {
    const SimpleModel m(1);
    const auto loss = [](const Tensor& y, const Tensor& to) {
        return numpy::mean(numpy::square(y - to));
    };
    Training training(m, loss, nn::sgd({.learning_rate = 1e-3}));
    training.step({of(DType::float32)}, {of(DType::float32)});
    EXPECT_NE(number(m.param("w")->value()), 1);
    EXPECT_EQ(dtype_of(m, of(DType::float32)), DType::float32);
}

}  // namespace
}  // namespace composit::cg

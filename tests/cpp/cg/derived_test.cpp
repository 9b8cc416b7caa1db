// Modules beyond the page's: built without a class, their parameters, programs, exported C++,
// modules of derivatives and of logarithms, and derivatives by what is not used.
#include "composit/cg/derived.h"

#include "composit/exporters/cpp_project/export.h"
#include "composit/ops/ops.h"
#include "models.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace composit::cg {
namespace {

using ir::DType;
using ir::Shape;

Array array(double value) { return Array::scalar(DType::float64, value); }

TEST(CgBuild, AModuleWithoutAClass) {
    const Multiply multiply;
    const BuiltModule cube = Module::build("cube",
                                           [multiply](const Module&, const Nodes& x) -> Nodes {
                                               return {multiply({x[0], multiply({x[0], x[0]})})};
                                           },
                                           {variable("x")});
    ModuleGraph result = cube(3.0);
    result.back();
    EXPECT_EQ(*result.value().data_as<double>(), 27);
    EXPECT_EQ(number(result.grad(cube.input("x"))), 27);
    const BuiltModule scaled = Module::build("scaled",
                                             [](const Module& self, const Nodes& x) -> Nodes {
                                                 return {op::multiply(x[0], self.param("scale"))};
                                             },
                                             {variable("x")}, {parameter("scale", 2.0)});
    EXPECT_EQ(*scaled(3.0).value().data_as<double>(), 6);
    EXPECT_EQ(scaled.parameters(), scaled.params());
    EXPECT_EQ(refusal<TypeError>([] { (void)Module::build("none", {}, {variable("x")}); }),
              "none: call is empty. A function of the module and its nodes is required.");
}

TEST(CgParameters, OfAModuleAndOfThoseInIt) {
    const SimpleModel m1(1), m2(2);
    EXPECT_EQ(Composite(m1, m2).parameters(),
              (std::vector<InputRef>{m1.param("w"), m2.param("w")}));
    EXPECT_EQ(Composite(m1, m1).parameters(), std::vector<InputRef>{m1.param("w")});
    const BuiltModule constants =
        Module::build("f",
                      [](const Module& self, const Nodes& x) -> Nodes {
                          return {op::add(x[0], self.param("c"))};
                      },
                      {variable("x")}, {constant("c", 1.0), parameter("w", 1.0)});
    EXPECT_EQ(constants.parameters(), std::vector<InputRef>{constants.param("w")});
}

TEST(CgCompile, AModuleIsAProgramOfItsInputs) {
    const SimpleModel m1(1), m2(2);
    const Composite composite(m1, m2);
    const execute::Compiled program = composite.compile({.backend = "cpp"}, vector({1, 2}), 0.0);
    EXPECT_EQ(program.name(), "Composite");
    ASSERT_EQ(program.inputs().size(), 2u);
    EXPECT_EQ(program.inputs()[1].name(), "x2");
    const Array x = evaluate(vector({3, 4}));
    EXPECT_EQ(numbers(program({x, array(1)})[0]), (std::vector<double>{36 + 3, 80 + 3}));
    EXPECT_EQ(
        refusal<ValueError>([&] { (void)composite.compiled({vector({1})}); }),
        "Composite: 1 of 2 inputs are given; without: 'x2'. When a function is called, all its "
        "inputs must be instantiated.");
}

TEST(CgCompile, AResultIsAProgramOfWhatItComputed) {
    const SimpleModel m;
    const ModuleGraph result = m(3.0);
    m.param("w")->assign(100.0);
    const execute::Compiled program = result.compile();
    EXPECT_EQ(numbers(program({array(3)})[0]), std::vector<double>{36});
    EXPECT_EQ(numbers(program({array(2)})[0]), std::vector<double>{12});
    const BuiltModule branch =
        Module::build("branch",
                      [](const Module&, const Nodes& x) -> Nodes {
                          return {*x[0].value().data_as<double>() > 0 ? op::square(x[0]) : x[1]};
                      },
                      {variable("x"), variable("y")});
    EXPECT_EQ(numbers(branch(3.0, 4.0).compile()({array(5), array(1)})[0]),
              std::vector<double>{25});
    EXPECT_EQ(numbers(branch(-3.0, 4.0).compile()({array(5), array(1)})[0]),
              std::vector<double>{1});
}

TEST(CgCompile, ProgramsAreExported) {
    const auto folder = std::filesystem::temp_directory_path() / "composit_cg_export";
    std::filesystem::remove_all(folder);
    const SimpleModel m;
    const execute::Compiled module = m.compile({}, 3.0), result = m(vector({1, 2})).compile();
    cpp_project::export_cpp_project({module.program()}, folder.string(), {"simple", R"(
#include "simple.hpp"
int main() {
    const double x = 3;
    double y = 0;
    simple::SimpleModel(&x, &y);
    return y == 36 ? 0 : 1;
})"});
    EXPECT_EQ(std::system(("cd " + folder.string() +
                           " && c++ -std=c++17 simple.cpp main.cpp -o run -pthread && ./run")
                              .c_str()),
              0);
    cpp_project::export_cpp_project({result.program()}, folder.string(), {"simple", ""});
    std::ifstream header(folder / "simple.hpp");
    const std::string text((std::istreambuf_iterator<char>(header)), {});
    EXPECT_NE(text.find("const double* x /* [2] */"), std::string::npos) << text;
    std::filesystem::remove_all(folder);
}

TEST(CgGrad, OfWhatTheCallDidNotUseIsZero) {
    const BuiltModule first = Module::build(
        "first", [](const Module&, const Nodes& x) -> Nodes { return {op::square(x[0])}; },
        {variable("x"), variable("y")}, {parameter("w", vector({1, 2}))});
    ModuleGraph result = first(vector({3}), vector({1, 2}));
    EXPECT_EQ(refusal<ValueError>([&] { (void)result.grad(first.input("y")); }),
              "grad: the call of first has no derivative with respect to 'y' yet. back() is "
              "required before.");
    result.back();
    EXPECT_EQ(number(result.grad(first.input("x"))), 6);
    for (const InputRef& unused : {first.input("y"), first.param("w")}) {
        EXPECT_EQ(result.grad(unused).shape(), (Shape{1, 2}));
        EXPECT_EQ(numbers(result.grad(unused)), (std::vector<double>{0, 0}));
    }
    ModuleGraph of_integer = first(vector({3}), 1);
    of_integer.back();
    EXPECT_EQ(refusal<TypeError>([&] { (void)of_integer.grad(first.input("y")); }),
              "grad: first has no derivative with respect to 'y', which is int64. A floating or "
              "complex dtype is required.");
}

TEST(CgGradfn, IsAModuleOfTheSameInputs) {
    const SimpleModel m;
    const InputRef x = m.input("x"), w = m.param("w");
    const BuiltModule slope = gradfn(m, x);  // 3 x^2 + 2 w x
    EXPECT_EQ(slope.name(), "DSimpleModel#x");
    EXPECT_EQ(*slope(3.0).value().data_as<double>(), 33);
    EXPECT_EQ(slope.parameters(), std::vector<InputRef>{w});
    const BuiltModule second = gradfn(slope, x);  // 6 x + 2 w
    ModuleGraph result = second(3.0);
    result.back();
    EXPECT_EQ(*result.value().data_as<double>(), 20);
    EXPECT_EQ(number(result.grad(x)), 6);
    EXPECT_EQ(number(result.grad(w)), 2);
    EXPECT_EQ(*gradfn(gradfn(m, x), w)(3.0).value().data_as<double>(), 6);
    EXPECT_EQ(*gradfn(gradfn(m, w), x)(3.0).value().data_as<double>(), 6);
    const Array jacobian = slope(vector({3, 4})).value();
    EXPECT_EQ(jacobian.shape(), (Shape{2, 2}));
    EXPECT_EQ(numbers(jacobian), (std::vector<double>{33, 0, 0, 56}));
    m.param("w")->assign(2.0);  // which copies share
    EXPECT_EQ(*slope(3.0).value().data_as<double>(), 39);
    EXPECT_EQ(numbers(slope.compile({.backend = "cpp"}, 3.0)({array(3)})[0]),
              std::vector<double>{39});
}

TEST(CgGradfn, OfOperatorsAndOfModulesInModules) {
    const Multiply multiply;
    EXPECT_EQ(*gradfn(multiply, multiply.input("a"))(3.0, 4.0).value().data_as<double>(), 4);
    const SimpleModel m1(1), m2(2);
    const auto composite = std::make_shared<const Composite>(m1, m2);
    EXPECT_EQ(*gradfn(composite, m2.param("w"))(3.0, 4.0).value().data_as<double>(), 16);
}

// A module that calls `inner`, without telling of it in submodules().
BuiltModule hiding(const BuiltModule& inner) {
    return Module::build("hiding",
                         [inner](const Module& self, const Nodes& x) -> Nodes {
                             return {op::multiply(inner({x[0]})[0], self.param("v"))};
                         },
                         {variable("x")}, {parameter("v", 2.0)});
}

TEST(CgGradfn, OfParametersThatAreHiddenFromParameters) {
    const BuiltModule inner = Module::build("inner",
                                            [](const Module& self, const Nodes& x) -> Nodes {
                                                const Node& w = self.param("w");
                                                return {op::multiply(x[0], op::square(w))};
                                            },
                                            {variable("x")}, {parameter("w", 3.0)});
    const BuiltModule outer = hiding(inner);  // v w^2 x
    EXPECT_EQ(outer.parameters(), std::vector<InputRef>{outer.param("v")});
    const InputRef x = outer.input("x"), v = outer.param("v"), w = inner.param("w");
    ModuleGraph slope = gradfn(outer, x)(5.0);  // v w^2
    slope.back();
    EXPECT_EQ(number(slope.grad(v)), 9);
    EXPECT_EQ(number(slope.grad(w)), 12);
    ModuleGraph second = gradfn(gradfn(outer, x), v)(5.0);  // w^2
    second.back();
    EXPECT_EQ(*second.value().data_as<double>(), 9);
    EXPECT_EQ(number(second.grad(w)), 6);
    ModuleGraph in_logs = logspace(outer)(5.0);
    in_logs.back();
    EXPECT_NEAR(number(in_logs.grad(w)), 2.0 / 3, 1e-15);
    EXPECT_EQ(
        refusal<ValueError>([&] { (void)outer.apply({{v, vector({1})}}, {vector({1})}, true); }),
        "'w' is used, and no value is given for it. Values for all parameters are required.");
}

TEST(CgGradfn, Refusals) {
    const SimpleModel m, other;
    EXPECT_EQ(refusal<ValueError>([&] { (void)gradfn(m, other.input("x")); }),
              "SimpleModel: the derivative with respect to 'x'. An input or a parameter of its own "
              "is required.");
    EXPECT_EQ(refusal<ValueError>([&] { (void)gradfn(m, nullptr); }),
              "SimpleModel: the input of the derivative is empty. An input or a parameter is "
              "required.");
    EXPECT_EQ(refusal<TypeError>([&] { (void)gradfn(m, m.input("x"))(3); }),
              "SimpleModel has no derivative with respect to 'x': the input 'x' is int64. A "
              "floating or complex dtype is required. In the call DSimpleModel#x#1(x: int64[]).");
    class Derived : public SimpleModel {};
    const Derived derived;
    const SimpleModel& base = derived;
    EXPECT_EQ(refusal<TypeError>([&] { (void)gradfn(base, m.input("x")); }),
              "SimpleModel: the module is given as one of its base classes. Its own class, or a "
              "shared_ptr, is required.");
}

TEST(CgOperator, OfADerivativeThatUsesTheOperator) {
    class Sigmoid : public Operator {
      public:
        Sigmoid() : Operator("Sigmoid", {variable("x")}) {}

      protected:
        Tensor op_impl(const Tensors& x) const override { return ops::map("sigmoid", {x[0]}); }
        Tensor gradient(size_t, const Tensors& x) const override {
            const Tensor s = apply({x[0]});
            return ops::map("subtract", {s, ops::map("square", {s})});
        }
    };
    const BuiltModule m = Module::build(
        "m", [](const Module&, const Nodes& x) -> Nodes { return {Sigmoid()({x[0]})}; },
        {variable("x")});
    const double s = 1 / (1 + std::exp(-0.5)), slope = s * (1 - s);
    ModuleGraph result = m(0.5);
    result.back();
    EXPECT_NEAR(*result.value().data_as<double>(), s, 1e-15);
    EXPECT_NEAR(number(result.grad(m.input("x"))), slope, 1e-15);
    const BuiltModule first = gradfn(m, m.input("x")), second = gradfn(first, m.input("x"));
    EXPECT_NEAR(*second(0.5).value().data_as<double>(), slope * (1 - 2 * s), 1e-15);
    EXPECT_EQ(refusal<NotSupported>([&] { (void)gradfn(second, m.input("x"))(0.5); }).substr(0, 76),
              "Sigmoid: a derivative of order 3, whose gradient uses the operator itself. D");
}

TEST(CgLogspace, IsAModuleOfTheSameInputs) {
    const BuiltModule likelihood =
        Module::build("likelihood",
                      [](const Module&, const Nodes& p) -> Nodes {
                          const auto product = [](const Tensors& x) {
                              return ops::reduce(ops::Combiner::product, x[0], {0});
                          };
                          return {op::apply("prod", product, p)};
                      },
                      {variable("p")});
    const Tensor p = ops::full({1000}, ir::constant(array(0.25)));
    EXPECT_EQ(*likelihood(p).value().data_as<double>(), 0);
    const BuiltModule in_logs = logspace(likelihood);
    EXPECT_EQ(in_logs.name(), "log likelihood");
    ModuleGraph result = in_logs(p);
    EXPECT_NEAR(*result.value().data_as<double>(), 1000 * std::log(0.25), 1e-9);
    result.back();
    EXPECT_NEAR(numbers(result.grad(in_logs.input("p")))[999], 4, 1e-12);
}

TEST(CgOperator, RefusesParametersOfItsOwn) {
    class Scale : public Operator {
      public:
        explicit Scale(const InputRef& factor) : Operator("Scale", {variable("x")}, {factor}) {}

      protected:
        Tensor op_impl(const Tensors& x) const override {
            return ops::map("multiply", {x[0], param("factor")->value()});
        }
    };
    EXPECT_EQ(number(Scale(constant("factor", 2.0)).apply({vector({3})})), 6);
    EXPECT_EQ(refusal<ValueError>([] { (void)Scale(parameter("factor", 2.0)); }),
              "Scale: 'factor' is a parameter of an operator, which has no derivative with respect "
              "to it. An input is required, which a module that has the parameter gives it.");
}

TEST(CgModule, ErrorsNameTheCallsAroundThem) {
    const BuiltModule inner = Module::build("Inner",
                                            [](const Module& self, const Nodes& x) -> Nodes {
                                                return {op::dot(x[0], self.param("w"))};
                                            },
                                            {variable("x")}, {parameter("w", vector({1, 2, 3}))});
    const BuiltModule outer = Module::build("Outer",
                                            [inner](const Module&, const Nodes& x) -> Nodes {
                                                const Node first = inner({x[0]})[0];
                                                return {op::add(first, inner({x[1]})[0])};
                                            },
                                            {variable("x"), variable("y")});
    const std::string said =
        refusal<ValueError>([&] { (void)outer(vector({1, 2, 3}), vector({1, 2})); });
    EXPECT_EQ(said.substr(0, 5), "dot: ");
    EXPECT_TRUE(
        said.ends_with(" In the call Inner#2(x: float64[2]). In the call Outer#1(x: "
                       "float64[3], y: float64[2])."))
        << said;
}

}  // namespace
}  // namespace composit::cg

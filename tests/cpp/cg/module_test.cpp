// Modules and their calls in C++: values, derivatives, call nodes; Jacobians, derivatives that are
// given, and computations with logarithms.
#include "composit/cg/module.h"

#include "composit/cg/jacobians.h"
#include "composit/cg/logspace.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"
#include "models.h"

#include <gtest/gtest.h>

#include <cmath>

namespace composit::cg {
namespace {

using ir::DType;
using ir::Shape;

class Cube : public Module {
  public:
    Cube() : Module("Cube", {variable("x")}) {}

  protected:
    Nodes call(const Nodes& x) const override {
        const Multiply multiply;
        return {multiply({x[0], multiply({x[0], x[0]})})};
    }
};

TEST(CgModule, ValuesAndGradientsOfThePage) {
    const SimpleModel m;
    ModuleGraph result = m(3.0);
    EXPECT_EQ(*result.value().data_as<double>(), 36);
    result.back();
    EXPECT_EQ(number(result.grad(m.param("w"))), 9);
    EXPECT_EQ(number(result.grad(m.input("x"))), 33);
    EXPECT_EQ(numbers(m(vector({3, 4, 5})).tensor()), (std::vector<double>{36, 80, 150}));
}

TEST(CgModule, CallsAreIndependent) {
    const SimpleModel m;
    const ModuleGraph a = m(3.0), b = m(3.0);
    EXPECT_EQ(a, a);
    EXPECT_NE(a, b);
    EXPECT_NE(a.call_id(), b.call_id());
    EXPECT_EQ(a.call_id().size(), 6u);
    ASSERT_EQ(a.nodes().size(), 5u);
    for (const Node& node : a.nodes()) EXPECT_EQ(node.call_id(), a.call_id());
    EXPECT_EQ(a.root().name(), "multiply");
    EXPECT_EQ(a.root().children()[0].children()[1].input(), m.param("w"));
}

TEST(CgModule, JacobiansOfArrays) {
    const SimpleModel m;
    ModuleGraph result = m(vector({3, 4}));
    result.back();
    const Tensor by_x = result.grad(m.input("x"));
    EXPECT_EQ(by_x.shape(), (Shape{2, 2}));
    EXPECT_EQ(numbers(by_x), (std::vector<double>{33, 0, 0, 56}));
    EXPECT_EQ(numbers(result.grad(m.param("w"))), (std::vector<double>{9, 16}));
}

TEST(CgModule, SharedWeightsAddUp) {
    const SimpleModel m1, m2;
    ModuleGraph apart = Composite(m1, m2)(3.0, 4.0), shared = Composite(m1, m1)(3.0, 4.0);
    apart.back();
    shared.back();
    EXPECT_EQ(number(apart.grad(m1.param("w"))), 9);
    EXPECT_EQ(number(apart.grad(m2.param("w"))), 16);
    EXPECT_EQ(number(shared.grad(m1.param("w"))), 25);
    EXPECT_EQ(apart.nodes().size(), shared.nodes().size() + 1);
}

TEST(CgModule, ATensorThatIsGivenTwiceHasADerivativeForEach) {
    const SimpleModel m;
    const Composite composite(m, m);
    const Tensor x = vector({3});
    ModuleGraph result = composite(x, x);
    result.back();
    EXPECT_EQ(number(result.grad(composite.input("x1"))), 33);
}

TEST(CgModule, ModulesAreCallsInTheGraph) {
    const SimpleModel m;
    const Composite composite(m, m);
    const Tensor whole = composite(3.0, 4.0).tensor();
    EXPECT_EQ(ir::label(whole.node()), "Composite");
    EXPECT_EQ(whole.node().operands().size(), 3u);  // x1, x2 and the weight
    const auto body = whole.node().attributes().get<std::shared_ptr<const ir::Body>>("body");
    int calls = 0;
    for (const ir::Node* node : ir::topological_order(body->results))
        calls += node->operation().name == "call";
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(body->parameters[2].name(), "w");
    EXPECT_EQ(number(whole), 36 + 80);
}

TEST(CgModule, ApplyIsAFunctionWithoutState) {
    const SimpleModel m;
    const auto f = [&](const Tensor& w, const Tensor& x) {
        return m.apply({{m.param("w"), w}}, {x});
    };
    const Tensor two = ir::constant(Array::scalar(DType::float64, 2));
    EXPECT_EQ(number(f(two, two)), 16);
    EXPECT_EQ(number(grad(grad(f, 1), 1)(two, two)), 6 * 2 + 2 * 2);
    m.param("w")->assign(2.0);
    EXPECT_EQ(*m(2.0).value().data_as<double>(), 16);
}

TEST(CgOperator, AGivenDerivativeIsUsedAndKeptByVmap) {
    const Cube cube;
    ModuleGraph result = cube(3.0);
    result.back();
    EXPECT_EQ(*result.value().data_as<double>(), 27);
    EXPECT_EQ(number(result.grad(cube.input("x"))), 27);
    const auto slope = grad([&](const Tensor& x) { return cube.apply({}, {x}); });
    EXPECT_EQ(numbers(vmap(slope)(vector({1, 2, 3}))), (std::vector<double>{3, 12, 27}));
    EXPECT_EQ(numbers(grad([&](const Tensor& x) {
                  const auto all = vmap([&](const Tensor& one) { return cube.apply({}, {one}); });
                  return ops::reduce(ops::Combiner::sum, all(x), {0});
              })(vector({1, 2, 3}))),
              (std::vector<double>{3, 12, 27}));
}

TEST(CgOperator, AGivenDerivativeReplacesTheOneThatFollows) {
    class Straight : public Operator {
      public:
        Straight() : Operator("Straight", {variable("x")}) {}

      protected:
        Tensor op_impl(const Tensors& x) const override { return ops::map("sign", x); }
        Tensor gradient(size_t, const Tensors& x) const override {
            return ops::map("multiply", {x[0], ir::weak_scalar(5.0)});
        }
    };
    const Straight straight;
    const auto f = [&](const Tensor& x) { return straight.apply({x}); };
    const Tensor three = ir::constant(Array::scalar(DType::float64, 3));
    EXPECT_EQ(number(grad(f)(three)), 15);
    EXPECT_EQ(numbers(vmap(grad(f))(vector({1, 2}))), (std::vector<double>{5, 10}));
    EXPECT_EQ(number(grad(grad(f))(three)), 5);
    EXPECT_EQ(number(jvp(f, three, three).second), 45);
}

TEST(CgLogspace, AProductThatUnderflows) {
    const Tensor p = ops::full({1000}, ir::constant(Array::scalar(DType::float64, 0.25)));
    const Tensor product = ops::reduce(ops::Combiner::product, p, {0});
    EXPECT_EQ(number(product), 0);
    EXPECT_NEAR(number(logspace({product})[0]), 1000 * std::log(0.25), 1e-9);
}

class Whole : public Module {
  public:
    Whole() : Module("Whole", {variable("x")}) {}

  protected:
    Nodes call(const Nodes& x) const override { return {op::square(x[0])}; }
};

TEST(CgModule, Refusals) {
    const SimpleModel m, other;
    ModuleGraph result = m(3.0);
    EXPECT_EQ(refusal<ValueError>([&] { (void)result.grad(m.param("w")); }),
              "grad: the call of SimpleModel has no derivative with respect to 'w' yet. back() is "
              "required before.");
    EXPECT_EQ(
        refusal<ValueError>([&] { (void)result.grad(other.input("x")); }),
        "grad: 'x' is no input of this call of SimpleModel. One of the module, or one that the "
        "result depends on, is required.");
    EXPECT_EQ(
        refusal<ValueError>([&] { (void)Composite(m, m)(1.0); }),
        "Composite: 1 of 2 inputs are given; without: 'x2'. When a function is called, all its "
        "inputs must be instantiated.");
    EXPECT_EQ(refusal<ValueError>([&] { (void)m(1.0, 2.0); }),
              "SimpleModel: 2 values are given for 1 inputs. One for each is required.");
    EXPECT_EQ(refusal<ValueError>([&] { (void)m.param("v"); }),
              "SimpleModel has no parameter 'v'. One of its own is required.");
    EXPECT_EQ(refusal<ValueError>([&] { (void)op::square(result.root()); }),
              "square: nodes are made within the call of a module only. A module's call is "
              "required.");
    EXPECT_EQ(refusal<ValueError>([&] { (void)op::square(1.0); }),
              "a number: nodes are made within the call of a module only. A module's call is "
              "required.");
    EXPECT_EQ(refusal<ValueError>([&] { (void)result.grad(nullptr); }),
              "grad: the input is empty. One of SimpleModel is required.");
    const auto built = [](std::vector<InputRef> inputs, Nodes (*call)(const Nodes&)) {
        return Module::build(
            "m", [call](const Module&, const Nodes& x) { return call(x); }, std::move(inputs));
    };
    const std::string empty =
        "cg: a node is empty. One that an operator or a call made is required.";
    EXPECT_EQ(refusal<ValueError>([&] {
                  (void)built({variable("x")}, [](const Nodes&) { return Nodes{Node()}; })(1.0);
              }),
              empty);
    EXPECT_EQ(refusal<ValueError>([&] {
                  (void)built({variable("x")},
                              [](const Nodes& x) { return Nodes{op::add(x[0], Node())}; })(1.0);
              }),
              empty + " In the call m#1(x: float64[]).");
    EXPECT_EQ(
        refusal<ValueError>([&] { (void)built({nullptr}, [](const Nodes& x) { return x; }); }),
        "m: an input or a parameter is empty. variable(…), parameter(…) or constant(…) is "
        "required.");
    EXPECT_EQ(refusal<ValueError>([&] {
                  (void)built({variable("x"), variable("x")}, [](const Nodes& x) { return x; });
              }),
              "m: 'x' names two of its inputs. A name for each is required.");
    ModuleGraph of_integers = m(3);
    of_integers.back();
    EXPECT_EQ(refusal<TypeError>([&] { (void)of_integers.grad(m.input("x")); }),
              "grad: SimpleModel has no derivative with respect to 'x', which is int64. A floating "
              "or complex dtype is required.");
    ModuleGraph whole = Whole()(3);
    EXPECT_EQ(
        refusal<TypeError>([&] { whole.back(); }),
        "Whole has no derivative: the result is int64. A floating dtype is required, of inputs "
        "and parameters such as 3.0.");
}

}  // namespace
}  // namespace composit::cg

// Every primitive's derivative: vjp against central differences in float64, jvp against vjp, second
// order the same way. A primitive that no case here reaches is a failure.
#include "composit/base/text.h"
#include "composit/execute/execute.h"
#include "composit/ir/operation.h"
#include "composit/ir/procedure/callable.h"
#include "composit/ops/decompositions.h"
#include "composit/ops/matrices.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>

namespace composit {
namespace {

using ir::Array;
using ir::DType;
using ir::Shape;
using ir::Tensor;
using ir::kernel::Combiner;
using Tensors = std::vector<Tensor>;

struct Primitive {
    std::string name;
    std::vector<Shape> shapes;
    std::function<Tensor(const Tensors&)> apply;
};

Tensor integers(std::vector<int64_t> values, Shape shape) {
    return ir::constant(Array::of<int64_t>(DType::int64, std::move(shape), values));
}

ops::Convolution plain_convolution(size_t dimensions) {
    const std::vector<int64_t> ones(dimensions, 1), zeros(dimensions, 0);
    return {ones, zeros, zeros, ones, ones, 1};
}

// Of any matrix: symmetric, positive definite, with eigenvalues that are apart.
Tensor definite(const Tensor& x) {
    const Tensor steps = ir::constant(Array::of<double>(DType::float64, {3}, {4, 9, 16}));
    return ops::plus(ops::product(x, ops::transposed(x)), ops::diagonal_matrix(steps));
}

Tensor first_of(const Tensors& parts) { return parts[0]; }

// The sum of w x[i] x[i]: a procedure with a loop over an array.
Tensor weighted_squares(const Tensor& x, const Tensor& w) {
    using namespace ir::procedure;
    static const int64_t number = [] {
        Procedure made;
        made.name = "weighted_squares";
        made.variables = {{"n", DType::int64},
                          {"w", DType::float64},
                          {"i", DType::int64},
                          {"v", DType::float64},
                          {"y", DType::float64}};
        made.parameters = 2;
        made.results = {{"y", DType::float64}};
        made.arrays = {{"x", DType::float64, {made.variable(0)}, ArrayVariable::Role::input}};
        made.head = {-1, 0, 1};
        const auto zero = [](DType dtype) { return Expr::constant(dtype, 0); };
        const Expr i = made.variable(2), v = made.variable(3), y = made.variable(4);
        made.body = {
            Statement::assign(4, zero(DType::float64)),
            Statement::loop(
                {Statement::assign(2, zero(DType::int64))}, i < made.variable(0),
                {Statement::load(3, 0, {i}), Statement::assign(4, y + made.variable(1) * v * v)},
                {Statement::assign(2, i + Expr::constant(DType::int64, 1))}),
            Statement::leave({y})};
        check(made);
        return keep_callable(made);
    }();
    return ops::procedure(number, {x, w})[0];
}

void add_decompositions(std::vector<Primitive>& list) {
    using namespace ops;
    const std::vector<Primitive> more{
        {"procedure", {{4}, {}}, [](const Tensors& x) { return weighted_squares(x[0], x[1]); }},
        {"cholesky", {{3, 3}}, [](const Tensors& x) { return cholesky(definite(x[0]), false); }},
        {"cholesky upper",
         {{3, 3}},
         [](const Tensors& x) { return cholesky(definite(x[0]), true); }},
        {"solve", {{3, 3}, {3, 2}}, [](const Tensors& x) { return solve(definite(x[0]), x[1]); }},
        {"inv", {{3, 3}}, [](const Tensors& x) { return inv(definite(x[0])); }},
        {"slogdet", {{3, 3}}, [](const Tensors& x) { return slogdet(definite(x[0]))[1]; }},
        {"determinant", {{3, 3}}, [](const Tensors& x) { return slogdet(x[0])[2]; }},
        {"lstsq",
         {{4, 3}, {4, 2}},
         [](const Tensors& x) {
             const Tensor rcond = ir::constant(Array::scalar(DType::float64, 1e-9));
             return first_of(lstsq(x[0], x[1], rcond));
         }},
        {"pinv",
         {{3, 2}},
         [](const Tensors& x) {
             return pinv(x[0], ir::constant(Array::scalar(DType::float64, 1e-9)));
         }},
        {"qr", {{3, 3}}, [](const Tensors& x) { return qr(definite(x[0]), QrMode::reduced)[1]; }},
        {"svd",
         {{3, 3}},
         [](const Tensors& x) { return map("square", {svd(definite(x[0]), SvdVectors::few)[0]}); }},
        {"eigh",
         {{3, 3}},
         [](const Tensors& x) { return map("square", {eigh(definite(x[0]), true, false)[1]}); }},
        {"eig",
         {{3, 3}},
         [](const Tensors& x) { return first_of(eig(definite(x[0]), false, true)); }},
    };
    list.insert(list.end(), more.begin(), more.end());
}

std::vector<Primitive> primitives() {
    using namespace ops;
    std::vector<Primitive> list{
        {"transfer", {{3}}, [](const Tensors& x) { return transfer(x[0], "cpu"); }},
        {"after", {{3}, {2}}, [](const Tensors& x) { return after({x[0]}, {x[1]})[0]; }},
        {"map multiply broadcast",
         {{2, 3}, {3}},
         [](const Tensors& x) { return map("multiply", x); }},
        {"map where",
         {{4}, {4}},
         [](const Tensors& x) {
             return map("where", {map("less", {x[0], x[1]}), map("multiply", {x[0], x[1]}),
                                  map("square", {x[1]})});
         }},
        {"sum", {{2, 3, 4}}, [](const Tensors& x) { return reduce(Combiner::sum, x[0], {0, 2}); }},
        {"sum keepdims",
         {{2, 3}},
         [](const Tensors& x) { return reduce(Combiner::sum, x[0], {1}, true); }},
        {"product",
         {{2, 5}},
         [](const Tensors& x) { return reduce(Combiner::product, x[0], {1}); }},
        {"product of two axes",
         {{2, 3, 2}},
         [](const Tensors& x) { return reduce(Combiner::product, x[0], {0, 1}); }},
        {"maximum",
         {{3, 4}},
         [](const Tensors& x) { return reduce(Combiner::maximum, x[0], {1}); }},
        {"minimum",
         {{3, 4}},
         [](const Tensors& x) { return reduce(Combiner::minimum, x[0], {0}); }},
        {"running sum", {{3, 4}}, [](const Tensors& x) { return scan(Combiner::sum, x[0], 1); }},
        {"running product",
         {{5, 2}},
         [](const Tensors& x) { return scan(Combiner::product, x[0], 0); }},
        {"running maximum",
         {{2, 6}},
         [](const Tensors& x) { return scan(Combiner::maximum, x[0], 1); }},
        {"running minimum",
         {{2, 6}},
         [](const Tensors& x) { return scan(Combiner::minimum, x[0], 1); }},
        {"astype of positions",
         {{2, 3}},
         [](const Tensors& x) {
             return map("multiply", {x[0], astype(iota({2, 3}, 1), DType::float64)});
         }},
        {"matrix product",
         {{3, 4}, {4, 2}},
         [](const Tensors& x) { return contract(x[0], x[1], {{}, {}, {1}, {0}}); }},
        {"batched tensordot",
         {{2, 3, 4, 5}, {5, 2, 6, 3}},
         [](const Tensors& x) { return contract(x[0], x[1], {{0}, {1}, {3, 1}, {0, 3}}); }},
        {"inner product",
         {{2, 3}, {3, 2}},
         [](const Tensors& x) { return contract(x[0], x[1], {{}, {}, {0, 1}, {1, 0}}); }},
        {"convolve",
         {{2, 2, 6, 5}, {3, 2, 3, 2}},
         [](const Tensors& x) { return convolve(x[0], x[1], plain_convolution(2)); }},
        {"convolve with everything",
         {{2, 4, 7, 6}, {6, 2, 3, 2}},
         [](const Tensors& x) {
             return convolve(x[0], x[1], {{2, 1}, {1, 2}, {2, -1}, {1, 2}, {2, 1}, 2});
         }},
        {"convolve 1-d",
         {{1, 2, 9}, {2, 2, 3}},
         [](const Tensors& x) { return convolve(x[0], x[1], {{3}, {1}, {0}, {1}, {2}, 1}); }},
        {"reshape", {{2, 6}}, [](const Tensors& x) { return reshape(x[0], {3, 4}); }},
        {"reshape of a transpose",
         {{2, 6}},
         [](const Tensors& x) { return reshape(transpose(x[0], {1, 0}), {3, 4}); }},
        {"transpose", {{2, 3, 4}}, [](const Tensors& x) { return transpose(x[0], {2, 0, 1}); }},
        {"broadcast_to", {{3, 1}}, [](const Tensors& x) { return broadcast_to(x[0], {2, 3, 4}); }},
        {"slice", {{7, 6}}, [](const Tensors& x) { return slice(x[0], {1, 5}, {3, 2}, {2, -3}); }},
        {"element", {{3, 4}}, [](const Tensors& x) { return element(x[0], {1, 2}); }},
        {"with_values", {{3, 4}}, [](const Tensors& x) { return with_values(x[0], x[0]); }},
        {"with_element",
         {{3, 4}, {}},
         [](const Tensors& x) { return with_element(x[0], {2, 0}, x[1]); }},
        {"with_element of a number",
         {{}, {}},
         [](const Tensors& x) { return with_element(x[0], {}, x[1]); }},
        {"with_slice",
         {{5, 4}, {2, 3}},
         [](const Tensors& x) { return with_slice(x[0], {0, 3}, {3, -1}, x[1]); }},
        {"pad",
         {{3, 4}, {}},
         [](const Tensors& x) { return pad(x[0], x[1], {1, -1}, {2, 0}, {1, 0}); }},
        {"pad that crops inside",
         {{5}, {}},
         [](const Tensors& x) { return pad(x[0], x[1], {-3}, {-2}, {2}); }},
        {"concatenate", {{2, 3}, {2, 1}}, [](const Tensors& x) { return concatenate(x, 1); }},
        {"split",
         {{5, 2}},
         [](const Tensors& x) {
             const Tensors parts = split(x[0], {2, 1, 2}, 0);
             return map("multiply", {parts[0], parts[2]});
         }},
        {"windows",
         {{2, 7, 5}},
         [](const Tensors& x) { return windows(x[0], {3, 2}, {2, 1}, {1, 2}); }},
        {"fold",
         {{2, 3, 4, 2, 2}},
         [](const Tensors& x) { return fold(x[0], {6, 7}, {2, 1}, {1, 3}); }},
        {"gather",
         {{4, 3}},
         [](const Tensors& x) { return gather(x[0], {integers({3, -4, 3, 1}, {2, 2})}, {0}); }},
        {"sorted rows",
         {{3, 5}},
         [](const Tensors& x) {
             return gather(x[0], {iota({3, 5}, 0), argsort(x[0], 1)}, {0, 1});
         }},
        {"sort", {{3, 5, 2}}, [](const Tensors& x) { return sort(x[0], 1); }},
        {"ranks",
         {{6}},
         [](const Tensors& x) { return gather(x[0], {search(sort(x[0], 0), x[0], false)}, {0}); }},
        {"gather two axes",
         {{4, 3, 2}},
         [](const Tensors& x) {
             return gather(x[0], {integers({3, 0}, {2}), integers({1, 1}, {2})}, {0, 2});
         }},
        {"scatter add",
         {{4, 3}, {3, 3}},
         [](const Tensors& x) {
             return scatter(x[0], {integers({3, 0, 3}, {3})}, {0}, x[1], true);
         }},
        {"scatter over",
         {{4, 3}, {3, 3}},
         [](const Tensors& x) {
             return scatter(x[0], {integers({3, 0, 3}, {3})}, {0}, x[1], false);
         }},
        {"call",
         {{3}},
         [](const Tensors& x) {
             auto body = std::make_shared<ir::Body>();
             body->name = "cube";
             body->parameters = {ir::input("x", DType::float64, {3})};
             const Tensor p = body->parameters[0];
             body->results = {map("multiply", {p, map("multiply", {p, p})})};
             return call(body, x)[0];
         }},
    };
    add_decompositions(list);
    return list;
}

Array random_array(const Shape& shape, std::mt19937& random) {
    Array array(DType::float64, shape);
    std::uniform_real_distribution<double> uniform(-2, 2);
    for (int64_t i = 0; i < array.size(); ++i)
        static_cast<double*>(array.mutable_data())[i] = uniform(random);
    return array;
}

double dot(const Array& a, const Array& b) {
    double sum = 0;
    for (int64_t i = 0; i < a.size(); ++i) sum += a.data_as<double>()[i] * b.data_as<double>()[i];
    return sum;
}

Tensor weighted_sum(const Tensor& y, const Array& weights) {
    ops::Axes axes;
    for (int64_t d = 0; d < y.rank(); ++d) axes.push_back(d);
    return ops::reduce(Combiner::sum, ops::map("multiply", {y, ir::constant(weights)}), axes);
}

// Gradient of f at x (scalar valued) against central differences with relative error 1e-6.
void expect_gradient(const std::function<Tensor(const Tensors&)>& f, const std::vector<Array>& at,
                     const Tensors& gradients, const std::string& what) {
    const std::vector<Array> computed = execute::evaluate(gradients);
    for (size_t k = 0; k < at.size(); ++k) {
        ASSERT_EQ(computed[k].shape(), at[k].shape()) << what;
        for (int64_t i = 0; i < at[k].size(); ++i) {
            const double step = 1e-5;
            double values[2];
            for (int side = 0; side < 2; ++side) {
                Tensors moved;
                for (size_t j = 0; j < at.size(); ++j) {
                    Array copy(DType::float64, at[j].shape());
                    std::copy_n(at[j].data_as<double>(), at[j].size(),
                                static_cast<double*>(copy.mutable_data()));
                    if (j == k) static_cast<double*>(copy.mutable_data())[i] += side ? step : -step;
                    moved.push_back(ir::constant(copy));
                }
                values[side] = *execute::evaluate({f(moved)})[0].data_as<double>();
            }
            const double expected = (values[1] - values[0]) / (2 * step),
                         got = computed[k].data_as<double>()[i];
            EXPECT_NEAR(got, expected, 1e-6 * std::max(1.0, std::fabs(expected)))
                << what << ", input " << k << "[" << i << "]";
        }
    }
}

class Gradients : public testing::TestWithParam<Primitive> {};

TEST_P(Gradients, EqualCentralDifferencesAndForwardModeInFirstAndSecondOrder) {
    const Primitive& p = GetParam();
    std::mt19937 random(7);
    std::vector<Array> at;
    Tensors x;
    for (const Shape& shape : p.shapes) {
        at.push_back(random_array(shape, random));
        x.push_back(ir::constant(at.back()));
    }
    const Tensor y = p.apply(x);
    const Array weights = random_array(y.shape(), random);
    const auto loss = [&](const Tensors& v) { return weighted_sum(p.apply(v), weights); };
    const auto gradient = [&](const Tensors& v) {
        return transforms::vjp({p.apply(v)}, {ir::constant(weights)}, v);
    };
    expect_gradient(loss, at, gradient(x), p.name + " first order");

    // <w, jvp(t)> = <vjp(w), t>
    Tensors tangents;
    std::vector<Array> directions;
    for (const Shape& shape : p.shapes) {
        directions.push_back(random_array(shape, random));
        tangents.push_back(ir::constant(directions.back()));
    }
    const Array pushed = execute::evaluate(transforms::jvp({y}, x, tangents))[0];
    const std::vector<Array> pulled = execute::evaluate(gradient(x));
    double expected = 0;
    for (size_t k = 0; k < pulled.size(); ++k) expected += dot(pulled[k], directions[k]);
    EXPECT_NEAR(dot(pushed, weights), expected, 1e-9 * std::max(1.0, std::fabs(expected)))
        << p.name;

    // The gradient of <vjp(w), t>, where it is not constant, is second order.
    const auto slope = [&](const Tensors& v) {
        const Tensors g = gradient(v);
        Tensor sum = weighted_sum(g[0], directions[0]);
        for (size_t k = 1; k < g.size(); ++k)
            sum = ops::map("add", {sum, weighted_sum(g[k], directions[k])});
        return sum;
    };
    const Tensor one = ir::constant(Array::scalar(DType::float64, 1));
    expect_gradient(slope, at, transforms::vjp({slope(x)}, {one}, x), p.name + " second order");
}

INSTANTIATE_TEST_SUITE_P(EveryPrimitive, Gradients, testing::ValuesIn(primitives()),
                         [](const auto& info) {
                             std::string name = info.param.name;
                             for (char& c : name)
                                 if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                             return name;
                         });

// What can differ in its derivative: the operation, and the combiner of those that have one.
std::string kind_of(const ir::Node& node) {
    const std::string& name = node.operation().name;
    if (!node.attributes().has("combiner")) return name;
    const auto combiner = static_cast<Combiner>(node.attributes().get<int64_t>("combiner"));
    return text(name, " ", ir::kernel::name(combiner));
}

TEST(Gradients, CoverEveryPrimitiveThatHasADerivative) {
    ops::register_operations();
    std::set<std::string> covered, required;
    for (const Primitive& p : primitives()) {
        Tensors x;
        for (const Shape& shape : p.shapes) x.push_back(ir::input("x", DType::float64, shape));
        const Tensor y = p.apply(x);
        for (const ir::Node* node : ir::topological_order({y})) covered.insert(kind_of(*node));
    }
    for (const ir::Operation* operation : ir::all_operations()) {
        if (!operation->vjp && !operation->decompose) continue;
        if (operation->name == "forgotten") continue;  // its derivative is an error
        if (operation->name != "reduce" && operation->name != "scan") {
            required.insert(operation->name);
            continue;
        }
        for (const Combiner combiner :
             {Combiner::sum, Combiner::product, Combiner::maximum, Combiner::minimum})
            required.insert(text(operation->name, " ", ir::kernel::name(combiner)));
    }
    for (const std::string& kind : required) EXPECT_TRUE(covered.contains(kind)) << kind;
}

// Rounding is no matter where all numbers are multiples of 1/64: differences are exact.
TEST(Vjp, ConversionBetweenFloatsPassesGradientsOnInTheirDtype) {
    const Tensor x = ir::constant(Array::of<double>(DType::float64, {3}, {1.5, -0.25, 3})),
                 w = ir::constant(Array::of<float>(DType::float32, {3}, {0.5, 2, -1}));
    const Tensor y = ops::map("multiply", {ops::astype(x, DType::float32), w});
    const Tensor g = transforms::vjp({y}, {w}, {x})[0];
    EXPECT_EQ(g.dtype(), DType::float64);
    const Array got = execute::evaluate({g})[0];
    const Tensor step =
        ir::constant(Array::of<double>(DType::float64, {3}, {0x1p-6, 0x1p-6, 0x1p-6}));
    const auto at = [&](const Tensor& v) {
        return ops::map("multiply", {ops::map("multiply", {ops::astype(v, DType::float32), w}), w});
    };
    const auto ends =
        execute::evaluate({at(ops::map("add", {x, step})), at(ops::map("subtract", {x, step}))});
    for (int64_t i = 0; i < 3; ++i)
        EXPECT_EQ(got.data_as<double>()[i],
                  (ends[0].data_as<float>()[i] - ends[1].data_as<float>()[i]) / 0x1p-5);
    const Tensor integers = ops::astype(x, DType::int64);
    EXPECT_EQ(dot(execute::evaluate(
                      transforms::vjp({ops::astype(integers, DType::float64)}, {x}, {x}))[0],
                  execute::evaluate({x})[0]),
              0);
}

TEST(Vjp, AnInputThatNoOutputDependsOnGetsZeros) {
    const Tensor x = ir::constant(Array::scalar(DType::float64, 2)),
                 z = ir::constant(Array::zeros(DType::float64, {2}));
    const Tensor y = ops::map("square", {x});
    const auto values = execute::evaluate(transforms::vjp({y}, {x}, {x, z}));
    EXPECT_EQ(*values[0].data_as<double>(), 8);
    EXPECT_EQ(values[1].shape(), (Shape{2}));
    EXPECT_EQ(values[1].data_as<double>()[0], 0);
}

TEST(Vjp, AChainOfAMillionNodesIsDifferentiatedAndFreed) {
    Tensor x = ir::constant(Array::scalar(DType::float32, 1)), y = x;
    for (int i = 0; i < 1'000'000; ++i) y = ops::map("negative", {y});
    const Tensors g = transforms::vjp({y}, {x}, {x});
    EXPECT_GE(ir::topological_order(g).size(), 1'000'000u);
}

}  // namespace
}  // namespace composit

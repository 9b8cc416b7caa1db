// Functions of known arrays: values without a graph, and the graph without values.
#include "composit/eager/function_at_once.h"

#include "composit/eager/cell.h"
#include "composit/eager/deferred.h"
#include "composit/ir/body.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

namespace composit::eager {
namespace {

using ir::DType;

const std::vector<double> three{1, 2, 4};

Tensor placeholder(const char* name) { return ir::input(name, DType::float64, {3}); }
Tensor constant(const std::vector<double>& values) {
    return ir::constant(
        Array::of<double>(DType::float64, {static_cast<int64_t>(values.size())}, values));
}

std::shared_ptr<const FunctionAtOnce> quotient() {
    const Tensor x = placeholder("x"), y = placeholder("y");
    return FunctionAtOnce::make({x, y}, x / y);
}

TEST(FunctionAtOnce, computes_values) {
    const std::vector<double> by{2, 4, 8};
    const auto function = quotient();
    ASSERT_TRUE(function);
    const std::optional<Array> value = function->values({three.data(), by.data()}, 0);
    ASSERT_TRUE(value);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(value->data_as<double>()[i], 0.5);
}

TEST(FunctionAtOnce, leaves_reported_errors_to_nodes) {
    const std::vector<double> zeros{0, 0, 0};
    const auto function = quotient();
    EXPECT_FALSE(function->values({three.data(), zeros.data()}, ir::ErrorHandling::divide));
    const std::optional<Array> ignored = function->values({three.data(), zeros.data()}, 0);
    ASSERT_TRUE(ignored);
    EXPECT_TRUE(std::isinf(ignored->data_as<double>()[0]));
}

TEST(FunctionAtOnce, makes_the_graph_of_the_call) {
    const Tensor x = placeholder("x");
    const Tensor traced = numpy::sum(x * x + 1.0);
    const auto function = FunctionAtOnce::make({x}, traced);
    const Tensor given = constant(three);
    const ir::LocationScope scope(ir::intern("here.py:3"));
    const Tensor made = function->made({given});
    EXPECT_EQ(made.node().location(), "here.py:3");
    EXPECT_EQ(made.node().structural_hash(),
              ir::substitute({traced}, {x}, {given})[0].node().structural_hash());
    EXPECT_EQ(look({made})[0].data_as<double>()[0], 24);
}

TEST(FunctionAtOnce, is_made_for_small_results_of_operands) {
    const Tensor x = placeholder("x"), wide = ir::input("w", DType::float32, {1 << 15});
    EXPECT_FALSE(FunctionAtOnce::make({x}, x));
    EXPECT_FALSE(FunctionAtOnce::make({x}, constant(three)));
    EXPECT_FALSE(FunctionAtOnce::make({wide}, numpy::sum(wide)));
    EXPECT_FALSE(FunctionAtOnce::make({x}, placeholder("y") + x));
    const Tensor complex = ops::astype(x, DType::complex128);
    EXPECT_TRUE(FunctionAtOnce::make({x}, complex));
    EXPECT_FALSE(FunctionAtOnce::make({x}, numpy::sum(complex)));
}

TEST(FunctionAtOnce, is_a_node_when_somebody_asks) {
    const Tensor x = placeholder("x"), y = placeholder("y");
    const auto function = FunctionAtOnce::make({x, y}, numpy::sum(x * y));
    const Tensor a = constant(three), b = constant({1, 1, 2});
    const Array value = *function->values({three.data(), ir::constant_value(b.node()).data()}, 0);
    const Ref<Deferred> now = Deferred::called(function, {Deferred::of(a), Deferred::of(b)}, value);
    ASSERT_TRUE(now);
    EXPECT_TRUE(now->has_number() && !now->is_made());
    EXPECT_EQ(now->number<double>(), 11);
    const Tensor tensor = now->tensor();
    EXPECT_TRUE(tensor.node().has_kept());
    EXPECT_EQ(look({tensor + 1.0})[0].data_as<double>()[0], 12);
}

TEST(FunctionAtOnce, values_that_the_graph_holds_are_bounded) {
    const Tensor x = ir::input("x", DType::float64, {16384});
    const auto function = FunctionAtOnce::make({x}, -x);
    const Array values(DType::float64, {16384});
    std::vector<Ref<Deferred>> held;
    while (held.size() < 1000) {
        const Array value(DType::float64, {16384});
        Ref<Deferred> made =
            Deferred::called(function, {Deferred::of(ir::constant(values))}, value);
        if (!made) break;
        held.push_back(std::move(made));
    }
    EXPECT_EQ(held.size(), (size_t{32} << 20) / (16384 * sizeof(double)));
    held.clear();
    EXPECT_TRUE(Deferred::called(function, {Deferred::of(ir::constant(values))}, values));
}

TEST(FunctionAtOnce, runs_in_several_threads) {
    const auto function = quotient();
    std::vector<std::thread> threads;
    for (int t = 1; t <= 4; ++t)
        threads.emplace_back([&function, t] {
            const std::vector<double> by(3, t);
            for (int i = 0; i < 200; ++i) {
                const std::optional<Array> value = function->values({three.data(), by.data()}, 0);
                ASSERT_EQ(value->data_as<double>()[2], 4.0 / t);
            }
        });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace composit::eager

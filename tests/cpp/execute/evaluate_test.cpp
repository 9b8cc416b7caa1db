// Tests of evaluate: values, plans found by structure, leaves bound anew, errors, many threads.
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/execute/signature.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

#include <thread>

namespace composit::execute {
namespace {

using ir::Body;
using ir::DType;
using ops::Combiner;

Tensor vector(std::vector<float> values) {
    const auto n = static_cast<int64_t>(values.size());
    return ir::constant(Array::of<float>(DType::float32, {n}, values));
}

std::vector<float> floats(const Array& array) {
    EXPECT_EQ(array.dtype(), DType::float32);
    return {array.data_as<float>(), array.data_as<float>() + array.size()};
}

std::vector<float> value(const Tensor& tensor) { return floats(evaluate({tensor})[0]); }

using Floats = std::vector<float>;

TEST(Evaluate, ValuesAndLeaves) {
    const Tensor x = vector({1, 2, 3});
    EXPECT_EQ(value(ops::map("add", {x, x})), (Floats{2, 4, 6}));
    EXPECT_TRUE(evaluate({}).empty());
    const auto same = evaluate({x, ops::reshape(x, {3}), ops::map("multiply", {x, x}), x});
    EXPECT_EQ(same[0].data(), ir::constant_value(x.node()).data());
    EXPECT_EQ(same[1].data(), same[0].data());
    EXPECT_EQ(floats(same[2]), (Floats{1, 4, 9}));
    EXPECT_EQ(floats(same[3]), (Floats{1, 2, 3}));
    const Tensor y = ops::map("negative", {x});
    const auto twice = evaluate({y, y});
    EXPECT_EQ(floats(twice[0]), floats(twice[1]));
    EXPECT_EQ(value(vector({})).size(), 0u);
    EXPECT_EQ(value(ops::reduce(Combiner::sum, vector({}), {0})), Floats{0});
}

TEST(Evaluate, ARebuiltGraphPlansOnce) {
    clear_plans();
    Tensor w = vector({1, 2});
    for (int step = 0; step < 5; ++step) {
        const Tensor rate = ir::weak_scalar(0.5 * step);
        w = ir::constant(evaluate({ops::map("subtract", {w, ops::map("multiply", {rate, w})})})[0]);
    }
    EXPECT_EQ(plan_statistics().plans, 1);
    EXPECT_EQ(plan_statistics().misses, 1);
    EXPECT_EQ(plan_statistics().hits, 4);
    EXPECT_EQ(floats(ir::constant_value(w.node())), (Floats{0, 0}));
}

TEST(Evaluate, SharingIsPartOfTheStructure) {
    clear_plans();
    const Tensor x = vector({1, 2}), y = vector({10, 20});
    EXPECT_EQ(value(ops::map("add", {x, x})), (Floats{2, 4}));
    EXPECT_EQ(value(ops::map("add", {x, y})), (Floats{11, 22}));
    EXPECT_EQ(value(ops::map("add", {y, x})), (Floats{11, 22}));
    EXPECT_EQ(value(ops::map("subtract", {y, x})), (Floats{9, 18}));
    EXPECT_EQ(plan_statistics().plans, 3);
    EXPECT_EQ(plan_statistics().hits, 1);
}

TEST(Evaluate, OptionsArePartOfThePlan) {
    clear_plans();
    const Tensor y = ops::map("exp", {ops::map("negative", {vector({0})})});
    for (bool fuse : {true, false})
        for (bool reuse : {true, false})
            EXPECT_EQ(floats(evaluate({y}, {.fuse = fuse, .reuse_buffers = reuse})[0]), Floats{1});
    EXPECT_EQ(plan_statistics().plans, 4);
}

// Promotion asks whether a Python integer fits: plans must not be shared across that border.
TEST(Evaluate, PythonIntegersOutOfRange) {
    const Tensor x = ir::constant(Array::of<uint8_t>(DType::uint8, {2}, {5, 250}));
    const auto below = [&](int64_t limit) {
        const Array result = evaluate({ops::map("less", {x, ir::weak_scalar(limit)})})[0];
        return std::vector<bool>{result.data_as<bool>()[0], result.data_as<bool>()[1]};
    };
    EXPECT_EQ(below(100), (std::vector<bool>{true, false}));
    EXPECT_EQ(below(300), (std::vector<bool>{true, true}));
    EXPECT_EQ(below(200), (std::vector<bool>{true, false}));
    EXPECT_EQ(below(-1), (std::vector<bool>{false, false}));
}

TEST(Evaluate, ConstantsInsideBodiesAreBoundAnew) {
    clear_plans();
    for (float scale : {2.0f, 3.0f}) {
        const Tensor p = ir::input("p", DType::float32, {2});
        const auto body = std::make_shared<Body>(
            Body{"scaled", {p}, {ops::map("multiply", {p, vector({scale, scale})})}});
        const Tensor y = ops::call(body, ops::call(body, {vector({1, 10})}))[0];
        EXPECT_EQ(value(y), (Floats{scale * scale, scale * scale * 10}));
    }
    EXPECT_EQ(plan_statistics().plans, 1);
}

TEST(Evaluate, APythonScalarGivenToACallIsATensorInside) {
    const Tensor p = ir::input("p", DType::float64, {}), x = vector({1});
    const auto body = std::make_shared<Body>(Body{"add", {p}, {ops::map("add", {p, x})}});
    const Array result = evaluate(ops::call(body, {ir::weak_scalar(0.5)}))[0];
    EXPECT_EQ(result.dtype(), DType::float64);
    EXPECT_EQ(result.data_as<double>()[0], 1.5);
}

TEST(Evaluate, PlaceholdersHaveNoValue) {
    const ir::LocationScope scope(ir::intern("model.py:8"));
    const Tensor x = ir::input("images", DType::float32, {2});
    for (const Tensor& tensor : {x, ops::map("exp", {x})}) try {
            evaluate({tensor});
            FAIL();
        } catch (const ValueError& error) {
            const std::string message = error.what();
            EXPECT_NE(message.find("'images'"), std::string::npos) << message;
            EXPECT_NE(message.find("model.py:8"), std::string::npos) << message;
        }
}

TEST(Evaluate, OldPlansGoAndNewOnesStay) {
    clear_plans();
    for (int64_t n = 1; n <= 300; ++n)
        evaluate({ops::map("negative", {ir::constant(Array::zeros(DType::float32, {n}))})});
    EXPECT_EQ(plan_statistics().plans, 256);
    evaluate({ops::map("negative", {ir::constant(Array::zeros(DType::float32, {300}))})});
    EXPECT_EQ(plan_statistics().hits, 1);
    evaluate({ops::map("negative", {ir::constant(Array::zeros(DType::float32, {1}))})});
    EXPECT_EQ(plan_statistics().misses, 301);
}

TEST(Evaluate, ManyThreadsAtOnce) {
    clear_plans();
    std::vector<std::thread> threads;
    std::vector<int> wrong(8, 0);
    for (size_t t = 0; t < wrong.size(); ++t)
        threads.emplace_back([&wrong, t] {
            for (int k = 0; k < 50; ++k) {
                const float x = static_cast<float>(t * 100) + static_cast<float>(k);
                const Tensor v = vector(Floats(1000, x));
                const Tensor y = ops::reduce(Combiner::sum, ops::map("add", {v, v}), {0});
                if (floats(evaluate({y}, {.threads = 2})[0]) != Floats{2000 * x}) ++wrong[t];
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(8, 0));
    EXPECT_EQ(plan_statistics().plans, 1);
}

TEST(Signature, NamesAndValuesDoNotCount) {
    const auto words = [](float v, std::string_view name) {
        const Tensor x = ir::constant(Array::of<float>(DType::float32, {1}, {v}), name);
        return signature_of({ops::map("exp", {x})}).words;
    };
    EXPECT_EQ(words(1, "a"), words(2, "b"));
    const Tensor sum = ops::map("add", {vector({1}), vector({2})});
    const auto leaves = signature_of({sum}).leaves;
    ASSERT_EQ(leaves.size(), 2u);
    EXPECT_EQ(floats(ir::constant_value(*leaves[0].node)), Floats{1});
}

}  // namespace
}  // namespace composit::execute

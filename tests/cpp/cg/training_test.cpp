// Training modules in C++: the same numbers as steps written out, and what is refused.
#include "composit/cg/training.h"

#include "composit/composit.h"
#include "models.h"

#include <gtest/gtest.h>

namespace composit::cg {
namespace {

namespace cnp = composit::numpy;

class Layer : public Module {
  public:
    Layer(int64_t from, int64_t to, uint32_t seed)
        : Module("Layer", {variable("x")},
                 {parameter("w", 0.5 * cnp::RandomState(seed).standard_normal(ir::Shape{from, to})),
                  parameter("b", cnp::zeros({to}))}) {}

  protected:
    Nodes call(const Nodes& x) const override {
        return {op::add(op::dot(x[0], param("w")), param("b"))};
    }
};

class Network : public Module {
  public:
    Network() : Module("Network", {variable("x")}), first(2, 8, 0), second(8, 1, 1) {}
    Layer first, second;

  protected:
    Nodes call(const Nodes& x) const override {
        return second(Nodes{op::map("tanh", {first(x)[0]})});
    }
};

Tensor points() { return cnp::array<double>({0, 0, 0, 1, 1, 0, 1, 1}, {4, 2}); }
Tensor targets() { return cnp::array<double>({0, 1, 1, 0}, {4, 1}); }

Tensor mean_square(const Tensor& result, const Tensor& wanted) {
    return cnp::mean(cnp::square(result - wanted));
}

TEST(CgTraining, LearnsXorWithTheNumbersOfStepsWrittenOut) {
    const Network network, twin;
    const nn::Optimizer optimizer = nn::adam({.learning_rate = 0.05});
    Training training(network, mean_square, optimizer);
    Tensors weights, state;
    std::vector<InputRef> places = {twin.first.param("w"), twin.first.param("b"),
                                    twin.second.param("w"), twin.second.param("b")};
    for (const InputRef& place : places) weights.push_back(place->value());
    for (const Array& array : evaluate(optimizer.initial_state(weights)))
        state.push_back(ir::constant(array));
    double loss = 0;
    for (int step = 0; step < 200; ++step) {
        loss = training.step({points()}, {targets()});
        if (step >= 5) continue;
        const Tensor hidden = cnp::tanh(cnp::dot(points(), weights[0]) + weights[1]);
        const Tensor wanted = mean_square(cnp::dot(hidden, weights[2]) + weights[3], targets());
        const nn::Updated made =
            optimizer.step(weights, nn::chain_rule({{wanted, wanted}}, weights), state);
        Tensors outputs = {wanted};
        for (const Tensors& more : {made.parameters, made.state})
            outputs.insert(outputs.end(), more.begin(), more.end());
        const std::vector<Array> values = evaluate(outputs);
        EXPECT_DOUBLE_EQ(loss, *values[0].data_as<double>()) << step;
        for (size_t i = 0; i < weights.size(); ++i) weights[i] = ir::constant(values[1 + i]);
        for (size_t i = 0; i < state.size(); ++i) state[i] = ir::constant(values[5 + i]);
    }
    EXPECT_LT(loss, 0.01);
    EXPECT_EQ(training.parameters().size(), 4u);
    const Array found = network(points()).value();
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(found.data_as<double>()[i], i == 1 || i == 2, 0.3) << i;
}

TEST(CgTraining, BatchesOfOtherShapesAreTakenInBetween) {
    const Network network;
    Training training(network, mean_square, nn::sgd({.learning_rate = 0.1}));
    const double first = training.step({points()}, {targets()});
    training.step({cnp::zeros({2, 2})}, {cnp::zeros({2, 1})});
    for (int step = 0; step < 50; ++step) training.step({points()}, {targets()});
    EXPECT_LT(training.step({points()}, {targets()}), first);
}

TEST(CgTraining, LossesOfNnAreTaken) {
    const Layer layer(2, 3, 4);
    Training training(
        layer, [](const Tensor& y, const Tensor& to) { return nn::cross_entropy(y, to); },
        nn::adamw());
    const Tensor labels = cnp::array<int64_t>({0, 1, 2, 0}, {4});
    const double first = training.step({points()}, {labels});
    double last = first;
    for (int step = 0; step < 100; ++step) last = training.step({points()}, {labels});
    EXPECT_LT(last, first);
}

class Nothing : public Module {
  public:
    Nothing() : Module("Nothing", {variable("x")}) {}

  protected:
    Nodes call(const Nodes& x) const override { return {op::square(x[0])}; }
};

TEST(CgTraining, RefusesWhatDoesNotFit) {
    const Nothing nothing;
    Training none(nothing, mean_square, nn::adam());
    EXPECT_EQ(
        refusal<ValueError>([&] { none.step({points()}, {targets()}); }),
        "Training: Nothing uses no parameters of a floating dtype. At least one is required.");
    const Network network;
    Training training(network, mean_square, nn::adam());
    EXPECT_EQ(refusal<ValueError>([&] { training.step({}, {targets()}); }),
              "Training: 0 tensors are given to Network, which has 1 inputs. One for each is "
              "required.");
    EXPECT_EQ(refusal<ValueError>([&] { training.step({points()}, {}); }),
              "Training: 0 tensors of targets are given to Network, whose loss takes one. One is "
              "required.");
    Training of_vectors(
        network, [](const Tensor& y, const Tensor& wanted) { return y - wanted; }, nn::adam());
    EXPECT_NE(refusal<TypeError>([&] { of_vectors.step({points()}, {targets()}); }),
              "nothing was refused");
}

TEST(CgTraining, OfParametersThatLaterStepsUseAndOfIndices) {
    class Choice : public Module {
      public:
        Choice()
            : Module("Choice", {variable("x")},
                     {parameter("first", 1.0), parameter("second", 2.0), parameter("which", 0)}) {}

      protected:
        Nodes call(const Nodes& x) const override {
            const Array which = evaluate(param("which")->value());
            const bool is_first = *which.data_as<int64_t>() == 0;
            return {op::multiply(x[0], param(is_first ? "first" : "second"))};
        }
    };
    const Choice choice;
    Training training(choice, mean_square, nn::sgd({.learning_rate = 0.25}));
    EXPECT_EQ(training.step({cnp::ones({1})}, {cnp::zeros({1})}), 1);
    EXPECT_EQ(number(choice.param("first")->value()), 0.5);
    EXPECT_EQ(training.parameters().size(), 2u);
    choice.param("which")->assign(1);
    EXPECT_EQ(training.step({cnp::ones({1})}, {cnp::zeros({1})}), 4);
    EXPECT_EQ(number(choice.param("second")->value()), 1);

    const BuiltModule hidden = Module::build("hidden",
                                             [](const Module& self, const Nodes& x) -> Nodes {
                                                 return {op::dot(x[0], self.param("w"))};
                                             },
                                             {variable("x")}, {parameter("w", vector({1, 2}))});
    bool is_used = false;
    const BuiltModule outer = Module::build("outer",
                                            [&](const Module& self, const Nodes& x) -> Nodes {
                                                const Nodes y = is_used ? hidden(x) : x;
                                                return {op::multiply(y[0], self.param("v"))};
                                            },
                                            {variable("x")}, {parameter("v", 1.0)});
    Training without(outer, mean_square, nn::sgd({.learning_rate = 0.1}));
    without.step({points()}, {cnp::zeros({4, 2})});
    is_used = true;
    const std::string said =
        refusal<ValueError>([&] { without.step({cnp::ones({3, 2})}, {cnp::zeros({3})}); });
    EXPECT_TRUE(said.starts_with("'w' is used, and no value is given for it. Values for all"))
        << said;
}

}  // namespace
}  // namespace composit::cg

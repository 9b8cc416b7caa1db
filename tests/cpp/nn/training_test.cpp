// chain_rule's meaning, and optimisers against their formulas in plain loops.
#include "composit/nn/training.h"

#include "../numpy/values.h"
#include "composit/nn/composing.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

#include <cmath>

namespace composit::nn {
namespace {

using numpy::array;
using numpy::expect_error;
using numpy::expect_near;
using numpy::expect_values;
using numpy::values;

TEST(chain_rule, an_output_paired_with_itself_means_ones) {
    const Tensor x = array<double>({1, 2, 3}), y = x * x;
    expect_values<double>(chain_rule({{y, y}}, {x})[0], {3}, {2, 4, 6});
    const Tensor loss = numpy::sum(y);
    expect_values<double>(chain_rule({{loss, loss}}, {x})[0], {3}, {2, 4, 6});
    const Tensor g = array<double>({1, 0, -1});
    expect_values<double>(chain_rule({{y, g}}, {x})[0], {3}, {2, 0, -6});
    expect_values<double>(chain_rule({{y, x}}, {x})[0], {3},
                          {2, 8, 18});  // another tensor: as given
}

TEST(chain_rule, several_outputs_and_inputs) {
    const Tensor x = array<double>({1, 2}), y = array<double>({3, 4}),
                 other = array<double>({1, 1});
    const Tensor a = x * y, b = x + y;
    const auto g = chain_rule({{a, a}, {b, b}}, {x, y, other});
    expect_values<double>(g[0], {2}, {4, 5});
    expect_values<double>(g[1], {2}, {2, 3});
    expect_values<double>(g[2], {2}, {0, 0});
    expect_values<double>(chain_rule({{a, a}}, {b})[0], {2}, {0, 0});
    expect_error<ValueError>([&] { (void)chain_rule({{a, numpy::ones({3})}}, {x}); },
                             "the incoming gradient has shape (3,)");
}

TEST(optimize, evaluates_and_keeps_names) {
    const Tensor w =
        ir::constant(ir::Array::of<double>(ir::DType::float64, {2}, {1., 2.}), "weight");
    const Tensor loss = numpy::sum(w * w);
    const auto g = chain_rule({{loss, loss}}, {w});
    const auto updated = optimize({w}, g, sgd_optimizer(0.25));
    EXPECT_TRUE(ir::is_constant(updated[0].node()));
    EXPECT_EQ(updated[0].name(), "weight");
    expect_values<double>(updated[0], {2}, {0.5, 1});
    expect_error<ValueError>([&] { (void)optimize({w}, {}, sgd_optimizer(1)); },
                             "1 parameters and 0 gradients");
    expect_error<ValueError>(
        [&] {
            (void)optimize({w}, g, sgd_optimizer(1),
                           [](const auto&) { return std::vector<ir::Array>(); });
        },
        "evaluate returned 0 values for 1 parameters");
}

// Three steps on f(p) = p^2 / 2, whose gradient is p, from p = 1.
double run(const Optimizer& optimizer) {
    std::vector<Tensor> parameters{array<double>({1})};
    std::vector<Tensor> state = optimizer.initial_state(parameters);
    for (int step = 0; step < 3; ++step) {
        Updated updated = optimizer.step(parameters, parameters, state);
        parameters = updated.parameters;
        state = updated.state;
    }
    return values<double>(parameters[0])[0];
}

TEST(optimizers, sgd_as_torch) {
    const double rate = 0.1, momentum = 0.9, decay = 0.01;
    for (const bool nesterov : {false, true}) {
        double p = 1, velocity = 0;
        for (int step = 0; step < 3; ++step) {
            const double g = p + decay * p;
            velocity = momentum * velocity + g;
            p -= rate * (nesterov ? g + momentum * velocity : velocity);
        }
        EXPECT_NEAR(run(sgd({rate, momentum, decay, nesterov})), p, 1e-15);
    }
    EXPECT_NEAR(run(sgd({.learning_rate = 0.1})), 0.9 * 0.9 * 0.9, 1e-15);
    expect_error<ValueError>([] { (void)sgd({.nesterov = true}); }, "requires a momentum");
}

TEST(optimizers, adam_and_adamw_as_torch) {
    const double rate = 0.1;
    const AdamOptions o{rate, 0.9, 0.99, 1e-8, 0.05};
    for (const bool is_decoupled : {false, true}) {
        double p = 1, m = 0, v = 0;
        for (int step = 1; step <= 3; ++step) {
            double g = p;
            if (is_decoupled)
                p *= 1 - rate * o.weight_decay;
            else
                g += o.weight_decay * p;
            m = o.beta1 * m + (1 - o.beta1) * g;
            v = o.beta2 * v + (1 - o.beta2) * g * g;
            const double scale = std::sqrt(v) / std::sqrt(1 - std::pow(o.beta2, step)) + o.epsilon;
            p -= rate / (1 - std::pow(o.beta1, step)) * m / scale;
        }
        EXPECT_NEAR(run(is_decoupled ? adamw(o) : adam(o)), p, 1e-14);
    }
}

TEST(optimizers, lion_as_its_paper) {
    const LionOptions o{0.1, 0.9, 0.99, 0.05};
    double p = 1, m = 0;
    for (int step = 0; step < 3; ++step) {
        const double g = p, mixed = o.beta1 * m + (1 - o.beta1) * g;
        p -= 0.1 * ((mixed > 0 ? 1.0 : -1.0) + o.weight_decay * p);
        m = o.beta2 * m + (1 - o.beta2) * g;
    }
    EXPECT_NEAR(run(lion(o)), p, 1e-15);
}

TEST(optimizers, rates_are_numbers_tensors_or_schedules) {
    const Schedule halved = step_schedule(0.1, 1, 0.5);
    EXPECT_NEAR(run(sgd({.learning_rate = halved})), 0.9 * 0.95 * 0.975, 1e-15);
    EXPECT_EQ(run(adagrad({.learning_rate = numpy::scalar(ir::DType::float64, 0.1)})),
              run(adagrad({.learning_rate = 0.1})));
    const Schedule own([](const Tensor& step) { return 0.1 / (step + 1); });
    EXPECT_NEAR(run(sgd({.learning_rate = own})), 0.9 * 0.95 * (1 - 0.1 / 3), 1e-15);
    EXPECT_EQ(own.at(3), 0.025);
}

TEST(optimizers, options_are_checked) {
    expect_error<ValueError>([] { (void)adam({.learning_rate = -1.0}); },
                             "adam: learning_rate is -1");
    expect_error<ValueError>([] { (void)adamw({.beta2 = 1}); }, "adamw: beta2 is 1");
    expect_error<ValueError>(
        [] { (void)sgd({.momentum = 0.5, .nesterov = true, .dampening = 0.1}); }, "no dampening");
    expect_error<TypeError>([] { (void)adam().initial_state({array<int64_t>({1})}); },
                            "parameter 0 is int64");
    const std::vector<Tensor> p{array<float>({1, 2})}, q{array<float>({1})};
    expect_error<ValueError>([&] { (void)lion().step(p, q, lion().initial_state(p)); },
                             "gradient 0 has shape (1,), its parameter (2,)");
    expect_error<ValueError>([&] { (void)lion().step(p, p, q); }, "lion: tensor 0 of the state");
}

TEST(clipping, by_value_and_by_the_norm_of_all) {
    const std::vector<Tensor> g{array<double>({3, 0}), array<double>({-4})};
    expect_values<double>(clip_by_value(g, 1)[1], {1}, {-1});
    expect_values<double>(global_norm(g), {}, {5});
    expect_values<double>(global_norm(g, INFINITY), {}, {4});
    const Clipped clipped = clip_by_global_norm(g, 1);
    expect_near(clipped.gradients[0], {2}, {3 / (5 + 1e-6), 0}, 1e-15);
    expect_values<double>(clip_by_global_norm(g, 6).gradients[0], {2}, {3, 0});
    expect_error<ValueError>([&] { (void)clip_by_value(g, 0); }, "limit is 0");
}

TEST(composing, every_second_step_with_the_mean) {
    const Optimizer optimizer = accumulating(sgd({.learning_rate = 1.0}), 2);
    std::vector<Tensor> p{array<double>({1})}, state = optimizer.initial_state(p);
    const std::vector<double> expected{1, -2, -2, -5};
    for (int step = 0; step < 4; ++step) {
        const Updated updated =
            optimizer.step(p, {array<double>({step % 2 == 0 ? 2.0 : 4.0})}, state);
        p = updated.parameters;
        state = updated.state;
        expect_values<double>(p[0], {1}, {expected[static_cast<size_t>(step)]});
    }
}

TEST(composing, steps_that_overflow_are_left_out) {
    const Optimizer optimizer = loss_scaling(sgd({.learning_rate = 1.0}), {.initial = 8});
    const std::vector<Tensor> p{array<float>({1})}, state = optimizer.initial_state(p);
    expect_values<float>(scale_loss(array<float>({2}), state), {1}, {16});
    const Updated made = optimizer.step(p, {array<float>({4})}, state),
                  left_out = optimizer.step(p, {array<float>({INFINITY})}, state);
    expect_values<float>(made.parameters[0], {1}, {0.5});
    expect_values<float>(left_out.parameters[0], {1}, {1});
    expect_values<float>(left_out.state[0], {}, {4});
}

TEST(optimizers, parameters_keep_their_dtype) {
    const std::vector<Tensor> p{array<float>({1, 2})};
    const Optimizer optimizer = adam();
    const Updated updated = optimizer.step(p, p, optimizer.initial_state(p));
    EXPECT_EQ(updated.parameters[0].dtype(), ir::DType::float32);
    EXPECT_EQ(updated.state[1].dtype(), ir::DType::float32);
    expect_values<int64_t>(updated.state[0], {}, {1});
    expect_error<ValueError>([&] { (void)optimizer.step(p, p, {}); }, "the state has 0 tensors");
}

}  // namespace
}  // namespace composit::nn

// composit::aten trains: a rule, a schedule and a loss, as a C++ program writes them.
#include "composit/nn/training.h"

#include "composit/aten/loss_scaling.h"
#include "composit/aten/losses.h"
#include "composit/aten/optimizers.h"
#include "composit/aten/schedulers.h"
#include "composit/base/assertion_error.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace composit;
using aten::number;
using ir::DType;
using ir::Tensor;

struct Line {
    Tensor x = numpy::array<double>({0, 1, 2, 3}, {4, 1}), y = x * 2.0 + 1.0;

    [[nodiscard]] Tensor loss(const std::vector<Tensor>& p) const {
        return aten::mse_loss(numpy::matmul(x, p[0]) + p[1], y);
    }
};

std::vector<Tensor> start() {
    return {numpy::zeros({1, 1}, DType::float64, "slope"),
            numpy::zeros({1}, DType::float64, "offset")};
}

double loss_after(const aten::Rule& rule, double rate, int steps) {
    const Line line;
    aten::Optimizer optimizer(start(), rule, rate);
    const aten::Schedule schedule = aten::step_lr(100, 0.5);
    for (int i = 1; i <= steps; ++i) {
        const Tensor loss = line.loss(optimizer.parameters());
        optimizer.step(
            nn::chain_rule({{loss, numpy::ones({}, DType::float64)}}, optimizer.parameters()));
        optimizer.learning_rate = schedule.next(optimizer.learning_rate, rate, i).value();
    }
    return number(line.loss(optimizer.parameters()));
}

TEST(aten_training, options_have_bounds) {
    const auto message = [](const char* optimizer, const aten::Options& options) -> std::string {
        try {
            aten::check_optimizer_options(optimizer, options);
        } catch (const ValueError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message("adam", {{"lr", 1e-3}, {"betas[0]", 0.9}, {"betas[1]", 0.999}}), "");
    EXPECT_EQ(message("adam", {{"lr", -1}}), "Invalid learning rate: -1");
    EXPECT_EQ(message("adam", {{"betas[1]", 1.0}}), "Invalid beta parameter at index 1: 1.0");
    EXPECT_EQ(message("rprop", {{"etas[0]", 0.5}, {"etas[1]", 0.9}}),
              "Invalid eta values: 0.5, 0.9");
    EXPECT_EQ(message("asgd", {{"alpha", -1}}), "");  // PyTorch looks at RMSprop's
}

TEST(aten_training, cycles_are_of_positive_lengths) {
    EXPECT_EQ(aten::cycle_steps({}, 3, 4), 12);
    EXPECT_THROW((void)aten::cycle_steps({}, 3), ValueError);
    EXPECT_THROW((void)aten::cycle_steps(2.5), ValueError);
    EXPECT_THROW((void)aten::one_cycle(10, 1.5), ValueError);
    EXPECT_THROW((void)aten::restart_at(-1, 2, 1), ValueError);
    EXPECT_THROW(aten::check_restarts(0, 1), ValueError);
    EXPECT_EQ(aten::reduced_rate(0.1, 0.5, 0, 1e-8), 0.05);
    EXPECT_EQ(aten::reduced_rate(0.1, 0.5, 0.1, 1e-8), 0.1);
    EXPECT_EQ(aten::averaging_rate(0.1, 0.05, 0, 1), 0.05);
    EXPECT_THROW((void)aten::plateau_options(1, "min", "rel", 0), ValueError);
}

TEST(aten_training, fits_a_line) {
    EXPECT_LT(loss_after(aten::adam(), 0.1, 300), 1e-3);
    EXPECT_LT(loss_after(aten::sgd({.momentum = 0.9}), 0.02, 200), 1e-3);
    EXPECT_LT(loss_after(aten::radam(), 0.3, 200), 0.1);
    EXPECT_LT(loss_after(aten::rprop({.first_size = 0.1}), 0.1, 60), 1e-2);
}

TEST(aten_training, every_rule_goes_down) {
    const double before = number(Line().loss(start()));
    const std::vector<aten::Rule> rules{
        aten::nadam(),    aten::adamax(), aten::rmsprop({.momentum = 0.5, .centered = true}),
        aten::adagrad(),  aten::asgd(),   aten::adam({.amsgrad = true}),
        aten::adafactor()};
    for (const aten::Rule& rule : rules) EXPECT_LT(loss_after(rule, 0.05, 20), before);
    EXPECT_LT(loss_after(aten::adadelta(), 1.0, 20), before);
}

TEST(aten_training, first_step_of_adam_is_the_rate) {
    aten::Optimizer optimizer({numpy::array<double>({3})}, aten::adam(), 0.25);
    optimizer.step({numpy::array<double>({-8})});
    EXPECT_NEAR(number(optimizer.parameters()[0]), 3.25, 1e-9);
    EXPECT_NEAR(number(optimizer.state(0).at("exp_avg")), -0.8, 1e-15);
}

TEST(aten_training, directions_of_muon_are_orthogonal) {
    aten::Optimizer optimizer({numpy::zeros({2, 2}, DType::float32)},
                              aten::muon({.weight_decay = 0}), 1.0);
    optimizer.step({numpy::array<float>({3, 0, 0, 4}, {2, 2})});
    const ir::Array moved = execute::evaluate({optimizer.parameters()[0]})[0];
    EXPECT_NEAR(moved.data_as<float>()[0], -1, 0.35);
    EXPECT_EQ(moved.data_as<float>()[1], 0);
}

TEST(aten_training, schedules_go_forward_to_their_closed_forms) {
    const std::vector<aten::Schedule> schedules{aten::step_lr(3),
                                                aten::multi_step_lr({2, 5, 5}),
                                                aten::exponential_lr(0.9),
                                                aten::constant_lr(),
                                                aten::linear_lr(),
                                                aten::polynomial_lr(6, 1.5),
                                                aten::cosine_annealing_lr(7, 1e-3)};
    for (const aten::Schedule& schedule : schedules) {
        aten::Number rate = 0.5;
        for (int epoch = 0; epoch < 6; ++epoch) {
            rate = schedule.next(rate, 0.5, epoch);
            EXPECT_NEAR(rate.value(), schedule.at(0.5, epoch).value(), 1e-12);
        }
    }
}

TEST(aten_training, rates_may_be_tensors) {
    const Tensor rate = numpy::scalar(DType::float64, 0.5);
    EXPECT_EQ(number(aten::exponential_lr(0.5).next(rate, rate, 1).operand()), 0.25);
    aten::KeptNumbers kept;
    EXPECT_FALSE(aten::adam().numbers(rate, kept)[2].is_known());
    EXPECT_EQ(kept.at("step").value(), 1);
}

TEST(aten_training, plateaus_reduce_after_patience) {
    aten::Plateau seen{INFINITY};
    const aten::PlateauOptions options{.patience = 1, .cooldown = 1};
    std::vector<bool> reduced;
    for (const double metric : {3.0, 3.0, 3.0, 3.0, 3.0, 3.0})
        reduced.push_back(aten::reduces(seen, metric, options));
    EXPECT_EQ(reduced, (std::vector<bool>{false, false, true, false, false, true}));
}

TEST(aten_training, cycles_go_from_low_to_high) {
    EXPECT_EQ(aten::cycled(0.1, 0.5, 0.5, 1).value(), 0.1 + (0.5 - 0.1) * 0.5);
    EXPECT_EQ(aten::scale_mode("triangular2", "iterations", false), "cycle");
    EXPECT_EQ(aten::scale_mode("exp_range", "cycle", false), "iterations");
    EXPECT_EQ(aten::scale_mode("", "iterations", true), "iterations");
    EXPECT_THROW((void)aten::scale_mode("square", "cycle", false), ValueError);
    EXPECT_TRUE(aten::is_cosine_of_averages("cos"));
    EXPECT_THROW((void)aten::is_cosine_of_averages("sine"), ValueError);
}

TEST(aten_training, scales_grow_unless_gradients_overflow) {
    aten::LossScale scale({.initial = 4, .growth_interval = 2});
    std::vector<Tensor> gradients{numpy::array<double>({8, 4}, {2}), numpy::zeros({1})};
    EXPECT_TRUE(scale.unscale(gradients));
    EXPECT_EQ(number(gradients[0]), 2);
    scale.update();
    EXPECT_EQ(scale.value(), 4);
    scale.note(true);
    scale.update();
    EXPECT_EQ(scale.value(), 8);
    gradients[0] = numpy::array<double>({1, INFINITY}, {2});
    EXPECT_FALSE(scale.unscale(gradients));
    scale.note(true);  // another optimiser's
    scale.update();
    EXPECT_EQ(scale.value(), 4);
    EXPECT_THROW(scale.update(), AssertionError);
    EXPECT_THROW(aten::LossScale({.growth_factor = 1}), AssertionError);
    EXPECT_THROW(aten::LossScale({.backoff_factor = 1}), AssertionError);
    EXPECT_EQ(number(aten::all_finite({})), 1);
}

std::string message_of(const std::function<void()>& function) {
    try {
        function();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(aten_training, errors_name_what_is_required) {
    EXPECT_EQ(message_of([] { (void)aten::Optimizer({}, aten::sgd(), 0.1); }),
              "Optimizer: an empty list of parameters. One is required.");
    EXPECT_EQ(message_of([] { (void)aten::Optimizer(start(), aten::sgd(), -1); }),
              "Optimizer: the learning rate is -1. A number from 0 is required.");
    aten::Optimizer optimizer(start(), aten::sgd(), 0.1);
    EXPECT_EQ(message_of([&] { optimizer.step({}); }),
              "Optimizer: 0 gradients of 2 parameters. One of each is required.");
    EXPECT_EQ(message_of([] { (void)aten::reduction_from("most"); }),
              "most is not a valid value for reduction");
}

}  // namespace

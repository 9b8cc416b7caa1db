// Imperative programs in many threads at once, each over variables of its own and constants that
// all share: a look of one computes what the others hold, too.
#include "composit/eager/operators.h"
#include "composit/numpy/reductions.h"

#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace composit::eager {
namespace {

using ir::DType;
using numpy::Slice;

constexpr int thread_count = 4;

// work(t) of all threads, which begin at the same moment.
std::vector<std::vector<double>> at_once(const std::function<std::vector<double>(int)>& work) {
    std::vector<std::vector<double>> results(thread_count);
    std::barrier start(thread_count);
    std::vector<std::jthread> threads;
    for (int t = 0; t < thread_count; ++t)
        threads.emplace_back([&, t] {
            start.arrive_and_wait();
            results[static_cast<size_t>(t)] = work(t);
        });
    threads.clear();
    return results;
}

Array line(int64_t length, double first) {
    Array array(DType::float64, {length});
    for (int64_t i = 0; i < length; ++i)
        static_cast<double*>(array.mutable_data())[i] = first + 0.25 * static_cast<double>(i);
    return array;
}

std::vector<double> values_of(const Variable& x) {
    const Array value = x.value();
    return {value.data_as<double>(), value.data_as<double>() + value.size()};
}

// Elements, slices, views of views, masks, copies and looks.
std::vector<double> written(const Variable& shared, int seed) {
    const Variable x(line(12, seed)), y = x.copied(), part = x.at({Slice{2, 10, 2}});
    const Variable inner = part.at({Slice{1, {}, {}}});
    for (int64_t i = 0; i < 40; ++i) {
        x.at({i % 12}).assign(y.at({(i + 1) % 12}).number() * 0.5);
        part += shared.at({Slice{0, 4, {}}});
        inner *= 0.75;
        y.assign(x * 0.5 + shared * 0.25);
        const Variable few = x < 1.5;
        y.at({few.tensor()}).assign(0.125);
        x.at({few.tensor()}) += 0.5;
        if (y.at({i % 12}).number() > 3) swap(x.at({0}), x.at({1}));
    }
    std::vector<double> all = values_of(x);
    for (double value : values_of(y)) all.push_back(value);
    return all;
}

// A parameter that is trained by hand.
std::vector<double> trained(const Variable& shared, int seed) {
    const Variable w = Variable::parameter(line(12, seed));
    for (int i = 0; i < 20; ++i) {
        const Variable loss =
            apply([](const Tensor& x) { return numpy::sum(x); }, (w - shared) * (w - shared) * 0.5);
        loss.backward();
        w.detached().assign(w.detached() - Variable(*w.gradient()) * 0.25);
        w.forget_gradient();
    }
    return values_of(w);
}

TEST(Variables, of_threads_are_apart) {
    for (const auto& program : {&written, &trained}) {
        std::vector<std::vector<double>> alone;
        const Variable shared(line(12, 0.5));
        for (int t = 0; t < thread_count; ++t) alone.push_back(program(shared, t));
        for (int round = 0; round < 3; ++round) {
            const Tensor constant = ir::constant(line(12, 0.5));
            EXPECT_EQ(at_once([&](int t) { return program(Variable(constant), t); }), alone);
        }
    }
}

TEST(Variables, threads_look_at_one_tensor) {
    for (int round = 0; round < 20; ++round) {
        const Tensor sum =
            numpy::apply("add", {ir::constant(line(12, round)), ir::constant(line(12, 1))});
        const std::vector<double> expected = values_of(Variable(sum * 2.0));
        const auto found = at_once([&](int t) {
            const Variable own(sum), doubled = own * 2.0;
            return t % 2 == 0 ? values_of(doubled) : values_of(own + own);
        });
        for (const std::vector<double>& each : found) EXPECT_EQ(each, expected);
    }
}

}  // namespace
}  // namespace composit::eager

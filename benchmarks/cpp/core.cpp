// What the core costs without Python: making nodes, a planned evaluation, a compiled call, a
// product. Run by `make bench`.
#include "composit/composit.h"

#include <benchmark/benchmark.h>

#include <vector>

namespace {

namespace cnp = composit::numpy;
using composit::Array;
using composit::Tensor;

Tensor numbers(const composit::Shape& shape) {
    cnp::RandomState random(0);
    const Tensor drawn = random.normal(0, 1, shape);
    return cnp::asarray(composit::evaluate(cnp::astype(drawn, composit::DType::float32)));
}

Tensor chain(Tensor x, int64_t length) {
    for (int64_t i = 0; i < length; ++i) x = cnp::sin(x);
    return x;
}

// A chain of nodes, made and freed; the time is of one node.
void make_nodes(benchmark::State& state) {
    const Tensor x = cnp::zeros({4});
    const int64_t length = state.range(0);
    for (auto _ : state) benchmark::DoNotOptimize(chain(x, length));
    state.SetItemsProcessed(state.iterations() * length);
}
BENCHMARK(make_nodes)->Arg(10)->Arg(1000);

// A graph that is built anew each time and whose plan is found by its structure.
void evaluate_planned(benchmark::State& state) {
    const Tensor x = numbers({state.range(0)});
    for (auto _ : state)
        benchmark::DoNotOptimize(
            composit::evaluate(cnp::exp(x + 1.0f) * cnp::tanh(x), {.threads = 1}));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(evaluate_planned)->Arg(100)->Arg(100000);

// The same function, compiled once.
void call_compiled(benchmark::State& state) {
    const Tensor x = numbers({state.range(0)});
    const auto f = [](const Tensor& a) { return cnp::exp(a + 1.0f) * cnp::tanh(a); };
    const auto compiled = composit::compile(f, {.backend = "cpp", .threads = 1}, x);
    const std::vector<Array> arguments{composit::evaluate(x)};
    for (auto _ : state) benchmark::DoNotOptimize(compiled(arguments));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(call_compiled)->Arg(100)->Arg(100000);

// Square matrices; the counter is floating-point operations per second.
void matmul(benchmark::State& state) {
    const int64_t n = state.range(0);
    const Tensor a = numbers({n, n}), b = numbers({n, n});
    const auto product = [](const Tensor& x, const Tensor& y) { return cnp::matmul(x, y); };
    const auto compiled = composit::compile(product, {.backend = "cpp", .threads = 1}, a, b);
    const std::vector<Array> arguments{composit::evaluate(a), composit::evaluate(b)};
    for (auto _ : state) benchmark::DoNotOptimize(compiled(arguments));
    state.counters["FLOP/s"] = benchmark::Counter(
        static_cast<double>(2 * n * n * n * state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(matmul)->Arg(256);

}  // namespace

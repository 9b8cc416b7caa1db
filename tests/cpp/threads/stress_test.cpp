// Many threads build graphs, plan, evaluate, compile, call and register at once: what `make tsan`
// watches. Each compares what it gets with what one thread alone got.
#include "composit/composit.h"
#include "composit/execute/execute.h"
#include "composit/ir/operation.h"
#include "composit/runtime/backend.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>
#include <unistd.h>

namespace composit {
namespace {

namespace fs = std::filesystem;
using execute::Compiled;
using execute::Options;
using Bytes = std::string;

constexpr int thread_count = 8;

Bytes bytes_of(const Array& array) {
    return {array.data_as<char>(), static_cast<size_t>(array.bytes())};
}

Array numbers(ir::Shape shape, float first) {
    Array array(DType::float32, std::move(shape));
    auto* element = static_cast<float*>(array.mutable_data());
    for (int64_t i = 0; i < array.size(); ++i) element[i] = first + static_cast<float>(i % 97) / 64;
    return array;
}

Tensor leaf(ir::Shape shape, float first = 0) {
    return ir::constant(numbers(std::move(shape), first));
}

// Calls work(t) on all threads at the same moment; returns when all are done.
void at_once(const std::function<void(int)>& work) {
    std::barrier start(thread_count);
    std::vector<std::jthread> threads;
    for (int t = 0; t < thread_count; ++t)
        threads.emplace_back([&, t] {
            start.arrive_and_wait();
            work(t);
        });
}

// Graphs of different structure.
using Graph = std::function<Tensor(const Tensor&)>;
const std::vector<Graph>& graphs() {
    static const std::vector<Graph> all = {
        [](const Tensor& x) { return numpy::exp(x) + x; },
        [](const Tensor& x) { return numpy::sum(x * x, {{0}}); },
        [](const Tensor& x) { return numpy::matmul(x, numpy::swapaxes(x, 0, 1)); },
        [](const Tensor& x) { return numpy::cumsum(numpy::tanh(x), 1); },
        [](const Tensor& x) { return numpy::max(numpy::sqrt(numpy::abs(x)), {{1}}, true) - x; },
    };
    return all;
}

Bytes evaluated(const Tensor& tensor, int threads = 1) {
    Options options;
    options.threads = threads;
    return bytes_of(execute::evaluate({tensor}, options)[0]);
}

std::vector<Bytes> expected_of_graphs(const Tensor& x) {
    std::vector<Bytes> expected;
    for (const Graph& graph : graphs()) expected.push_back(evaluated(graph(x)));
    return expected;
}

TEST(ManyThreads, EvaluateTheSamePlansAndOthers) {
    const Tensor x = leaf({48, 64});
    const std::vector<Bytes> expected = expected_of_graphs(x);
    execute::clear_plans();
    std::atomic<int> wrong{0};
    at_once([&](int t) {
        for (size_t i = 0; i < 12; ++i) {
            const size_t k = (static_cast<size_t>(t) / 2 + i) % graphs().size();
            // Other numbers of threads are other plans.
            wrong += evaluated(graphs()[k](x), 1 + static_cast<int>(i) % 3) != expected[k];
            if (t == 0 && i % 4 == 3) execute::clear_plans();
        }
    });
    EXPECT_EQ(wrong, 0);
}

TEST(ManyThreads, FreeGraphsThatTheyShare) {
    const Tensor shared = numpy::exp(leaf({16, 16}));
    const Bytes expected = evaluated(shared + 1.0);
    std::atomic<int> wrong{0};
    at_once([&](int) {
        for (int i = 0; i < 10; ++i) {
            Tensor grown = shared;
            for (int k = 0; k < 200; ++k) grown = grown * 0.5;
            grown = {};
            wrong += evaluated(shared + 1.0) != expected;
        }
    });
    EXPECT_EQ(wrong, 0);
}

// A name goes with the last node that bears it, while others may be about to bear it.
TEST(ManyThreads, NameTheirNodesAlike) {
    std::atomic<int> wrong{0};
    at_once([&](int) {
        for (int i = 0; i < 5000; ++i) {
            const std::string name = "layer " + std::to_string(i % 3);
            const Tensor x = ir::input(name, DType::float32, {2});
            const Tensor y = ir::input(name, DType::float32, {3});
            wrong += x.name() != name || &x.name() != &y.name();
        }
    });
    EXPECT_EQ(wrong, 0);
}

// Weights large enough to be packed.
struct Layer {
    Tensor weight = leaf({96, 256}, -1), bias = leaf({256}, 1);

    Tensor operator()(const Tensor& x) const {
        return numpy::tanh(numpy::matmul(x, weight) + bias);
    }
    Compiled compiled(const Options& options, int64_t rows) const {
        const Tensor x = ir::input("x", DType::float32, {rows, 96});
        return {"layer", {x}, {(*this)(x)}, options};
    }
};

// As many threads as `compilers` compile, all evaluate.
void compile_at_once(const Options& options, int rounds, int compilers) {
    const Array x = numbers({24, 96}, 0);
    const Bytes expected = evaluated(Layer()(ir::constant(x)));
    std::atomic<int> wrong{0};
    for (int round = 0; round < rounds; ++round) {
        const Layer layer;
        at_once([&](int t) {
            Options own = options;
            own.threads = 1 + t % 3;
            if (t < compilers) {
                const Compiled f = layer.compiled(own, 24);
                wrong += bytes_of(f({x})[0]) != expected;
                wrong += f.passes().empty() || f.plan().empty();
            }
            // Reads the weights as they were given, while others give that order up.
            wrong += evaluated(layer(ir::constant(x)), own.threads) != expected;
        });
    }
    EXPECT_EQ(wrong, 0);
}

TEST(ManyThreads, CompileTheSameWeightsForTheInterpreter) { compile_at_once({}, 6, thread_count); }

TEST(ManyThreads, CompileTheSameWeightsAsCode) {
    const fs::path folder =
        fs::temp_directory_path() / ("composit_threads_" + std::to_string(getpid()));
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::owner_all);
    Options options;
    options.backend = "cpp";
    options.cache_folder = folder;
    compile_at_once(options, 2, 2);  // the second time from the cache
    fs::remove_all(folder);
}

void call_at_once(const Options& options) {
    const Array x = numbers({64, 96}, 0), y = numbers({64, 96}, 3);
    const Layer layer;
    const Compiled f = layer.compiled(options, 64);
    const Bytes of_x = bytes_of(f({x})[0]), of_y = bytes_of(f({y})[0]);
    EXPECT_EQ(of_x, evaluated(layer(ir::constant(x))));
    std::atomic<int> wrong{0};
    at_once([&](int t) {
        for (int i = 0; i < 20; ++i)
            wrong += (t + i) % 2 ? bytes_of(f({x})[0]) != of_x : bytes_of(f({y})[0]) != of_y;
        wrong += f.passes().empty();
    });
    EXPECT_EQ(wrong, 0);
}

TEST(ManyThreads, CallOneFunctionOfTheInterpreter) {
    for (int threads : {1, 2, 4}) {
        Options options;
        options.threads = threads;
        call_at_once(options);
    }
}

TEST(ManyThreads, CallOneFunctionOfCode) {
    Options options;
    options.backend = "cpp";
    options.threads = 3;
    call_at_once(options);
}

TEST(ManyThreads, RegisterWhileOthersEvaluate) {
    const Tensor x = leaf({32, 64});
    const std::vector<Bytes> expected = expected_of_graphs(x);
    std::atomic<int> wrong{0};
    at_once([&](int t) {
        for (int i = 0; i < 8; ++i) {
            const size_t k = static_cast<size_t>(t + i) % graphs().size();
            if (t % 2 == 0) {
                wrong += evaluated(graphs()[k](x), 2) != expected[k];
                continue;
            }
            ir::scalar::Row row;
            row.name = "threads_row_" + std::to_string(t) + "_" + std::to_string(i);
            row.types = ir::scalar::types::inexact;
            row.doc = "x * 3";
            row.value = [](const std::vector<ir::scalar::Expr>& given) { return given[0] * 3.0; };
            ir::scalar::register_row(row);
            wrong += evaluated(numpy::apply(row.name, {x})) != evaluated(x * 3.0);
            wrong += evaluated(grad([&](const Tensor& at) {
                         return numpy::sum(numpy::apply(row.name, {at}));
                     })(x)) != evaluated(numpy::full({32, 64}, 3.0, DType::float32));
            wrong += runtime::backend_names().empty() || ir::all_operations().empty();
        }
    });
    EXPECT_EQ(wrong, 0);
}

// Element i at place (i + by) % length.
ir::Arrangement rotated(int64_t by, int64_t length) {
    const auto move = [=](const void* from, void* to, int64_t steps) {
        const auto* source = static_cast<const float*>(from);
        auto* target = static_cast<float*>(to);
        for (int64_t i = 0; i < length; ++i) target[(i + steps) % length] = source[i];
    };
    return {std::to_string(by), length * 4, [=](const void* from, void* to) { move(from, to, by); },
            [=](const void* from, void* to) { move(from, to, length - by); }};
}

TEST(ManyThreads, ReadAndArrangeOneConstant) {
    constexpr int64_t length = 5000;
    const Bytes given = bytes_of(numbers({length}, 0));
    std::atomic<int> wrong{0};
    for (int round = 0; round < 20; ++round) {
        const ir::ConstantArray constant = numbers({length}, 0);
        at_once([&](int t) {
            for (int i = 0; i < 8; ++i) {
                const int64_t by = 1 + (t + i) % 3;
                const auto order = constant.arranged(rotated(by, length));
                wrong += std::memcmp(static_cast<const float*>(order.get()) + by, given.data(),
                                     given.size() - static_cast<size_t>(by) * 4) != 0;
                wrong += bytes_of(constant.value()) != given;
                if (t % 2 == 0)
                    wrong +=
                        std::memcmp(constant.row_major().get(), given.data(), given.size()) != 0;
            }
        });
    }
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace composit

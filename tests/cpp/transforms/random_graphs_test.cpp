// Random graphs over special values: simplification, fusion, buffer reuse, threads, and a trip
// through text must not change a bit.
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/ir/parse.h"
#include "composit/ir/print.h"
#include "composit/ir/verify.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace composit::transforms {
namespace {

using ir::Array;
using ir::DType;
using ir::Shape;
using ops::Axes;
using ops::Combiner;

// Builds graphs by applying random primitives to random earlier tensors.
class Generator {
  public:
    explicit Generator(unsigned seed) : random_(seed) {
        for (const Shape& shape : {Shape{3, 4}, Shape{2, 3, 4}, Shape{4}, Shape{}, Shape{0, 2}})
            floats_.push_back(leaf(shape));
    }

    std::vector<Tensor> graph(int operations) {
        for (int i = 0; i < operations; ++i) {
            try {
                step();
            } catch (const Error&) {  // shapes that do not fit: another try
            }
        }
        std::vector<Tensor> outputs(floats_.end() - std::min<long>(12, std::ssize(floats_)),
                                    floats_.end());
        for (const Tensor& tensor : others_) outputs.push_back(tensor);
        return outputs;
    }

  private:
    int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
    const Tensor& any() { return floats_[static_cast<size_t>(below(std::ssize(floats_)))]; }
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[below(std::ssize(values))];
    }

    Tensor leaf(const Shape& shape) {
        const float inf = std::numeric_limits<float>::infinity();
        const float special[] = {0.0f,  -0.0f, inf,  -inf,   std::nanf(""), 1e-45f, -1e-40f,
                                 3e38f, 1.0f,  0.1f, -2.75f, 1e10f,         7.5f,   -1.0f};
        Array array(DType::float32, shape);
        for (int64_t i = 0; i < array.size(); ++i) {
            const bool is_special = below(3) == 0;
            static_cast<float*>(array.mutable_data())[i] =
                is_special ? special[below(std::ssize(special))]
                           : static_cast<float>(below(2001) - 1000) / 64;
        }
        return ir::constant(array);
    }

    Tensor small(Tensor x) {  // keeps sizes bounded
        return x.size() > 2000 ? ops::reduce(Combiner::maximum, x, {0}) : x;
    }

    void step() {
        const Tensor x = any();
        const int rank = x.rank();
        const int64_t axis = rank > 0 ? below(rank) : 0;
        switch (below(14)) {
            case 0:
            case 1:
                return keep(ops::map(
                    one_of({"negative", "absolute", "floor", "exp", "sqrt", "positive"}), {x}));
            case 2:
            case 3:
            case 4:
                return keep(ops::map(one_of({"add", "multiply", "subtract", "maximum", "minimum"}),
                                     {x, any()}));
            case 5:
                return keep(
                    ops::map("where", {ops::map("less", {x, any()}), any(), ir::weak_scalar(0.5)}));
            case 6:
                return keep(
                    ops::reshape(x, one_of({Shape{x.size()}, Shape{1, x.size()}, x.shape()})));
            case 7: return keep(ops::transpose(x, shuffled(rank)));
            case 8: return keep(sliced(x));
            case 9: return reduced(x, axis);
            case 10: return keep(ops::broadcast_to(x, with(below(3) + 1, x.shape())));
            case 11: return rank == 0 ? void() : keep(ops::concatenate({x, x, any()}, axis));
            case 12: return moved(x, axis);
            case 13: return keep(ops::astype(ops::astype(x, DType::float64), DType::float32));
        }
    }

    void keep(const Tensor& x) { floats_.push_back(small(x)); }

    static Shape with(int64_t first, Shape shape) {
        shape.insert(shape.begin(), first);
        return shape;
    }

    Axes shuffled(int rank) {
        Axes axes;
        for (int d = 0; d < rank; ++d) axes.push_back(d);
        std::shuffle(axes.begin(), axes.end(), random_);
        return axes;
    }

    Tensor sliced(const Tensor& x) {
        Axes starts, lengths, steps;
        for (int64_t n : x.shape()) {
            const int64_t step = one_of<int64_t>({1, 1, 2, -1, -2});
            const int64_t start = n == 0 ? 0 : below(n);
            const int64_t room =
                n == 0 ? 0 : (step > 0 ? n - 1 - start : start) / std::abs(step) + 1;
            starts.push_back(start);
            steps.push_back(step);
            lengths.push_back(room == 0 ? 0 : below(room) + 1);
        }
        return ops::slice(x, starts, lengths, steps);
    }

    void reduced(const Tensor& x, int64_t axis) {
        if (x.rank() == 0) return;
        switch (below(5)) {
            case 0: return keep(ops::reduce(Combiner::sum, x, {axis}, below(2) == 0));
            case 1: return keep(ops::reduce(Combiner::minimum, x, {axis}));
            case 2: return keep(ops::scan(Combiner::sum, x, axis));
            case 3: others_.push_back(ops::reduce(Combiner::argmax, x, {axis})); return;
            case 4: {
                const Axes first{x.rank() - 1}, none;
                return keep(small(ops::contract(x, x, {none, none, first, first})));
            }
        }
    }

    void moved(const Tensor& x, int64_t axis) {
        if (x.rank() == 0 || x.size() == 0) return;
        const int64_t n = x.shape()[static_cast<size_t>(axis)];
        const Axes zeros(x.shape().size(), 0);
        Axes low = zeros;
        switch (below(4)) {
            case 0:
                low[static_cast<size_t>(axis)] = one_of<int64_t>({-1, 1, 2});
                return keep(ops::pad(x, ir::constant(Array::scalar(DType::float32, -0.0)), low,
                                     zeros, zeros));
            case 1: return keep(ops::split(x, {1, n - 1}, axis)[static_cast<size_t>(below(2))]);
            case 2: {
                const Tensor index =
                    ir::constant(Array::of<int64_t>(DType::int64, {2}, {below(n), -1 - below(n)}));
                return keep(ops::gather(x, {index}, {axis}));
            }
            case 3: {
                const Tensor all = ops::windows(x, {1 + below(x.shape().back())}, {1}, {1});
                return keep(small(ops::fold(all, {x.shape().back()}, {1}, {1})));
            }
        }
    }

    std::mt19937 random_;
    std::vector<Tensor> floats_, others_;
};

template <class T>
bool equal_elements(const Array& a, const Array& b) {
    for (int64_t i = 0; i < a.size(); ++i) {
        const T x = a.data_as<T>()[i], y = b.data_as<T>()[i];
        if (std::memcmp(&x, &y, sizeof x) != 0 && !(x != x && y != y)) return false;
    }
    return true;
}

bool equal_bits(const Array& a, const Array& b) {
    if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
    return a.dtype() == DType::float32 ? equal_elements<float>(a, b)
                                       : equal_elements<int64_t>(a, b);
}

void expect_equal(const std::vector<Array>& a, const std::vector<Array>& b,
                  const std::string& what) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
        ASSERT_TRUE(equal_bits(a[i], b[i])) << what << ", output " << i;
}

// Node by node: no simplification, fusion or reuse can matter.
std::vector<Array> one_at_a_time(const std::vector<Tensor>& outputs) {
    std::vector<Tensor> from, to;
    for (const ir::Node* node : ir::topological_order(outputs)) {
        if (ir::is_constant(*node)) continue;
        const auto results = ir::outputs_of(Ref<ir::Node>(node));
        const auto values = execute::evaluate(ir::substitute(results, from, to), {.fuse = false});
        for (size_t i = 0; i < results.size(); ++i) {
            from.push_back(results[i]);
            to.push_back(ir::constant(values[i]));
        }
    }
    return execute::evaluate(ir::substitute(outputs, from, to));
}

int fused_kernels(const std::vector<Tensor>& outputs, int64_t bytes_of_part) {
    const auto program =
        fuse_rows(merge_maps(lower(simplify(inline_calls(outputs)), {}, {}).program, {}),
                  {.part_bytes = bytes_of_part});
    int count = 0;
    for (const auto& kernel : program.kernels)
        count += std::holds_alternative<ir::kernel::Fused>(kernel.body);
    return count;
}

TEST(RandomGraphs, EveryWayOfRunningGivesTheSameBits) {
    ops::register_operations();
    constexpr int64_t small_part = 32;
    int fused = 0;
    for (unsigned seed = 0; seed < 150; ++seed) {
        const auto outputs = Generator(seed).graph(50);
        fused += fused_kernels(outputs, small_part);
        ir::verify(outputs);
        const std::string what = "seed " + std::to_string(seed);
        const auto expected = execute::evaluate(outputs);
        for (int variant = 0; variant < 6; ++variant)
            expect_equal(
                execute::evaluate(outputs, {.threads = 1 + 2 * (variant / 2 % 2),
                                            .fuse = variant % 2 == 0 || variant > 3,
                                            .reuse_buffers = variant < 2,
                                            .bytes_of_part = variant > 3 ? small_part : 0}),
                expected, what + ", variant " + std::to_string(variant));
        const auto simplified = simplify(outputs);
        ir::verify(simplified);
        const auto again = ir::parse(ir::print(outputs), ir::large_constants(outputs));
        expect_equal(execute::evaluate(again), expected, what + ", through text");
        if (seed % 5 == 0) expect_equal(one_at_a_time(outputs), expected, what + ", node by node");
        if (HasFatalFailure()) FAIL() << ir::print(outputs);
    }
    EXPECT_GT(fused, 50);
}

TEST(RandomGraphs, CompiledCodeGivesTheSameBits) {
    std::vector<Tensor> all;
    for (unsigned seed = 0; seed < 8; ++seed) {
        const auto outputs = Generator(seed).graph(50);
        all.insert(all.end(), outputs.begin(), outputs.end());
    }
    expect_equal(execute::evaluate(all, {.backend = "cpp"}), execute::evaluate(all), "cpp");
    expect_equal(execute::evaluate(all, {.backend = "cpp", .bytes_of_part = 32}),
                 execute::evaluate(all), "cpp, in small parts");
}

}  // namespace
}  // namespace composit::transforms

// Tests of vmap: every primitive, every choice of batched operands, against one slice at a time.
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace composit::transforms {
namespace {

using ir::Array;
using ir::DType;
using ir::Shape;
using ops::Axes;
using ops::Combiner;

constexpr int64_t batch = 3;

// Small whole numbers, so that indices and floats come from the same place.
Array random_array(DType dtype, const Shape& shape, int64_t low, int64_t high) {
    static std::mt19937 random(11);
    Array array(dtype, shape);
    for (int64_t i = 0; i < array.size(); ++i) {
        const int64_t value =
            low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low));
        if (dtype == DType::int64)
            static_cast<int64_t*>(array.mutable_data())[i] = value;
        else
            static_cast<float*>(array.mutable_data())[i] = static_cast<float>(value) / 8;
    }
    return array;
}

struct Argument {
    Shape shape;
    DType dtype = DType::float32;
    int64_t low = -40, high = 40;
};

Shape with_axis(Shape shape) {
    shape.insert(shape.begin(), batch);
    return shape;
}

Array slice_of(const Array& array, int64_t i) {
    const Shape shape(array.shape().begin() + 1, array.shape().end());
    Array result(array.dtype(), shape);
    std::memcpy(result.mutable_data(), array.data_as<char>() + i * result.bytes(),
                static_cast<size_t>(result.bytes()));
    return result;
}

// f under vmap, for every choice of batched arguments, has the bits of f on each slice.
void expect_vmap(const std::vector<Argument>& arguments, const Function& f) {
    const size_t n = arguments.size();
    for (unsigned choice = 1; choice < (1u << n); ++choice) {
        std::vector<Tensor> operands, inputs, batched;
        std::vector<Array> values;
        for (size_t i = 0; i < n; ++i) {
            const Argument& a = arguments[i];
            const bool is_batched = choice >> i & 1;
            values.push_back(
                random_array(a.dtype, is_batched ? with_axis(a.shape) : a.shape, a.low, a.high));
            operands.push_back(is_batched ? ir::input("x", a.dtype, a.shape)
                                          : ir::constant(values[i]));
            if (!is_batched) continue;
            inputs.push_back(operands.back());
            batched.push_back(ir::constant(values[i]));
        }
        const auto together = execute::evaluate(vmap(f(operands), inputs, batched));
        for (int64_t k = 0; k < batch; ++k) {
            std::vector<Tensor> slices;
            for (size_t i = 0; i < n; ++i)
                slices.push_back(
                    ir::constant(choice >> i & 1 ? slice_of(values[i], k) : values[i]));
            const auto alone = execute::evaluate(f(slices));
            ASSERT_EQ(alone.size(), together.size());
            for (size_t r = 0; r < alone.size(); ++r) {
                const Array part = slice_of(together[r], k);
                ASSERT_EQ(part.shape(), alone[r].shape());
                ASSERT_EQ(part.dtype(), alone[r].dtype());
                EXPECT_EQ(
                    std::memcmp(part.data(), alone[r].data(), static_cast<size_t>(part.bytes())), 0)
                    << "choice " << choice << ", slice " << k << ", result " << r;
            }
        }
    }
}

using Tensors = std::vector<Tensor>;

TEST(Vmap, Maps) {
    expect_vmap({{{4}}, {{2, 4}}},
                [](const Tensors& x) -> Tensors { return {ops::map("add", x)}; });
    expect_vmap({{{}}, {{2, 1}}, {{3}}}, [](const Tensors& x) -> Tensors {
        return {ops::map("multiply", {ops::map("maximum", {x[0], x[1]}), x[2]})};
    });
    expect_vmap({{{3}}}, [](const Tensors& x) -> Tensors {
        return {ops::map("multiply", {x[0], ir::weak_scalar(2.0)}),
                ops::astype(x[0], DType::int32)};
    });
}

TEST(Vmap, ReductionsAndScans) {
    for (Combiner combiner : {Combiner::sum, Combiner::product, Combiner::maximum,
                              Combiner::minimum, Combiner::argmax, Combiner::argmin})
        for (const Axes& axes : {Axes{0}, Axes{1}, Axes{0, 2}, Axes{}})
            for (bool keepdims : {false, true})
                expect_vmap({{{2, 3, 2}}}, [&](const Tensors& x) -> Tensors {
                    return {
                        ops::reduce(combiner, x[0], axes.empty() ? Axes{0, 1, 2} : axes, keepdims)};
                });
    expect_vmap({{{5000}}}, [](const Tensors& x) -> Tensors {
        return {ops::reduce(Combiner::sum, x[0], {0})};
    });
    expect_vmap({{{2, 5}}}, [](const Tensors& x) -> Tensors {
        return {ops::scan(Combiner::sum, x[0], 1), ops::scan(Combiner::maximum, x[0], 0)};
    });
}

TEST(Vmap, Contractions) {
    const auto contract = [](ops::Contraction c) {
        return [c](const Tensors& x) -> Tensors { return {ops::contract(x[0], x[1], c)}; };
    };
    expect_vmap({{{2, 300}}, {{300, 4}}}, contract({{}, {}, {1}, {0}}));
    expect_vmap({{{2, 3, 4}}, {{3, 2, 5}}}, contract({{0}, {1}, {1}, {0}}));
    expect_vmap({{{2, 3, 4}}, {{4, 2, 3}}}, contract({{1}, {2}, {2, 0}, {0, 1}}));
    expect_vmap({{{2}}, {{3}}}, contract({{}, {}, {}, {}}));
    expect_vmap({{{7}}, {{7}}}, contract({{}, {}, {0}, {0}}));
}

TEST(Vmap, Convolutions) {
    const auto convolve = [](ops::Convolution c) {
        return [c](const Tensors& x) -> Tensors { return {ops::convolve(x[0], x[1], c)}; };
    };
    expect_vmap({{{2, 4, 6}}, {{6, 4, 3}}}, convolve({{2}, {1}, {0}, {1}, {1}, 1}));
    expect_vmap({{{2, 4, 6}}, {{6, 2, 3}}}, convolve({{1}, {1}, {1}, {2}, {2}, 2}));
    expect_vmap({{{1, 2, 5, 4}}, {{4, 1, 2, 3}}},
                convolve({{2, 1}, {0, 1}, {1, 1}, {1, 1}, {1, 1}, 2}));
}

TEST(Vmap, Layout) {
    expect_vmap({{{2, 3, 4}}}, [](const Tensors& x) -> Tensors {
        return {ops::reshape(x[0], {6, 4}),
                ops::transpose(x[0], {2, 0, 1}),
                ops::broadcast_to(ops::reshape(x[0], {2, 3, 1, 4}), {5, 2, 3, 2, 4}),
                ops::slice(x[0], {1, 2, 0}, {1, 2, 2}, {1, -2, 2}),
                ops::split(x[0], {1, 3}, 2)[1],
                ops::windows(x[0], {2, 3}, {1, 1}, {2, 1}),
                ops::full({2}, ir::weak_scalar(3.0))};
    });
    expect_vmap({{{2, 3}}, {{}}}, [](const Tensors& x) -> Tensors {
        return {ops::pad(x[0], x[1], {1, -1}, {0, 2}, {1, 0}), ops::element(x[0], {1, 2}),
                ops::with_element(x[0], {0, 1}, x[1]), ops::with_element(x[1], {}, x[1])};
    });
    expect_vmap({{{4, 3}}, {{2, 2}}}, [](const Tensors& x) -> Tensors {
        return {ops::with_slice(x[0], {3, 0}, {-2, 1}, x[1])};
    });
    expect_vmap({{{2, 3}}, {{2, 1}}, {{2, 2}}},
                [](const Tensors& x) -> Tensors { return {ops::concatenate(x, 1)}; });
    expect_vmap({{{2, 3, 4, 2}}}, [](const Tensors& x) -> Tensors {
        return {ops::fold(x[0], {5}, {1}, {1}),
                ops::fold(ops::reshape(x[0], {6, 4, 2}), {9}, {2}, {2})};
    });
}

TEST(Vmap, Indexing) {
    const Argument rows{{2, 1}, DType::int64, -4, 4}, columns{{3}, DType::int64, 0, 5};
    expect_vmap({{{4, 2, 5}}, rows, columns}, [](const Tensors& x) -> Tensors {
        return {ops::gather(x[0], {x[1], x[2]}, {0, 2})};
    });
    expect_vmap({{{4, 2}}, {{3}, DType::int64, 0, 4}},
                [](const Tensors& x) -> Tensors { return {ops::gather(x[0], {x[1]}, {0})}; });
    for (bool add : {true, false})
        expect_vmap({{{4, 2}}, {{6}, DType::int64, -4, 4}, {{6, 2}}},
                    [&](const Tensors& x) -> Tensors {
                        return {ops::scatter(x[0], {x[1]}, {0}, x[2], add)};
                    });
}

TEST(Vmap, CallsAndGradients) {
    const Tensor p = ir::input("p", DType::float32, {3});
    const auto body = std::make_shared<ir::Body>(
        ir::Body{"square_exp", {p}, {ops::map("exp", {ops::map("multiply", {p, p})})}});
    expect_vmap({{{3}, DType::float32, -8, 8}},
                [&](const Tensors& x) { return ops::call(body, x); });
    expect_vmap({{{3}, DType::float32, -8, 8}, {{3}}}, [&](const Tensors& x) -> Tensors {
        const Tensor v = ir::input("v", DType::float32, {3});
        const Tensor loss = ops::reduce(Combiner::sum, ops::call(body, {v})[0], {0});
        const auto g = vjp({loss}, {ir::constant(Array::scalar(DType::float32, 1))}, {v});
        return ir::substitute({ops::map("multiply", {g[0], x[1]})}, {v}, {x[0]});
    });
}

TEST(Vmap, NestedAndUnbatchedResults) {
    const Tensor a = ir::input("a", DType::float32, {}), b = ir::input("b", DType::float32, {});
    const Tensor xs = ir::input("xs", DType::float32, {2}),
                 ys = ir::input("ys", DType::float32, {3});
    const auto inner = vmap({ops::map("add", {a, b})}, {b}, {ys});
    const auto outer = vmap(inner, {a}, {xs});
    EXPECT_EQ(outer[0].shape(), (Shape{2, 3}));
    const auto unbatched = vmap({b}, {a}, {xs});
    EXPECT_EQ(unbatched[0].shape(), (Shape{2}));
}

std::string error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(Vmap, ErrorsNameWhatIsWrong) {
    const Tensor x = ir::input("x", DType::float32, {2});
    const Tensor b = ir::input("b", DType::float32, {3, 2}),
                 c = ir::input("c", DType::float32, {4, 2});
    EXPECT_EQ(
        error_of([&] { vmap({x}, {x}, {x}); }),
        "vmap: batched input 0 has type float32[2]. The type float32[2] with a leading axis is "
        "required.");
    const Tensor y = ir::input("y", DType::float32, {2});
    EXPECT_EQ(
        error_of([&] { vmap({x}, {x, y}, {b, c}); }),
        "vmap: leading axes differ: input 0 has 3, input 1 has 4. Equal lengths are required.");
    EXPECT_EQ(error_of([&] { vmap({x}, {}, {}); }),
              "vmap: no input is batched. At least one is required.");
    static const ir::Operation& opaque =
        ir::register_operation({.name = "opaque_for_vmap",
                                .doc = "An operation without a batching rule.",
                                .infer = [](const Tensors& operands, const ir::Attributes&) {
                                    return std::vector<ir::TensorType>{operands[0].type()};
                                }});
    const ir::LocationScope scope(ir::intern("train.py:4"));
    const Tensor z = ir::make(opaque, {x});
    EXPECT_EQ(error_of([&] { vmap({z}, {x}, {b}); }),
              "vmap: opaque_for_vmap of train.py:4 has no batching rule. Operations with one are "
              "required.");
}

}  // namespace
}  // namespace composit::transforms

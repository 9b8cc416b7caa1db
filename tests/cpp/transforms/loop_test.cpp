// Loops in C++: values, text, what is refused, and what their kernels look like. That bits are
// those of the loop in Python, in every way to run it, is for tests/python/loops.
#include "../numpy/values.h"
#include "composit/functional/loops.h"
#include "composit/ir/operation.h"
#include "composit/ir/parse.h"
#include "composit/ir/print.h"
#include "composit/ir/verify.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/transforms/transforms.h"

#include <gtest/gtest.h>

namespace composit {
namespace {

using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;
using ir::kernel::Repeat;
using numpy::array;
using numpy::expect_error;
using numpy::expect_values;

Tensor doubled(const Tensor& x, int64_t times) {
    return fori_loop(0, times, [](const Tensor&, const Tensor& y) { return y * 2.0; }, x);
}

TEST(Loop, OfOneTensor) {
    const Tensor x = array<double>({1, -3});
    expect_values<double>(doubled(x, 3), {2}, {8, -24});
    expect_values<double>(doubled(x, 0), {2}, {1, -3});
    const Tensor sum = fori_loop(
        -1, 4, [](const Tensor& i, const Tensor& total) { return total + i; },
        array<int64_t>({0, 10}));
    expect_values<int64_t>(sum, {2}, {5, 15});
}

TEST(Loop, OfSeveralTensors) {
    const auto fibonacci = [](const Tensor&, const Tensors& s) -> Tensors {
        return {s[1], s[0] + s[1]};
    };
    const Tensors last =
        fori_loop(0, 10, fibonacci, Tensors{array<int64_t>({0, 2}), array<int64_t>({1, 1})});
    expect_values<int64_t>(last[0], {2}, {55, 123});
    expect_values<int64_t>(last[1], {2}, {89, 199});
}

TEST(Loop, HasDerivatives) {
    const auto power = [](const Tensor& x) {
        return numpy::sum(
            fori_loop(0, 2, [&](const Tensor&, const Tensor& y) { return y * x; }, x));
    };
    const Tensor x = array<double>({1, 2});
    expect_values<double>(grad(power)(x), {2}, {3, 12});
    const auto slope = [&](const Tensor& y) { return numpy::sum(grad(power)(y)); };
    expect_values<double>(grad(slope)(x), {2}, {6, 12});
    expect_values<double>(jvp(power, x, array<double>({1, 1})).second, {}, {15});
    const auto both = vmap([&](const Tensor& y) { return doubled(y, 2); })(x);
    expect_values<double>(both, {2}, {4, 8});
}

TEST(Loop, RefusesStatesThatChangeTheirTypes) {
    const Tensor x = array<float>({1, 2});
    const auto wide = [](const Tensor& i, const Tensor& y) { return y * i; };
    expect_error<TypeError>([&] { return fori_loop(0, 2, wide, x); },
                            "fori_loop: the body takes part 0 of the state as float32[2] and "
                            "returns it as float64[2]. Equal types are required.");
    const LoopBody more = [](const Tensor&, const Tensors& s) { return Tensors{s[0], s[0]}; };
    expect_error<TypeError>([&] { return fori_loop(0, 2, more, Tensors{x}); },
                            "fori_loop: the body returned 2 tensors for a state of 1. As many are "
                            "required.");
}

Tensor nested(const Tensor& x, const Tensor& w) {
    return fori_loop(
        1, 3,
        [&](const Tensor& counter, const Tensor& y) {
            const Tensor i = ops::astype(counter, y.dtype());
            return fori_loop(
                0, 2, [&](const Tensor&, const Tensor& z) { return numpy::matmul(z, w) + y; },
                y * i);
        },
        x);
}

TEST(Loop, PrintsParsesAndVerifies) {
    transforms::register_operations();
    const Tensor x = array<double>({1, 2, 3, 4}, {2, 2}), w = array<double>({1, 0, 2, 1}, {2, 2});
    const Tensors outputs{nested(x, w)};
    const std::string text = ir::print(outputs);
    const Tensors again = ir::parse(text, ir::large_constants(outputs));
    EXPECT_EQ(ir::print(again), text);
    EXPECT_TRUE(ir::same_structure(outputs, {}, again, {}));
    ir::verify(again);
    EXPECT_EQ(numpy::values<double>(again[0]), numpy::values<double>(outputs[0]));
}

TEST(Loop, RefusesTextThatMakesNoSense) {
    transforms::register_operations();
    const auto text = [](const std::string& counter, const std::string& operands) {
        return "composit graph 1\nbody 0 \"f\"(%0, %1) {\n  %0 = input{dtype=" + counter +
               ", shape=[]} : " + counter +
               "[] \"i\"\n  %1 = input{dtype=float32, shape=[2]} : float32[2] \"x\"\n"
               "  return %1\n}\n%2 = input{dtype=float32, shape=[2]} : float32[2]\n"
               "%3 = loop" +
               operands + "{begin=0, body=body(0), end=2} : float32[2]\nreturn %3\n";
    };
    EXPECT_EQ(ir::parse(text("int64", "(%2)"), {}).size(), 1U);
    expect_error<ValueError>([&] { return ir::parse(text("int32", "(%2)"), {}); },
                             "loop: the counter has type int32[]. int64[] is required.");
    expect_error<ValueError>([&] { return ir::parse(text("int64", "(%2, %2)"), {}); },
                             "loop: a body of 2 parameters and 1 results is given for 2 operands.");
}

Program lowered(const Tensors& outputs, const Tensors& inputs) {
    return transforms::lower(transforms::simplify(transforms::inline_calls(outputs)), inputs,
                             {.inline_scalars = true})
        .program;
}

const Repeat& only_repeat(const Program& program) {
    const Repeat* found = nullptr;
    for (const Kernel& kernel : program.kernels)
        if (const auto* repeat = std::get_if<Repeat>(&kernel.body)) {
            EXPECT_EQ(found, nullptr);
            found = repeat;
        }
    return *found;
}

TEST(Loop, UpdatesItsStateInPlaceWhereNobodyReadsTheOldOne) {
    const Tensor x = ir::input("x", DType::float32, {8});
    const Program in_place = lowered({doubled(x, 3)}, {x});
    EXPECT_EQ(only_repeat(in_place).kernels.size(), 1U) << ir::kernel::print(in_place);
    EXPECT_EQ(in_place.buffers.size(), 2U);  // x, and the state, which is the output
    const Tensor reversed = fori_loop(
        0, 3, [](const Tensor&, const Tensor& y) { return ops::slice(y, {7}, {8}, {-1}) + y; }, x);
    const Program copied = lowered({reversed}, {x});
    EXPECT_EQ(only_repeat(copied).kernels.size(), 2U) << ir::kernel::print(copied);
}

TEST(Loop, ComputesWhatDoesNotChangeBefore) {
    const Tensor x = ir::input("x", DType::float32, {8});
    const Tensor y = fori_loop(
        0, 3, [&](const Tensor&, const Tensor& s) { return s + ops::map("exp", {x}); }, x);
    const Program program = lowered({y}, {x});
    const auto inside =
        ir::scalar::all_expressions(ir::kernel::bodies({"", "", {}, only_repeat(program)}));
    for (const auto& e : inside)
        EXPECT_FALSE(e.op() == ir::scalar::Op::call && e.row()->name == "exp");
}

// What passes from iteration to iteration shares its bytes with nothing else that the loop touches.
TEST(Loop, KeepsItsStateApartInTheArena) {
    const Tensor x = ir::input("x", DType::float32, {4, 4}),
                 w = ir::input("w", DType::float32, {4, 4});
    const Tensor y = nested(x, w);
    const Program program =
        transforms::plan_buffers(lowered({numpy::matmul(y, w) + numpy::sum(y)}, {x, w}), true);
    size_t repeats = 0;
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        const Kernel& kernel = program.kernels[k];
        if (!std::holds_alternative<Repeat>(kernel.body)) continue;
        ++repeats;
        const auto kept = ir::kernel::touched_outside(program, k);
        std::vector<int> inside = ir::kernel::buffers_read(kernel);
        for (int b : ir::kernel::buffers_written(kernel)) inside.push_back(b);
        for (int a : inside)
            for (int b : inside) {
                const auto &p = program.buffers[static_cast<size_t>(a)],
                           &q = program.buffers[static_cast<size_t>(b)];
                if (a == b || !kept[static_cast<size_t>(a)]) continue;
                if (p.kind != BufferKind::temporary || q.kind != BufferKind::temporary) continue;
                EXPECT_TRUE(p.arena_offset + p.bytes <= q.arena_offset ||
                            q.arena_offset + q.bytes <= p.arena_offset)
                    << p.name << " and " << q.name << "\n"
                    << ir::kernel::print(program);
            }
    }
    EXPECT_EQ(repeats, 1U);
}

TEST(Loop, FusesTheRowsOfItsKernels) {
    const Tensor x = ir::input("x", DType::float32, {64, 64});
    const Tensor y = fori_loop(
        0, 3,
        [](const Tensor&, const Tensor& s) {
            const Tensor e = ops::map("exp", {s - numpy::max(s, {{-1}}, true)});
            return e / numpy::sum(e, {{-1}}, {}, true);
        },
        x);
    const Program program = transforms::fuse_rows(transforms::merge_maps(lowered({y}, {x}), {}),
                                                  {.part_bytes = 1 << 10});
    const Repeat& repeat = only_repeat(program);
    ASSERT_EQ(repeat.kernels.size(), 1U) << ir::kernel::print(program);
    EXPECT_TRUE(std::holds_alternative<ir::kernel::Fused>(repeat.kernels[0].body));
}

}  // namespace
}  // namespace composit

// What the products of a loop read again and again is packed before it.
#include "composit/functional/loops.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/operators.h"
#include "composit/transforms/transforms.h"

#include <gtest/gtest.h>

namespace composit {
namespace {

using ir::kernel::BufferKind;
using ir::kernel::Contract;
using ir::kernel::Kernel;
using ir::kernel::Pack;
using ir::kernel::Program;
using ir::kernel::Repeat;

Program packed(const Tensor& output, const std::vector<Tensor>& inputs) {
    const auto inlined = transforms::inline_calls({output});
    return transforms::pack_constants(
        transforms::lower(transforms::simplify(inlined), inputs, {.inline_scalars = true}).program,
        {});
}

// "Map Pack Repeat(Contract Map)"
std::string outline(const std::vector<Kernel>& kernels) {
    std::string result;
    for (const Kernel& kernel : kernels) {
        if (!result.empty()) result += ' ';
        result += ir::kernel::kind_name(kernel);
        if (const auto* repeat = std::get_if<Repeat>(&kernel.body))
            result += "(" + outline(repeat->kernels) + ")";
    }
    return result;
}

int count_of(const std::string& text, const std::string& word) {
    int count = 0;
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++count;
    return count;
}

const Tensor x = ir::input("x", ir::DType::float32, {16, 64});
const Tensor w = ir::input("w", ir::DType::float32, {64, 64});

Tensor powers(const Tensor& start, const Tensor& factor, int64_t times) {
    return fori_loop(
        0, times, [&](const Tensor&, const Tensor& y) { return numpy::matmul(y, factor); }, start);
}

TEST(PackConstants, PacksBeforeALoopWhatStaysTheSameInIt) {
    const Program program = packed(powers(x, w, 5), {x, w});
    const std::string text = outline(program.kernels);
    EXPECT_EQ(count_of(text, "Pack"), 1) << text;
    EXPECT_LT(text.find("Pack"), text.find("Repeat")) << text;
    for (const Kernel& kernel : program.kernels) {
        if (const auto* pack = std::get_if<Pack>(&kernel.body)) {
            EXPECT_FALSE(pack->is_of_constant);
            EXPECT_EQ(program.buffers[static_cast<size_t>(pack->from.buffer)].name, "w");
            EXPECT_EQ(program.buffers[static_cast<size_t>(pack->to.buffer)].kind,
                      BufferKind::temporary);
        }
        if (const auto* repeat = std::get_if<Repeat>(&kernel.body))
            for (const Kernel& inner : repeat->kernels)
                if (const auto* product = std::get_if<Contract>(&inner.body))
                    EXPECT_TRUE(product->right_is_packed);
    }
}

TEST(PackConstants, PacksBeforeTheOutermostLoop) {
    const Tensor y =
        fori_loop(0, 3, [](const Tensor&, const Tensor& z) { return powers(z, w, 2) + z; }, x);
    const std::string text = outline(packed(y, {x, w}).kernels);
    EXPECT_EQ(count_of(text, "Pack"), 1) << text;
    EXPECT_LT(text.find("Pack"), text.find("Repeat")) << text;
}

TEST(PackConstants, PacksBetweenLoopsWhatTheOuterOneChanges) {
    const Tensor y =
        fori_loop(0, 3, [](const Tensor&, const Tensor& v) { return powers(v, v + w, 4); }, w);
    const std::string text = outline(packed(y, {w}).kernels);
    EXPECT_EQ(count_of(text, "Pack"), 1) << text;
    EXPECT_GT(text.find("Pack"), text.find("Repeat")) << text;
    EXPECT_LT(text.find("Pack"), text.rfind("Repeat")) << text;
}

TEST(PackConstants, LeavesWhatChangesAndWhatIsReadOnce) {
    const Tensor squares =
        fori_loop(0, 3, [](const Tensor&, const Tensor& v) { return numpy::matmul(v, v); }, w);
    EXPECT_EQ(count_of(outline(packed(squares, {w}).kernels), "Pack"), 0);
    EXPECT_EQ(count_of(outline(packed(powers(x, w, 1), {x, w}).kernels), "Pack"), 0);
    EXPECT_EQ(count_of(outline(packed(numpy::matmul(x, w), {x, w}).kernels), "Pack"), 0);
}

TEST(PackConstants, CanBeTakenBack) {
    const auto lowered =
        transforms::lower(transforms::simplify(transforms::inline_calls({powers(x, w, 5)})), {x, w},
                          {.inline_scalars = true});
    const Program back = transforms::without_packs(transforms::pack_constants(lowered.program, {}));
    ASSERT_EQ(outline(back.kernels), outline(lowered.program.kernels));
    for (size_t k = 0; k < back.kernels.size(); ++k)
        EXPECT_EQ(ir::kernel::structural_hash(back.kernels[k]),
                  ir::kernel::structural_hash(lowered.program.kernels[k]));
}

}  // namespace
}  // namespace composit

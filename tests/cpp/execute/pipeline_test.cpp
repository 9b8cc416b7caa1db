// Tests of pipelines: passes that users put in and leave out, and that back ends refuse.
#include "composit/transforms/pipeline.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

#include <cstring>

namespace composit::execute {
namespace {

using ir::DType;
using ir::kernel::Kernel;
using ir::kernel::Program;
using ops::Combiner;
using transforms::GraphPass;
using transforms::Pipeline;
using transforms::ProgramPass;
using transforms::SchedulePass;
using transforms::standard_pipeline;
using Names = std::vector<std::string>;

// Runs on the interpreter, and takes no kernels of one kind.
class Picky : public runtime::Backend {
  public:
    Picky(std::string name, std::string refused)
        : name_(std::move(name)), refused_(std::move(refused)) {}
    std::string name() const override { return name_; }
    Target target() const override { return {.part_bytes = 1 << 10, .near_bytes = 1 << 14}; }
    std::optional<std::string> refuses(const Kernel& kernel, const Program&) const override {
        if (kind_name(kernel) != refused_) return std::nullopt;
        return refused_ + " kernels are beyond it";
    }
    std::shared_ptr<runtime::Executable> compile(const Program& program,
                                                 const runtime::CompileOptions& options) override {
        for (const Kernel& kernel : program.kernels) kinds.emplace_back(kind_name(kernel));
        return runtime::backend("interpreter")->compile(program, options);
    }
    Names kinds;

  private:
    std::string name_, refused_;
};

std::shared_ptr<Picky> picky(const std::string& refused) {
    const auto backend = std::make_shared<Picky>("picky_" + refused, refused);
    runtime::register_backend(backend);
    return backend;
}

// Rows of softmax: of two maps and two reductions one Fused kernel is made.
struct Softmax {
    Tensor x = ir::input("x", DType::float32, {64, 32});
    Tensor highest = ops::reduce(Combiner::maximum, x, {1}, true);
    Tensor exps = ops::map("exp", {ops::map("subtract", {x, highest})});
    Tensor result = ops::map("divide", {exps, ops::reduce(Combiner::sum, exps, {1}, true)});

    Array value(const Options& options = {}) const {
        Array given(DType::float32, {64, 32});
        for (int64_t i = 0; i < given.size(); ++i)
            static_cast<float*>(given.mutable_data())[i] = static_cast<float>((i * 37) % 101) / 10;
        return Compiled("softmax", {x}, {result}, options)({given})[0];
    }
    Names kinds(const Options& options) const {
        const Compiled compiled("softmax", {x}, {result}, options);
        Names kinds;
        for (const Kernel& kernel : compiled.program().kernels)
            kinds.emplace_back(kind_name(kernel));
        return kinds;
    }
};

void expect_same_bits(const Array& a, const Array& b) {
    ASSERT_EQ(a.bytes(), b.bytes());
    EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())), 0);
}

std::shared_ptr<const Pipeline> shared(Pipeline pipeline) {
    return std::make_shared<const Pipeline>(std::move(pipeline));
}

TEST(Pipeline, ItsPassesHaveNames) {
    EXPECT_EQ(
        standard_pipeline().names(),
        (Names{"inline_calls", "simplify", "lower", "decode_weights", "narrow_products",
               "merge_maps", "fuse_rows", "finish_products", "pack_constants", "plan_buffers"}));
    EXPECT_EQ(
        standard_pipeline()
            .without("simplify")
            .with(SchedulePass{"mine", transforms::merge_maps}, "fuse_rows")
            .with(ProgramPass{"yours", {}})
            .names(),
        (Names{"inline_calls", "lower", "yours", "decode_weights", "narrow_products", "merge_maps",
               "mine", "fuse_rows", "finish_products", "pack_constants", "plan_buffers"}));
}

template <class E, class Action>
std::string error_of(const Action& action) {
    try {
        static_cast<void>(action());
    } catch (const E& error) {
        return error.what();
    }
    return "no error";
}

TEST(Pipeline, NamesThatAreNotThere) {
    const Pipeline& p = standard_pipeline();
    const std::string all =
        "inline_calls, simplify, lower, decode_weights, narrow_products, merge_maps, fuse_rows, "
        "finish_products, pack_constants, plan_buffers.";
    EXPECT_EQ(error_of<KeyError>([&] { return p.without("fuse"); }),
              "pipeline: 'fuse' is no pass. The passes are: " + all);
    EXPECT_EQ(error_of<ValueError>([&] { return p.without("lower"); }),
              "pipeline: 'lower' cannot be left out: nothing runs without it.");
    EXPECT_EQ(error_of<ValueError>([&] { return p.with(GraphPass{"fuse_rows", {}}); }),
              "pipeline: a pass cannot be called 'fuse_rows'. A name is required that none of "
              "these has: " +
                  all);
    EXPECT_EQ(error_of<KeyError>([&] { return p.with(GraphPass{"mine", {}}, "fuse_rows"); }),
              "pipeline: 'fuse_rows' is no pass of the stage of 'mine'. The passes are: " + all);
}

TEST(Pipeline, PassesAreLeftOutAndPutIn) {
    const Softmax softmax;
    EXPECT_EQ(softmax.kinds({.bytes_of_part = 1024}), Names{"Fused"});
    const Options plain{.bytes_of_part = 1024,
                        .pipeline = shared(standard_pipeline().without("fuse_rows"))};
    EXPECT_EQ(softmax.kinds(plain), (Names{"Reduce", "Map", "Reduce", "Map"}));
    expect_same_bits(softmax.value(), softmax.value(plain));

    int graphs = 0, kernels = 0;
    const Options counted{
        .bytes_of_part = 1024,
        .pipeline = shared(standard_pipeline()
                               .with(GraphPass{"graph",
                                               [&](const std::vector<Tensor>& tensors) {
                                                   ++graphs;
                                                   return tensors;
                                               }})
                               .with(SchedulePass{"kernels",
                                                  [&](Program program, const Target& target) {
                                                      EXPECT_EQ(target.part_bytes, 1024);
                                                      kernels =
                                                          static_cast<int>(program.kernels.size());
                                                      return program;
                                                  }},
                                     "fuse_rows"))};
    expect_same_bits(softmax.value(), softmax.value(counted));
    EXPECT_EQ(graphs, 1);
    EXPECT_EQ(kernels, 4);
    const Tensor exps = ops::map(
        "exp", {ir::constant(Array::of<float>(DType::float32, {2}, std::vector<float>{1, 2}))});
    expect_same_bits(evaluate({exps}, counted)[0], evaluate({exps})[0]);
    EXPECT_EQ(graphs, 2);
}

TEST(Pipeline, WrongPassesAreNamed) {
    const Softmax softmax;
    const auto error_with = [&](Pipeline pipeline) {
        return error_of<ValueError>([&] { return softmax.value({.pipeline = shared(pipeline)}); });
    };
    EXPECT_EQ(error_with(standard_pipeline().with(GraphPass{
                  "half", [](const std::vector<Tensor>&) { return std::vector<Tensor>{}; }})),
              "pipeline: pass 'half' made 0 tensors of 1. As many are required.");
    EXPECT_EQ(error_with(standard_pipeline().with(GraphPass{
                  "sum",
                  [](const std::vector<Tensor>& tensors) {
                      return std::vector<Tensor>{ops::reduce(Combiner::sum, tensors[0], {0})};
                  }})),
              "pipeline: pass 'sum' made float32[32] of output 0, float32[64, 32]. The same shape "
              "and dtype are required.");
    EXPECT_EQ(error_with(standard_pipeline().with(
                  ProgramPass{"drop",
                              [](Program program, const std::vector<Tensor>&) {
                                  program.outputs.clear();
                                  return program;
                              }})),
              "pipeline: pass 'drop' made a program of 1 inputs and 0 outputs. 1 and 1 are "
              "required, as before.");
}

TEST(Pipeline, APassWhoseKernelIsRefusedIsLeftOut) {
    const Softmax softmax;
    const auto backend = picky("Fused");
    const Options options{.backend = backend->name()};
    const Compiled compiled("softmax", {softmax.x}, {softmax.result}, options);
    EXPECT_EQ(backend->kinds, (Names{"Reduce", "Map", "Reduce", "Map"}));
    for (const PlacedKernel& placement : compiled.placements())
        EXPECT_EQ(placement.backend, backend->name());
    bool is_told = false;
    for (const Compiled::Pass& pass : compiled.passes())
        is_told |= pass.name == "fuse_rows" && pass.after.find("# left out: ") == 0 &&
                   pass.after.find("Fused kernels are beyond it") != std::string::npos;
    EXPECT_TRUE(is_told);
    expect_same_bits(softmax.value(), softmax.value(options));
}

TEST(Pipeline, KernelsBesideARefusedOneAreScheduled) {
    const Softmax softmax;
    const auto backend = picky("Scan");
    const Tensor result = ops::scan(Combiner::sum, softmax.result, 0);
    const Options options{.backend = backend->name()};
    const Compiled compiled("both", {softmax.x}, {result}, options);
    EXPECT_EQ(backend->kinds, Names{"Fused"});
    Array given(DType::float32, {64, 32});
    std::memset(given.mutable_data(), 0, static_cast<size_t>(given.bytes()));
    expect_same_bits(compiled({given})[0], Compiled("both", {softmax.x}, {result}, {})({given})[0]);
}

}  // namespace
}  // namespace composit::execute

// Tests of Compiled, of programs split between back ends, and of back ends that are unavailable.
#include "composit/base/error.h"
#include "composit/execute/build.h"
#include "composit/execute/execute.h"
#include "composit/ops/ops.h"
#include "composit/runtime/unavailable.h"
#include "composit/runtime/warning.h"

#include <gtest/gtest.h>

namespace composit::execute {
namespace {

using ir::DType;
using ir::kernel::Kernel;
using ir::kernel::Program;
using ops::Combiner;
using Floats = std::vector<float>;

Array vector(Floats values) {
    const auto n = static_cast<int64_t>(values.size());
    return Array::of<float>(DType::float32, {n}, values);
}

Floats floats(const Array& array) {
    return {array.data_as<float>(), array.data_as<float>() + array.size()};
}

// Runs on the interpreter, but takes no maps.
class NoMaps : public runtime::Backend {
  public:
    std::string name() const override { return "no_maps"; }
    std::optional<std::string> refuses(const Kernel& kernel, const Program&) const override {
        if (kind_name(kernel) == "Map") return "maps are beyond it";
        return std::nullopt;
    }
    std::shared_ptr<runtime::Executable> compile(const Program& program,
                                                 const runtime::CompileOptions& options) override {
        for (const Kernel& kernel : program.kernels) EXPECT_NE(kind_name(kernel), "Map");
        ++compiled;
        return runtime::backend("interpreter")->compile(program, options);
    }
    int compiled = 0;
};

class Missing : public runtime::Backend {
  public:
    std::string name() const override { return "missing"; }
    std::shared_ptr<runtime::Executable> compile(const Program&,
                                                 const runtime::CompileOptions&) override {
        throw runtime::Unavailable("no compiler was found. Install g++.");
    }
};

struct Layers {
    Tensor x = ir::input("x", DType::float32, {4}), w = ir::input("w", DType::float32, {4});
    Tensor total = ops::reduce(Combiner::sum, ops::map("multiply", {x, w}), {0});
    Tensor scaled = ops::map("multiply", {ops::scan(Combiner::sum, x, 0), total});
    Tensor filled = ops::scatter(ops::map("negative", {x}),
                                 {ir::constant(Array::of<int64_t>(DType::int64, {1}, {2}))}, {0},
                                 ops::reshape(total, {1}), true);
};

TEST(Compiled, CallsAndDescribesItself) {
    const Layers layers;
    const Compiled f("f", {layers.x, layers.w}, {layers.scaled, layers.total, layers.x}, {});
    for (float k : {1.0f, 2.0f}) {
        const auto results = f({vector({1, 2, 3, 4}), vector({k, k, k, k})});
        EXPECT_EQ(floats(results[0]), (Floats{10 * k, 30 * k, 60 * k, 100 * k}));
        EXPECT_EQ(floats(results[1]), Floats{10 * k});
        EXPECT_EQ(floats(results[2]), (Floats{1, 2, 3, 4}));
    }
    EXPECT_EQ(f.name(), "f");
    EXPECT_EQ(f.placements().size(), f.program().kernels.size());
    EXPECT_NE(f.plan().find("arena: "), std::string::npos);
    std::vector<std::string> names;
    for (const auto& pass : f.passes()) names.push_back(pass.name);
    EXPECT_EQ(names,
              (std::vector<std::string>{"inline_calls", "simplify", "lower", "decode_weights",
                                        "narrow_products", "merge_maps", "fuse_rows",
                                        "finish_products", "pack_constants", "plan_buffers"}));
    for (size_t i = 0; i + 1 < names.size(); ++i)
        EXPECT_EQ(f.passes()[i].after, f.passes()[i + 1].before);
}

template <class E>
std::string error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const E& error) {
        return error.what();
    }
    return "no error";
}

TEST(Compiled, ErrorsNameTheArgument) {
    const Layers layers;
    const Compiled f("f", {layers.x, layers.w}, {layers.total}, {});
    EXPECT_EQ(error_of<TypeError>([&] { f({vector({1})}); }),
              "f: 1 arguments given. 2 are required.");
    EXPECT_EQ(error_of<ValueError>([&] { f({vector({1}), vector({1, 2, 3, 4})}); }),
              "f: argument 'x' has shape (1,). (4,) is required.");
    EXPECT_EQ(
        error_of<TypeError>([&] { f({vector({1, 2, 3, 4}), Array::zeros(DType::int8, {4})}); }),
        "f: argument 'w' has dtype int8. float32 is required.");
    EXPECT_EQ(error_of<ValueError>([&] { Compiled("f", {layers.x}, {layers.total}, {}); }),
              "f: the result depends on the placeholder 'w', float32[4], which is not among the "
              "inputs. Add it to them.");
    EXPECT_THROW(Compiled("f", {layers.x, layers.x}, {layers.x}, {}), ValueError);
    EXPECT_THROW(Compiled("f", {layers.total}, {layers.total}, {}), ValueError);
    EXPECT_THROW(Compiled("f", {layers.x}, {layers.x}, {.backend = "abacus"}), KeyError);
}

// Plans are shared by graphs of equal structure; lines are not.
TEST(Errors, AWrongIndexNamesItsLine) {
    const Tensor data = ir::constant(vector({1, 2, 3}));
    const auto pick = [&](const Tensor& index, const char* line) {
        const ir::LocationScope scope(ir::intern(line));
        return ops::gather(data, {index}, {0});
    };
    const auto index = [](int64_t i) {
        return ir::constant(Array::of<int64_t>(DType::int64, {1}, {i}));
    };
    for (const char* line : {"a.py:1", "b.py:2"}) {
        const Tensor sum = ops::map("add", {pick(index(2), "fine.py:1"), pick(index(-4), line)});
        EXPECT_EQ(error_of<IndexError>([&] { evaluate({sum}); }),
                  text("index -4 is out of bounds for axis 0 with size 3 (", line, ")"));
    }
    EXPECT_EQ(error_of<IndexError>([&] { evaluate({pick(index(3), "")}); }),
              "index 3 is out of bounds for axis 0 with size 3");
    const Tensor i = ir::input("i", DType::int64, {1});
    const Compiled f("f", {i}, {pick(i, "c.py:3")}, {});
    EXPECT_EQ(floats(f({ir::constant_value(index(1).node())})[0]), Floats{2});
    EXPECT_EQ(error_of<IndexError>([&] { f({ir::constant_value(index(9).node())}); }),
              "index 9 is out of bounds for axis 0 with size 3 (c.py:3)");
}

TEST(Split, RefusedKernelsRunOnTheInterpreter) {
    const auto backend = std::make_shared<NoMaps>();
    runtime::register_backend(backend);
    const Layers layers;
    const std::vector<Tensor> outputs{layers.scaled, layers.filled, layers.total};
    const std::vector<Array> arguments{vector({1, 2, 3, 4}), vector({1, 1, 1, 2})};
    const Compiled whole("f", {layers.x, layers.w}, outputs, {});
    for (bool reuse : {true, false}) {
        const Compiled split("f", {layers.x, layers.w}, outputs,
                             {.backend = "no_maps", .fuse = false, .reuse_buffers = reuse});
        EXPECT_GT(backend->compiled, 0);
        bool refused = false;
        for (const PlacedKernel& placement : split.placements()) {
            EXPECT_EQ(placement.backend == "interpreter", placement.why == "maps are beyond it");
            refused = refused || !placement.why.empty();
        }
        EXPECT_TRUE(refused);
        EXPECT_NE(split.source().find("runs on the interpreter: maps are beyond it"),
                  std::string::npos);
        const auto expected = whole(arguments), results = split(arguments);
        for (size_t i = 0; i < outputs.size(); ++i)
            EXPECT_EQ(floats(results[i]), floats(expected[i]));
        EXPECT_EQ(floats(results[1]), (Floats{-1, -2, 11, -4}));
    }
}

TEST(Unavailable, OneWarningAndTheInterpreter) {
    runtime::register_backend(std::make_shared<Missing>());
    std::vector<std::string> warnings;
    const auto former =
        runtime::set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
    const Layers layers;
    for (int i = 0; i < 3; ++i) {
        const Compiled f("f", {layers.x, layers.w}, {layers.total}, {.backend = "missing"});
        EXPECT_EQ(floats(f({vector({1, 2, 3, 4}), vector({1, 1, 1, 1})})[0]), Floats{10});
        EXPECT_EQ(f.placements()[0].why, "no compiler was found. Install g++.");
    }
    runtime::set_warning_handler(former);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings[0],
              "back end missing: no compiler was found. Install g++. The interpreter "
              "runs the program instead: the same results, slower.");
}

}  // namespace
}  // namespace composit::execute

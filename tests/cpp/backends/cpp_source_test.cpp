// What generated code looks like, compared with files; UPDATE_GOLDEN=1 rewrites them.
#include "composit/backends/c_family/kernel_module.h"
#include "composit/backends/cpp/backend.h"
#include "composit/base/error.h"
#include "tests/cpp/backends/cpp_test_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace composit::tests {
namespace {

std::string golden_path(const std::string& name) {
    return COMPOSIT_TESTS_FOLDER "/golden/" + name + ".cpp.golden";
}

// The kernels of these programs, without what they use.
std::string kernels_of(const std::vector<Program>& programs) {
    std::string result;
    for (const Program& program : programs) {
        c_family::Modules modules = c_family::print_modules({&program});
        for (const auto& module : modules.modules)
            for (const auto& function : module.functions) result += function.text + "\n";
    }
    return result;
}

Program named(const std::string& name) {
    for (const Program& program : test_programs())
        if (program.name == name) return program;
    throw KeyError(name);
}

void expect_golden(const std::string& name, const std::string& text) {
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(golden_path(name)) << text;
    std::ifstream in(golden_path(name));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);
}

TEST(CppSource, KernelsReadLikeCodeByHand) {
    expect_golden("kernels", kernels_of({named("broadcast"), named("rows_fused"),
                                         named("columns_middle"), named("product")}));
}

TEST(CppSource, FilesStartWithTheGraphAndTheCommand) {
    Program program = named("broadcast");
    program.graph_text.clear();
    for (int k = 0; k < 100; ++k) program.graph_text += "line " + std::to_string(k) + " \\\n";
    program.kernels[0].lines = {"train.py:12"};
    std::string text = runtime::backend("cpp")->compile(program, {})->source();
    EXPECT_EQ(text.rfind("// Made by composit ", 0), 0u);
    EXPECT_NE(text.find("//     line 39\n//     … and 61 more lines\n"), std::string::npos);
    EXPECT_NE(text.find("// From train.py:12\n"), std::string::npos);
    EXPECT_NE(text.find("-ffp-contract=off"), std::string::npos);
}

TEST(CppSource, IdenticalKernelsAreEmittedOnce) {
    Builder b("twice");
    int x = b.input("x", DType::float32, {4}), t = b.temporary("t", DType::float32, {4});
    int y = b.output("y", DType::float32, {4});
    b.kernel("square", ir::kernel::Map{{4}, {b.all(x)}, {arg(0) * arg(0)}, {b.all(t)}});
    b.kernel("square_2", ir::kernel::Map{{4}, {b.all(t)}, {arg(0) * arg(0)}, {b.all(y)}});
    Program program = b.done();
    c_family::Modules modules = c_family::print_modules({&program});
    ASSERT_EQ(modules.modules.size(), 1u);
    EXPECT_EQ(modules.modules[0].functions.size(), 1u);
    ASSERT_EQ(modules.calls[0].size(), 2u);
    EXPECT_EQ(modules.calls[0][1].buffers, (std::vector<int>{t, y}));
}

TEST(CppSource, ProductsOfOneTemplateStandInOneModule) {
    std::vector<Program> programs;
    for (int k = 0; k < 12; ++k) {
        if (k < 5) {
            programs.push_back(product("a", DType::float32, 33, 300 + k, 45));
            programs.push_back(product("b", DType::float64, 33, 300 + k, 45));
        }
        Builder b("map");
        int x = b.input("x", DType::float32, {4 + k}), y = b.output("y", DType::float32, {4 + k});
        b.kernel("square", ir::kernel::Map{{4 + k}, {b.all(x)}, {arg(0) * arg(0)}, {b.all(y)}});
        programs.push_back(b.done());
    }
    std::vector<const Program*> all;
    for (const Program& program : programs) all.push_back(&program);
    const auto modules_with = [](const c_family::Modules& modules, const std::string& what) {
        return std::count_if(modules.modules.begin(), modules.modules.end(),
                             [&](const c_family::Module& module) {
                                 return module.text.find(what) != std::string::npos;
                             });
    };
    const c_family::Modules modules = c_family::print_modules(all, {12});
    for (const char* call : {"contract<ReadLeft>(", "contract<ReadLeftDouble>("})
        EXPECT_EQ(modules_with(modules, call), 1);
    size_t functions = 0;
    for (const c_family::Module& module : modules.modules) {
        EXPECT_LE(module.functions.size(), 12u);
        functions += module.functions.size();
    }
    EXPECT_EQ(functions, programs.size());
    // Each call is of the function that was printed for its kernel.
    for (size_t p = 0; p < programs.size(); ++p) {
        const c_family::KernelCall& call = modules.calls[p].at(0);
        const c_family::PrintedKernel& function =
            modules.modules.at(call.module).functions.at(call.function);
        const bool is_map = programs[p].name == "map";
        EXPECT_EQ(function.parameters.size(), is_map ? 2u : 3u);
        const std::string length = std::to_string(
            programs[p].buffers[static_cast<size_t>(programs[p].inputs[0])].shape.back());
        EXPECT_NE(function.text.find(is_map ? "i < " + length : "{" + length + "}"),
                  std::string::npos)
            << function.text;
    }
    // What one module holds stays in the order of the programs.
    const c_family::Modules together = c_family::print_modules(all, {programs.size()});
    for (size_t p = 0; p < programs.size(); ++p) EXPECT_EQ(together.calls[p].at(0).function, p);
}

TEST(CppSource, ProductsThatReadAlikeShareAnInstance) {
    const Program few = product("few", DType::float32, 33, 300, 45);
    const Program more = product("more", DType::float32, 40, 300, 64);
    const c_family::Modules modules = c_family::print_modules({&few, &more});
    ASSERT_EQ(modules.modules.size(), 1u);
    const std::string& text = modules.modules[0].text;
    EXPECT_NE(
        text.find("// How products read their operands.\nusing ReadLeft = Reading<false, true, "
                  "false, Counts<9, 12, 21, 33, 40, 153>, Counts<32, 45, 1024>, false>;\n"),
        std::string::npos);
    for (const c_family::PrintedKernel& function : modules.modules[0].functions)
        EXPECT_NE(function.text.find("contract<ReadLeft>(product, {b, b + 1, "), std::string::npos)
            << function.text;
}

TEST(CppSource, DtypesWithoutKernelsAreRefusedByName) {
    Builder b("half");
    int x = b.input("x", DType::float16, {4}), y = b.output("y", DType::float16, {4});
    b.kernel("copy", ir::kernel::Map{{4}, {b.all(x)}, {arg(0, DType::float16)}, {b.all(y)}});
    Program program = b.done();
    auto backend = runtime::backend("cpp");
    EXPECT_EQ(backend->refuses(program.kernels[0], program),
              "C++ kernels for float16 are not built yet");
    EXPECT_THROW(backend->compile(program, {}), NotSupported);
}

TEST(CppSource, IndicesOutOfBoundsAreErrors) {
    Builder b("take");
    int x = b.input("x", DType::float32, {5}), at = b.input("at", DType::int64, {3});
    int y = b.output("y", DType::float32, {3});
    b.kernel("take",
             ir::kernel::Gather{{3}, {}, b.access(x, {}), {b.all(at)}, {1}, {5}, {2}, b.all(y)});
    auto executable = runtime::backend("cpp")->compile(b.done(), {});
    float data[5] = {}, result[3];
    int64_t indices[3] = {1, 7, 9};
    runtime::Run run;
    run.inputs = {data, indices};
    run.outputs = {result};
    try {
        executable->run(run);
        FAIL();
    } catch (const IndexError& error) {
        EXPECT_STREQ(error.what(), "index 7 is out of bounds for axis 2 with size 5");
    }
}

TEST(CppSource, NamesAreValidAndDistinct) {
    c_family::Names names({"load"});
    EXPECT_EQ(names.claim("weights.0"), "weights_0");
    EXPECT_EQ(names.claim("weights/0"), "weights_0_");
    EXPECT_EQ(names.claim("weights 0"), "weights_0_2");
    EXPECT_EQ(names.claim("for"), "for_");
    EXPECT_EQ(names.claim("load"), "load_");
    EXPECT_EQ(names.claim("__x"), "x");
    EXPECT_EQ(names.claim("3d"), "_3d");
    EXPECT_EQ(names.claim("é"), "x_");
}

}  // namespace
}  // namespace composit::tests

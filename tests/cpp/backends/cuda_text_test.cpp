// CUDA's text of kernels, compiled by NVRTC, which needs no GPU: every architecture takes it, and
// nothing is rounded otherwise than the kernels say. Bits are compared on OpenCL, whose text is the
// same but for spelling, and on a GPU where there is one.
#include "composit/backends/cuda/nvrtc.h"
#include "composit/backends/simt/contract_tiles.h"
#include "composit/backends/simt/dialect.h"
#include "composit/backends/simt/program_text.h"
#include "composit/base/error.h"
#include "composit/ir/scalar/row.h"
#include "tests/cpp/backends/cpp_programs.h"
#include "tests/cpp/backends/cpp_test_programs.h"
#include "tests/cpp/backends/interpreter_programs.h"
#include "tests/cpp/backends/procedure_programs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

namespace composit::tests {
namespace {

class CudaText : public testing::Test {
  protected:
    void SetUp() override {
        setenv("COMPOSIT_NVRTC", folders_of_packages().c_str(), 0);
        static std::string reason;
        static const std::shared_ptr<const cuda::Nvrtc> found =
            cuda::find_nvrtc(cuda::places_of_nvrtc(), 1000, reason);
        ASSERT_NE(found, nullptr) << reason;
        nvrtc_ = found.get();
    }

    // Those of nvidia-cuda-nvrtc, which `make setup` installs: site-packages/nvidia/cu13/lib.
    static std::string folders_of_packages() {
        std::string folders;
        std::error_code error;
        const std::filesystem::path root = COMPOSIT_PYTHON_PACKAGES;
        for (std::filesystem::directory_iterator at(root / "nvidia", error), end;
             !error && at != end; at.increment(error))
            folders += (folders.empty() ? "" : ":") + (at->path() / "lib").string();
        return folders;
    }

    std::string compiled(const std::string& text, const cuda::Architecture& target) const {
        const cuda::Compilation result = nvrtc_->compile(text, target);
        EXPECT_TRUE(result.is_done) << target.option() << "\n" << result.log << "\n" << text;
        EXPECT_EQ(result.log.find("warning #550"), std::string::npos) << result.log;
        return result.code;
    }

    // Lines of PTX that compute something else than the text says, or may. NVIDIA's fmod, which is
    // exact, begins with approximate quotients.
    static std::string suspicious(const std::string& ptx, const std::string& text) {
        static const std::regex loose(
            R"(\b(add|sub|mul|div|sqrt|rcp|mad)\.f(32|64)\b|\.ftz|\.approx|\.full)");
        static const std::regex in_fmod(R"(\b(rcp\.approx\.ftz|div\.approx)\.f32\b)");
        const bool has_fma = text.find("fma(") != std::string::npos;
        const bool has_fmod = text.find("fmod(") != std::string::npos;
        std::istringstream lines(ptx);
        std::string found;
        for (std::string line; std::getline(lines, line);) {
            const size_t comment = line.find("//");
            const std::string code = line.substr(0, comment);
            if (has_fmod && std::regex_search(code, in_fmod)) continue;
            if (std::regex_search(code, loose)) found += line + "\n";
            if (!has_fma && line.find("fma.rn.f") != std::string::npos) found += line + "\n";
        }
        return found;
    }

    void check(const std::string& text, int architecture) const {
        const std::string code = compiled(text, {architecture, false});
        EXPECT_EQ(code.substr(1, 3), "ELF");
        const std::string ptx = compiled(text, {90, true});
        EXPECT_NE(ptx.find(".entry"), std::string::npos);
        EXPECT_EQ(suspicious(ptx, text), "") << text;
    }

    static std::optional<std::string> text_of(const Program& program) {
        for (const auto& kernel : program.kernels)
            if (simt::unprintable(kernel, program)) return std::nullopt;
        const simt::ProgramText printed = simt::print_program(simt::cuda(), program);
        if (printed.steps.empty()) return std::nullopt;
        return printed.text;
    }

    void check_all(const std::vector<Program>& programs, size_t least) const {
        size_t count = 0;
        for (const Program& program : programs)
            if (const auto text = text_of(program)) check(*text, ++count % 2 == 0 ? 80 : 90);
        EXPECT_GE(count, least);
    }

    const cuda::Nvrtc* nvrtc_ = nullptr;
};

TEST_F(CudaText, KernelsOfEveryKindCompile) { check_all(test_programs(), 30); }

TEST_F(CudaText, ProceduresCompile) { check_all(procedure_programs(), 3); }

TEST_F(CudaText, ProductsCompile) {
    std::vector<Program> programs = border_contractions();
    programs.resize(std::min<size_t>(programs.size(), 6));
    for (const auto& [m, n, k] :
         {std::tuple{256, 256, 600}, {1000, 1000, 64}, {4096, 1, 512}, {64, 576, 4000}})
        for (const DType dtype : {DType::float32, DType::float64})
            programs.push_back(product("product", dtype, m, k, n));
    check_all(programs, 8);
}

TEST_F(CudaText, EveryRowOfTheTableCompiles) {
    for (const DType dtype : {DType::float32, DType::float64, DType::int32, DType::uint8}) {
        Builder b("rows");
        const int in[] = {b.input("x", dtype, {64}), b.input("y", dtype, {64}),
                          b.input("z", dtype, {64})};
        int kernels = 0;
        for (const auto& row : ir::scalar::all_rows()) {
            if (row->arity > 3) continue;
            std::vector<Expr> operands;
            std::vector<Access> inputs;
            for (int k = 0; k < row->arity; ++k) {
                operands.push_back(Expr::argument(k, dtype));
                inputs.push_back(b.all(in[k]));
            }
            try {
                const Expr value = Expr::call(row, operands);
                ir::scalar::specialise(row, std::vector<DType>(operands.size(), dtype));
                const DType result = value.dtype();
                if (ir::is_complex(result) || (ir::is_floating(result) && ir::size_of(result) == 2))
                    continue;
                const int out = b.output(text("out_", kernels), result, {64});
                const ir::kernel::Map map{{64}, inputs, {value}, {b.all(out)}};
                const ir::kernel::Kernel kernel{text("row_", row->name), row->name, {}, map};
                const Program so_far = b.done();
                if (simt::unprintable(kernel, so_far)) continue;
                b.kernel(kernel.name, map);
                ++kernels;
            } catch (const Error&) {
                continue;  // the row refuses the dtype
            }
        }
        EXPECT_GT(kernels, 20) << dtype;
        const auto text = text_of(b.done());
        ASSERT_TRUE(text.has_value());
        for (const int architecture : {80, 90}) check(*text, architecture);
    }
}

TEST_F(CudaText, TheCheckOfPtxSeesContractions) {
    const std::string text =
        "extern \"C\" __global__ void f(float* x) { x[0] = x[1] * x[2] + x[3]; }\n";
    EXPECT_EQ(suspicious(compiled(text, {90, true}), text), "");
    EXPECT_NE(suspicious("    fma.rn.f32 %f4, %f1, %f2, %f3;\n", text), "");
    EXPECT_NE(suspicious("    mul.f32 %f4, %f1, %f2;\n", text), "");
    EXPECT_NE(suspicious("    add.rn.ftz.f32 %f4, %f1, %f2;\n", text), "");
    EXPECT_EQ(suspicious("    add.rn.f32 %f4, %f1, %f2; // add.f32\n", text), "");
}

}  // namespace
}  // namespace composit::tests

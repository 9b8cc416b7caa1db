// A row registered from C++ is a full operation: called, differentiated, batched, compiled,
// exported, documented, through composit.h alone.
#include "composit/composit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace composit {
namespace {

namespace fs = std::filesystem;
namespace scalar = ir::scalar;

constexpr int64_t count = 257;

// x / (1 + |x|), its derivative derived.
Tensor soft(const Tensor& x) { return numpy::apply("one_row_soft", {x}); }

class one_row : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        scalar::Row row;
        row.name = "one_row_soft";
        row.aliases = {"one_row_smooth"};
        row.types = scalar::types::inexact;
        row.doc = "x / (1 + |x|)";
        row.value = [](const std::vector<scalar::Expr>& x) {
            return x[0] / (1.0 + scalar::absolute(x[0]));
        };
        scalar::register_row(row);
    }

    one_row() {
        for (int64_t i = 0; i < count; ++i) values_.push_back(static_cast<float>(i - 128) / 16);
        x_ = numpy::array<float>(values_, {count});
    }

    std::vector<float> expected() const {
        std::vector<float> result;
        for (float x : values_) result.push_back(x / (1 + std::fabs(x)));
        return result;
    }

    std::vector<float> values_;
    Tensor x_;
};

std::vector<float> elements(const Array& array) {
    return {array.data_as<float>(), array.data_as<float>() + array.size()};
}

std::string bytes_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(one_row, is_called_by_name_and_alias) {
    EXPECT_EQ(elements(evaluate(soft(x_))), expected());
    EXPECT_EQ(elements(evaluate(numpy::apply("one_row_smooth", {x_}))), expected());
}

TEST_F(one_row, is_documented) { EXPECT_EQ(scalar::row("one_row_soft")->doc, "x / (1 + |x|)"); }

TEST_F(one_row, is_differentiated) {
    const auto total = [](const Tensor& x) { return numpy::sum(soft(x)); };
    const std::vector<float> slopes = elements(evaluate(grad(total)(x_)));
    for (size_t i = 0; i < slopes.size(); ++i)
        if (values_[i] != 0) {
            EXPECT_NEAR(slopes[i], std::pow(1 + std::fabs(values_[i]), -2), 1e-6) << values_[i];
        }
}

TEST_F(one_row, is_batched) {
    const Array mapped = evaluate(vmap(soft)(x_));
    EXPECT_EQ(mapped.shape(), Shape({count}));
    EXPECT_EQ(elements(mapped), expected());
}

TEST_F(one_row, is_compiled_and_exported) {
    const execute::Compiled compiled = compile(soft, {.backend = "cpp"}, x_);
    const Array x = evaluate(x_);
    EXPECT_EQ(elements(compiled({x})[0]), expected());
    EXPECT_EQ(compiled.placements()[0].backend, "cpp");

    std::string folder = (fs::temp_directory_path() / "composit-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    cpp_project::export_cpp_project({compiled.program()}, folder, {"model", ""});
    EXPECT_NE(bytes_of(fs::path(folder) / "model.cpp").find("// one_row_soft: x / (1 + |x|)\n"),
              std::string::npos);
    std::ofstream(fs::path(folder) / "x", std::ios::binary).write(x.data_as<char>(), x.bytes());
    const std::string build = "c++ -O2 -std=c++17 -Wall -Wextra -Werror model.cpp main.cpp";
    const std::string command =
        "cd " + folder + " && " + build + " && ./a.out " + compiled.program().name + " x y";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    const std::string found = bytes_of(fs::path(folder) / "y");
    ASSERT_EQ(found.size(), count * sizeof(float));
    EXPECT_EQ(std::memcmp(found.data(), expected().data(), found.size()), 0);
    fs::remove_all(folder);
}

}  // namespace
}  // namespace composit

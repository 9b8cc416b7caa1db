// Exported programs compile without a warning and return the bits that kernels mean.
#include "composit/base/error.h"
#include "composit/exporters/cpp_project/export.h"
#include "composit/exporters/cpp_project/sections.h"
#include "tests/cpp/backends/cpp_reference.h"
#include "tests/cpp/backends/cpp_test_programs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace composit::tests {
namespace {

namespace fs = std::filesystem;

// A folder of this test's own, removed at its end.
class Folder {
  public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "composit-test-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~Folder() { fs::remove_all(path_); }
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

int shell(const std::string& command) { return std::system(command.c_str()); }

// Runs an exported function on files; the arrays it wrote.
std::vector<Array> run_exported(const fs::path& folder, const std::string& function,
                                const Program& program, const std::vector<Array>& inputs,
                                int threads) {
    std::string words = "./digits " + function;
    for (size_t k = 0; k < inputs.size(); ++k) {
        std::string name = "in" + std::to_string(k);
        std::ofstream(folder / name, std::ios::binary)
            .write(inputs[k].data_as<char>(), inputs[k].bytes());
        words += " " + name;
    }
    for (size_t k = 0; k < program.outputs.size(); ++k) words += " out" + std::to_string(k);
    words += " " + std::to_string(threads);
    EXPECT_EQ(shell("cd " + folder.string() + " && " + words), 0) << words;
    std::vector<Array> outputs;
    for (size_t k = 0; k < program.outputs.size(); ++k) {
        const auto& buffer = program.buffers[static_cast<size_t>(program.outputs[k])];
        Array output = Array::zeros(buffer.dtype, buffer.shape);
        std::string bytes = read(folder / ("out" + std::to_string(k)));
        EXPECT_EQ(static_cast<int64_t>(bytes.size()), output.bytes());
        std::memcpy(output.mutable_data(), bytes.data(),
                    std::min(bytes.size(), static_cast<size_t>(output.bytes())));
        outputs.push_back(output);
    }
    return outputs;
}

void expect_exported_bits(const std::vector<Program>& programs, size_t kernels_per_source = 256) {
    Folder folder;
    cpp_project::export_cpp_project(programs, folder.path().string(),
                                    {"digits", "", kernels_per_source});
    ASSERT_EQ(shell("cd " + folder.path().string() +
                    " && g++ -O2 -std=c++17 -Wall -Wextra -Werror digits*.cpp main.cpp -o digits"),
              0);
    for (const Program& program : programs) {
        SCOPED_TRACE(program.name);
        std::vector<Array> inputs = random_inputs(program);
        std::vector<Array> expected = Reference(program, inputs).run();
        std::string function =
            program.name == "reversed, transposed" ? "reversed_transposed" : program.name;
        for (int threads : {1, 2, 4}) {
            std::vector<Array> results =
                run_exported(folder.path(), function, program, inputs, threads);
            for (size_t k = 0; k < results.size(); ++k)
                EXPECT_EQ(differing(results[k], expected[k]), 0) << k << " with " << threads;
        }
    }
}

std::vector<Program> chosen(const std::set<std::string>& names) {
    std::vector<Program> result;
    for (const Program& program : test_programs())
        if (names.count(program.name) != 0) result.push_back(program);
    EXPECT_EQ(result.size(), names.size());
    return result;
}

TEST(CppProject, MapsAndReductionsHaveTheirBits) {
    expect_exported_bits(chosen({"broadcast", "reversed, transposed", "two_outputs", "large",
                                 "scalar_and_empty", "wrap_int8", "rows_fused", "columns_nested",
                                 "position_fused", "nothing_summed", "running_columns"}));
}

TEST(CppProject, ContractionsAndIndexingHaveTheirBits) {
    expect_exported_bits(chosen({"product_tall", "product_int8", "gather_rows", "gather_pairs",
                                 "scatter_2000_add", "fold"}));
}

// A training step: weights go in and come out, and large constants live in a file.
Program training_step() {
    Builder b("step");
    int w = b.input("w", DType::float32, {40}), x = b.input("x", DType::float32, {40});
    int t = b.constant("target", random_array(DType::float32, {40}, 5, false));
    int r = b.constant("rate", Array::scalar(DType::float32, 0.125));
    int out = b.output("w", DType::float32, {40});
    Expr error = arg(0) * arg(1) - arg(2);
    b.kernel("update", ir::kernel::Map{{40},
                                       {b.all(w), b.all(x), b.all(t), b.access(r, {0})},
                                       {arg(0) - arg(3) * error * arg(1)},
                                       {b.all(out)}});
    return b.done();
}

TEST(CppProject, ConstantsAreReadFromTheFileThatBelongs) {
    Program program = training_step();
    expect_exported_bits({program});
    Folder folder;
    cpp_project::export_cpp_project({program}, folder.path().string(), {"digits", ""});
    std::string header = read(folder.path() / "digits.hpp");
    EXPECT_NE(header.find("float* new_w /* [40] */"), std::string::npos) << header;
    EXPECT_NE(read(folder.path() / "digits.cpp").find("0.125f"), std::string::npos);
    // Sources of two exports do not compile together.
    std::string of_another = header;
    of_another.replace(of_another.find("#define COMPOSIT_EXPORT_digits 0x") + 33, 1, "g");
    std::ofstream(folder.path() / "digits.hpp") << of_another;
    for (const char* source : {"digits.cpp", "main.cpp"}) {
        EXPECT_NE(shell("cd " + folder.path().string() + " && g++ -E " + source + " 2> said > all"),
                  0);
        EXPECT_NE(read(folder.path() / "said")
                      .find(std::string(source) + " and digits.hpp are of different exports. "
                                                  "Export the project again."),
                  std::string::npos);
    }
}

// Changes each byte, bytes by pairs, and where the file ends; prints what was accepted, and what
// each kind of refusal says.
constexpr const char* damaging_main = R"(
#include "digits.hpp"
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

std::map<std::string, int> said;

void load(const std::string& content) {
    std::ofstream("damaged", std::ios::binary) << content;
    try {
        digits::load_weights("damaged");
        ++said["accepted"];
    } catch (const std::runtime_error& error) {
        ++said[error.what()];
    }
}

int main() {
    std::ifstream file("digits.weights", std::ios::binary);
    const std::string right((std::istreambuf_iterator<char>(file)), {});
    load(right);
    for (std::size_t i = 0; i < right.size(); ++i) {
        for (int bit = 0; bit < 8; bit += 3) {
            std::string damaged = right;
            damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
            load(damaged);
            // The same bit of another element: a sum would not tell.
            damaged[(i + 32) % right.size()] ^= static_cast<char>(1 << bit);
            load(damaged);
        }
        load(right.substr(0, i));
        load(right + right.substr(0, i + 1));
    }
    for (const auto& each : said) std::printf("%d %s\n", each.second, each.first.c_str());
    digits::load_weights("digits.weights");
    try {
        digits::load_weights("none");
    } catch (const std::runtime_error& error) {
        std::puts(error.what());
    }
    const float x[40] = {};
    float out[40];
    digits::step(x, x, out);
}
)";

TEST(CppProject, NoDamagedFileOfWeightsIsAccepted) {
    Folder folder;
    cpp_project::export_cpp_project({training_step()}, folder.path().string(),
                                    {"digits", damaging_main});
    ASSERT_EQ(shell("cd " + folder.path().string() +
                    " && g++ -O1 -std=c++17 -Wall -Wextra -Werror digits.cpp main.cpp -o digits"
                    " && ./digits > said"),
              0);
    // 64 bytes of header, 160 of weights: pairs that begin in the last 32 reach into the header.
    EXPECT_EQ(
        read(folder.path() / "said"),
        "1 accepted\n"
        "864 digits: 'damaged' is damaged: its weights do not have the checksum of its header."
        "\n"
        "928 digits: 'damaged' is not the file of weights that belongs to this program.\n"
        "digits: 'none' is missing.\n");
}

TEST(CppProject, IndicesOutOfBoundsAreErrors) {
    Builder b("take");
    int x = b.input("x", DType::float32, {5}), at = b.input("at", DType::int64, {3});
    int y = b.output("y", DType::float32, {3});
    b.kernel("take",
             ir::kernel::Gather{{3}, {}, b.access(x, {}), {b.all(at)}, {1}, {5}, {0}, b.all(y)});
    Folder folder;
    cpp_project::export_cpp_project({b.done()}, folder.path().string(), {"digits", R"(
#include "digits.hpp"
#include <stdexcept>
#include <string>
int main() {
    const float x[5] = {};
    const int64_t at[3] = {1, -6, 9};
    float y[3];
    try {
        digits::take(x, at, y);
    } catch (const std::out_of_range& error) {
        const std::string wanted = "index -6 is out of bounds for axis 0 with size 5";
        return error.what() == wanted ? 0 : 2;
    }
    return 1;
})"});
    EXPECT_EQ(shell("cd " + folder.path().string() +
                    " && g++ -O2 -std=c++17 -Wall -Wextra -Werror digits.cpp main.cpp && ./a.out"),
              0);
}

// So many kernels, all different, one behind the other.
Program chain(int length) {
    Builder b("chain");
    int at = b.input("x", DType::float32, {8});
    for (int k = 0; k < length; ++k) {
        bool is_last = k == length - 1;
        int next =
            is_last ? b.output("y", DType::float32, {8}) : b.temporary("", DType::float32, {8});
        b.kernel("step_" + std::to_string(k),
                 ir::kernel::Map{{8}, {b.all(at)}, {arg(0) + k * 0.5}, {b.all(next)}});
        at = next;
    }
    return b.done();
}

// More kernels than one file or one function takes.
TEST(CppProject, LargeProgramsAreSplit) {
    const Program program = chain(160);
    expect_exported_bits({program}, 64);
    Folder folder;
    cpp_project::export_cpp_project({program}, folder.path().string(), {"digits", "", 64});
    EXPECT_TRUE(fs::exists(folder.path() / "digits_3.cpp"));
    EXPECT_NE(read(folder.path() / "digits.cpp").find("part_2()"), std::string::npos);
}

// A section and what it holds: "a{b{0 1} 2}".
std::string text_of(const cpp_project::Section& section) {
    if (section.is_call()) return std::to_string(section.call);
    std::string result = section.path + "{";
    for (const cpp_project::Section& item : section.items)
        result += (result.back() == '{' ? "" : " ") + text_of(item);
    return result + "}";
}

TEST(CppProject, CallsOfOneModuleAreASection) {
    auto sections = [](std::vector<std::string> paths, size_t most = 9) {
        return text_of(cpp_project::sections_of(std::move(paths), 2, most));
    };
    EXPECT_EQ(sections({"", "", ""}), "{0 1 2}");
    EXPECT_EQ(sections({"stem", "a.0", "a.0", "a.1", "a.1"}), "{0 a{a.0{1 2} a.1{3 4}}}");
    EXPECT_EQ(sections({"a.0.b", "a.0.b", "a.0"}), "a.0{a.0.b{0 1} 2}");
    EXPECT_EQ(sections({"a.0.b", "a.0.c"}), "a.0{0 1}");
    EXPECT_EQ(sections({"ab", "a", "a.b", "a.b", "", "abc"}), "{0 a{1 a.b{2 3 4}} 5}");
    EXPECT_EQ(sections({"a", "a", "a", "b", "b"}, 2), "{a{{0 1} {2}} b{3 4}}");
    EXPECT_EQ(sections({"", "", "", "", ""}, 2), "{{{0 1} {2 3}} {{4}}}");
    ir::kernel::Kernel kernel;
    EXPECT_EQ(cpp_project::module_of(kernel), "");
    kernel.lines = {"net.1.dense, a.py:1", "net.1.norm, a.py:2"};
    EXPECT_EQ(cpp_project::module_of(kernel), "net.1");
    kernel.lines.push_back("a.py:7");
    EXPECT_EQ(cpp_project::module_of(kernel), "");
}

// Each module is a function of the text, and names are distinct whatever modules are called.
TEST(CppProject, ModulesAreFunctions) {
    Program program = chain(50);
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        const std::string layer = k < 20   ? "x"
                                  : k < 40 ? "steps." + std::to_string(k / 10)
                                           : "FirstFault";
        program.kernels[k].lines = {(k % 10 == 9 ? layer + ".k1" : layer) + ", net.py:1"};
    }
    program.kernels[0].lines = {"main.py:1"};
    expect_exported_bits({program});
    Folder folder;
    cpp_project::export_cpp_project({program}, folder.path().string(), {"digits", ""});
    const std::string source = read(folder.path() / "digits.cpp");
    for (const char* wanted :
         {"    // steps.2\n    void steps_2() const {\n", "        // x.k1\n",
          "    // steps\n    void steps_() const {\n        steps_2();\n        steps_3();\n",
          "    steps.part_1();\n    steps.x_();\n    steps.steps_();\n    steps.FirstFault_();\n"})
        EXPECT_NE(source.find(wanted), std::string::npos) << wanted << source;
}

TEST(CppProject, RefusesWhatItCannotWrite) {
    EXPECT_THROW(cpp_project::export_cpp_project({training_step()}, "/dev/null/x", {"digits", ""}),
                 InputOutputError);
    EXPECT_THROW(cpp_project::export_cpp_project({}, "/dev/null/x", {"digits", ""}), ValueError);
}

}  // namespace
}  // namespace composit::tests

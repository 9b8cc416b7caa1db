// Weights saved and loaded, and what is refused; tests/python/nn/test_safetensors.py has the rest.
#include "composit/nn/safetensors.h"

#include "../numpy/values.h"
#include "composit/base/nearest.h"
#include "composit/nn/safetensors_header.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace composit::nn {
namespace {

using numpy::array;
using numpy::expect_error;
using numpy::expect_values;

struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / text("composit-safetensors-", getpid());
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
};

TEST(safetensors, come_back) {
    const Folder folder;
    const auto path = folder.path / "weights";
    const Tensor x = array<float>({1, 2, 3, 4}, {2, 2});
    save_safetensors(path, {{"x", x}, {"n", array<int64_t>({7})}}, {{"format", "pt"}});
    for (const bool copy : {false, true}) {
        const LoadedTensors loaded = load_safetensors(path, copy);
        expect_values<float>(loaded.tensors.at("x"), {2, 2}, {1, 2, 3, 4});
        expect_values<int64_t>(loaded.tensors.at("n"), {1}, {7});
        EXPECT_EQ(loaded.tensors.at("x").name(), "x");
        EXPECT_EQ(loaded.metadata.at("format"), "pt");
        EXPECT_EQ(ir::constant_value(loaded.tensors.at("x").node()).is_borrowed(), !copy);
    }
}

TEST(safetensors, what_is_wrong_is_said) {
    const Folder folder;
    expect_error<FileNotFound>([&] { (void)load_safetensors(folder.path / "none"); },
                               "No such file");
    std::ofstream(folder.path / "short") << "abc";
    expect_error<ValueError>([&] { (void)load_safetensors(folder.path / "short"); },
                             "it has 3 bytes");
    expect_error<ValueError>([] { (void)parse_safetensors_header("f: ", "{\"a\":1}", 0); },
                             "f: there is '1' at byte 5 of the header. '{' is required.");
    const Tensor x = array<float>({1, 2});
    expect_error<ValueError>([&] { check_weights("f", {{"a.wieght", x}}, {{"a.weight", x}}); },
                             "'a.weight' is missing (near it: 'a.wieght')");
}

TEST(safetensors, headers_are_what_they_say) {
    const SafetensorsHeader header{{{"a\n", ir::DType::float32, {2}, 0, 8}}, {{"k", "v"}}};
    const std::string text = safetensors_header_text("f: ", header);
    EXPECT_EQ(text.size() % 8, 0u);
    const SafetensorsHeader back = parse_safetensors_header("f: ", text, 8);
    EXPECT_EQ(back.tensors[0].name, "a\n");
    EXPECT_EQ(back.tensors[0].shape, ir::Shape{2});
    EXPECT_EQ(back.metadata, header.metadata);
    const auto escaped =
        parse_safetensors_header("f: ", R"({"__metadata__":{"\u00e9\ud83d\ude00\/":""}})", 0);
    EXPECT_EQ(escaped.metadata.begin()->first, "\xc3\xa9\xf0\x9f\x98\x80/");
}

TEST(nearest, names_by_distance) {
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
    EXPECT_EQ(nearest_names("wieght", {"weight", "bias", "weights"}, 3),
              std::vector<std::string>{"weight"});
}

}  // namespace
}  // namespace composit::nn

// Archives of torch.save; tests/python/torch/test_torch_archives.py has PyTorch's own files.
#include "composit/nn/torch_archive.h"

#include "../numpy/values.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace composit::nn {
namespace {

using numpy::expect_error;
using numpy::expect_values;

std::string number(uint64_t value, size_t bytes) {
    std::string made;
    for (size_t i = 0; i < bytes; ++i) made += static_cast<char>(value >> (8 * i) & 0xff);
    return made;
}

uint32_t checksum(const std::string& bytes) {
    uint32_t sum = ~0U;
    for (const char c : bytes) {
        sum ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (sum & 1 ? 0xedb88320U : 0U);
    }
    return ~sum;
}

std::string zip_of(const std::vector<std::pair<std::string, std::string>>& entries) {
    std::string files, directory;
    for (const auto& [name, content] : entries) {
        const std::string facts = number(checksum(content), 4) + number(content.size(), 4) +
                                  number(content.size(), 4) + number(name.size(), 2);
        directory += "PK\1\2" + number(20, 2) + number(20, 2) + number(0, 8) + facts +
                     number(0, 12) + number(files.size(), 4) + name;
        files += "PK\3\4" + number(20, 2) + number(0, 8) + facts + number(0, 2) + name + content;
    }
    const size_t begin = files.size();
    return files + directory + "PK\5\6" + number(0, 4) + number(entries.size(), 2) +
           number(entries.size(), 2) + number(directory.size(), 4) + number(begin, 4) +
           number(0, 2);
}

// {"w": a transposed tensor of 2 by 3, "n": [1, None]}, as torch.save writes it.
std::string pickle() {
    const auto text = [](const std::string& s) { return "X" + number(s.size(), 4) + s; };
    std::string made = "\x80\x02}(" + text("w") + "ctorch._utils\n_rebuild_tensor_v2\n((";
    made += text("storage") + "ctorch\nFloatStorage\n" + text("0") + text("cpu") + "K\x06tQ";
    made += std::string("K\0", 2) + "K\x03K\x02\x86" + "K\x01K\x03\x86\x89" +
            "ccollections\nOrderedDict\n)RtR";
    return made + text("n") + "](K\x01Neu.";
}

std::string storage() {
    std::string made;
    for (const float value : {1.F, 2.F, 3.F, 4.F, 5.F, 6.F})
        made.append(reinterpret_cast<const char*>(&value), sizeof value);
    return made;
}

TEST(torch_archive, holds_tensors) {
    const std::string content =
        zip_of({{"a/data.pkl", pickle()}, {"a/byteorder", "little"}, {"a/data/0", storage()}});
    const Held found = read_torch_archive("f", content);
    expect_values<float>(found.at("w").tensor, {3, 2}, {1, 4, 2, 5, 3, 6});
    EXPECT_EQ(found.at("n").items[0].text, "1");
    EXPECT_EQ(found.at("n").items[1].kind, "none");
}

TEST(torch_archive, is_read_without_trust) {
    const auto read = [](const std::string& pickle, const std::string& storage) {
        (void)read_torch_archive("f", zip_of({{"a/data.pkl", pickle}, {"a/data/0", storage}}));
    };
    expect_error<ValueError>(
        [&] {
            read(
                "\x80\x02"
                "cos\nsystem\n.",
                "");
        },
        "f: its archive is damaged: it names os.system");
    expect_error<ValueError>([&] { read(pickle(), storage().substr(4)); },
                             "a tensor reaches beyond its storage");
    expect_error<ValueError>([&] { read("\x80\x02]", ""); }, "pickle exhausted before seeing STOP");
    expect_error<ValueError>([&] { read("\x80\x02t.", ""); }, "it takes values that are not there");
    expect_error<ValueError>([&] { (void)read_torch_archive("f", "PK"); },
                             "File is not a zip file");
    std::string content = zip_of({{"a/data.pkl", pickle()}, {"a/data/0", storage()}});
    content[content.find("_rebuild") + 1] ^= 1;
    expect_error<ValueError>([&] { (void)read_torch_archive("f", content); },
                             "Bad CRC-32 for file 'a/data.pkl'");
}

TEST(torch_archive, the_last_value_of_a_key_counts) {
    // {1: 1, "1": 2, (1,): 3, True: 4, (1.0,): 5}
    const std::string one("G\x3f\xf0\0\0\0\0\0\0", 9);
    const std::string pickle = "\x80\x02}(K\x01K\x01X" + number(1, 4) +
                               "1K\x02K\x01\x85K\x03\x88K\x04" + one + "\x85K\x05u.";
    const Held found = read_torch_archive("f", zip_of({{"a/data.pkl", pickle}}));
    ASSERT_EQ(found.items.size(), 6U);
    EXPECT_EQ(found.items[0].text, "1");
    EXPECT_EQ(found.items[1].text, "4");
    EXPECT_EQ(found.at("1").text, "2");
    EXPECT_EQ(found.items[5].text, "5");
}

TEST(torch_archive, neither_depth_nor_repetition_takes_all_memory) {
    const auto read = [](const std::string& pickle) {
        (void)read_torch_archive("f", zip_of({{"a/data.pkl", pickle}}));
    };
    std::string pairs = "\x80\x02N";  // (x, x) of (x, x) of …
    for (char i = 0; i < 30; ++i) pairs += std::string("q") + i + 'h' + i + '\x86';
    expect_error<ValueError>([&] { read(pairs + "."); }, "it repeats its containers so often");
    std::string calls = "\x80\x02(";  // OrderedDict(*many) again and again
    for (int i = 0; i < 20'000; ++i) calls += 'N';
    calls += "tq";
    calls += '\0';
    calls += "ccollections\nOrderedDict\nq\1";
    const std::string call("h\1h\0R", 5);
    for (int i = 0; i < 20'000; ++i) calls += call;
    expect_error<ValueError>([&] { read(calls + "."); }, "it repeats its containers so often");
    const std::string lists(1'000'000, ']'), appends(999'999, 'a');
    expect_error<ValueError>([&] { read("\x80\x02" + lists + appends + "."); },
                             "it is nested too deep");
    expect_error<ValueError>([&] { read(std::string("\x80\x02]q\0h\0h\0ea.", 11)); },
                             "it takes values that are not there");
    expect_error<ValueError>([&] { read(std::string("\x80\x02]q\0h\0a.", 9)); },
                             "it is nested too deep");
    read(std::string("\x80\x02]q\0(", 6) + std::string(2'000'000, 'N') + "e.");
}

}  // namespace
}  // namespace composit::nn

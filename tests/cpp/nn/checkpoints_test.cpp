// Structures in files; tests/python/nn/test_checkpoints.py has the rest.
#include "composit/nn/checkpoints.h"

#include "../numpy/values.h"

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <unistd.h>

namespace composit::nn {
namespace {

using numpy::array;
using numpy::expect_error;
using numpy::expect_values;

TEST(checkpoints, come_back) {
    const auto path =
        std::filesystem::temp_directory_path() / text("composit-checkpoint-", getpid());
    const Tensor weights = array<float>({1, 2}, {2}), bias = array<double>({3}, {1});
    const Held state = Held::list({Held::of(bias), Held::real(0.1), Held::real(-0.0), Held()});
    save_checkpoint(path, Held::dictionary({{"weights", Held::of(weights)},
                                            {"state", state},
                                            {"step", Held::integer(12)},
                                            {"name", Held::of_text("é")}}));
    const Held found = load_checkpoint(path);
    std::filesystem::remove(path);
    expect_values<float>(found.at("weights").tensor, {2}, {1, 2});
    EXPECT_EQ(found.at("state").items[0].tensor.name(), "state.0");
    EXPECT_EQ(found.at("state").items[1].number, 0.1);
    EXPECT_TRUE(std::signbit(found.at("state").items[2].number));
    EXPECT_EQ(found.at("state").items[3].kind, "none");
    EXPECT_EQ(found.at("step").text, "12");
    EXPECT_EQ(found.at("name").text, "é");
    expect_error<KeyError>([&] { (void)found.at("rate"); }, "there is no key 'rate'");
}

TEST(checkpoints, floats_come_back_to_the_bit) {
    const auto read = [](const std::string& number) {
        const std::string outline = "{\"float\": \"" + number + "\"}";
        return read_outline(checkpoint_format(), "f", "A file", outline, {}).number;
    };
    using Limits = std::numeric_limits<double>;
    for (const double number :
         {0.1, -0.0, 3 * Limits::denorm_min(), -Limits::min() / 3, Limits::max(), -0x1.8p+9,
          Limits::infinity(), -Limits::infinity()}) {
        NamedTensors tensors;
        const std::string outline = outline_text(checkpoint_format(), Held::real(number), tensors);
        const Held found = read_outline(checkpoint_format(), "f", "A file", outline, tensors);
        EXPECT_EQ(std::bit_cast<uint64_t>(found.number), std::bit_cast<uint64_t>(number))
            << outline;
    }
    EXPECT_TRUE(std::isnan(read("nan")));
    for (const char* const number : {"", "-", "0x", "1.5", "--0x1p+0", "0x-1p+0", "0x1p+0 ",
                                     "0x1,8p+0", "0x1p+5000", "-0xinf", "--inf"})
        expect_error<ValueError>([&] { (void)read(number); }, "which is none");
}

TEST(checkpoints, deep_outlines_are_written_in_time) {
    Held deep = Held::list(std::vector<Held>(100'000, Held::integer(1)));
    for (int i = 0; i < 400; ++i) {
        std::vector<Held> items;
        items.push_back(std::move(deep));
        deep = Held::list(std::move(items));
    }
    NamedTensors tensors;
    EXPECT_GT(outline_text(checkpoint_format(), deep, tensors).size(), 100'000U);
}

TEST(checkpoints, are_read_without_trust) {
    const NamedTensors tensors{{"a", array<float>({1}, {1})}};
    const auto read = [&](const std::string& outline) {
        (void)read_outline(checkpoint_format(), "f", "A file", outline, tensors);
    };
    expect_error<ValueError>([&] { read("{\"value\":1}"); },
                             "f: its outline is broken: the tensor 'a' stands nowhere in it. A "
                             "file is required.");
    expect_error<ValueError>([&] { read("{\"dict\":[[\"k\",{\"float\":\"z\"}]]}"); },
                             "k is the float 'z', which is none");
    expect_error<ValueError>([&] { read("{\"x\":1}"); }, "the whole is of the unknown kind 'x'");
}

}  // namespace
}  // namespace composit::nn

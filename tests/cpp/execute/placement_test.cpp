// Kernels of one program on several back ends, by rules, by cost, and what their runs show.
#include "composit/execute/placement.h"

#include "composit/base/error.h"
#include "composit/composit.h"
#include "composit/execute/execute.h"
#include "composit/mosaic/place.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace composit::execute {
namespace {

using ir::DType;

template <class Error>
std::string error_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

Array numbers(const ir::Shape& shape) {
    Array array(DType::float32, shape);
    auto* element = static_cast<float*>(array.mutable_data());
    for (int64_t i = 0; i < array.size(); ++i) element[i] = static_cast<float>(i % 13) / 8 - 0.5F;
    return array;
}

std::string bytes_of(const std::vector<Array>& arrays) {
    std::string result;
    for (const Array& array : arrays)
        result.append(array.data_as<char>(), static_cast<size_t>(array.bytes()));
    return result;
}

struct Network {
    Tensor x = ir::input("x", DType::float32, {6, 8});
    Tensor w0 = ir::constant(numbers({8, 8}), "layers.0.weight");
    Tensor w1 = ir::constant(numbers({8, 8}), "layers.1.weight");
    Tensor hidden = numpy::tanh(numpy::matmul(x, w0));
    Tensor y = numpy::sum(numpy::tanh(numpy::matmul(hidden, w1)));
    Array value = numbers({6, 8});

    [[nodiscard]] Compiled compiled(const Placement& placement) const {
        return {"f", {x}, {y, hidden}, {.backend = "interpreter", .placement = placement}};
    }
    [[nodiscard]] std::set<std::string> backends(const Placement& placement) const {
        std::set<std::string> found;
        const Compiled made = compiled(placement);
        for (const PlacedKernel& placed : made.placements()) found.insert(placed.backend);
        return found;
    }
};

TEST(Placement, RulesPlaceKernelsAndChangeNoBit) {
    const Network network;
    const std::string expected = bytes_of(network.compiled({})({network.value}));
    EXPECT_EQ(network.backends({}), (std::set<std::string>{"interpreter"}));
    for (const auto& [name, count] : {std::pair{"layers.1", 2}, {"layers", 1}, {"sum*", 2}}) {
        const Placement placement = Placement().put(name, "cpp");
        EXPECT_EQ(network.backends(placement).size(), static_cast<size_t>(count)) << name;
        EXPECT_EQ(bytes_of(network.compiled(placement)({network.value})), expected) << name;
    }
}

TEST(Placement, StarsStandForAnyCharacters) {
    const Network network;
    for (const char* name : {"*", "lay*weight", "*er*1*", "**", "layers.*", "*_weight", "t*nh*"})
        EXPECT_EQ(network.backends(Placement().put(name, "cpp")).count("cpp"), 1) << name;
    const std::string many = std::string(200, '*') + "nowhere";
    for (const std::string& name : {std::string("layer"), std::string("*weigh"), many})
        EXPECT_THROW((void)network.compiled(Placement().put(name, "cpp")), ValueError) << name;
}

TEST(Placement, NamesThatFitNothingAreErrors) {
    const Network network;
    EXPECT_EQ(error_of<ValueError>([&] { (void)network.compiled(Placement().put("head", "cpp")); }),
              "f: the placement names 'head', which is no kernel, constant, tensor or line. There "
              "are layers_0_weight, layers_1_weight, contract_2, tanh_2, contract_4, sum_tanh.");
    EXPECT_EQ(error_of<ValueError>([] { (void)Placement().put("", "cpp"); }),
              "Placement: name '', device 'cpp'. Both are required.");
}

TEST(Placement, IsAValue) {
    const Placement placement = Placement().put("layers.0", "opencl:0").put("sum*", "cpu");
    EXPECT_EQ(placement.print(), "layers.0: opencl:0\nsum*: cpu\n");
    const auto path = std::filesystem::temp_directory_path() / "placement_test.txt";
    placement.save(path);
    EXPECT_EQ(Placement::load(path).print(), placement.print());
    std::filesystem::remove(path);
    EXPECT_EQ(Placement::diff(placement, Placement::parse("layers.0: cpp\n")),
              "- layers.0: opencl:0\n+ layers.0: cpp\n- sum*: cpu\n");
    EXPECT_EQ(error_of<ValueError>([] { (void)Placement::parse("x: a b\n"); }),
              "Placement.parse: line 1: 'x: a b'. A name and a device are required: "
              "'layer.0: opencl:0'.");
}

TEST(Placement, StreamsAndTimelines) {
    const Network network;
    const Compiled placed = network.compiled(Placement().put("layers.1", "cpp"));
    const std::vector<std::vector<Array>> calls(5, {network.value});
    for (const std::vector<Array>& results : placed.run_stream(calls, 2))
        EXPECT_EQ(bytes_of(results), bytes_of(placed({network.value})));
    const Timeline timeline = placed.timeline({network.value});
    ASSERT_EQ(timeline.steps.size(), 2);
    EXPECT_EQ(timeline.steps[0].what, "contract_2 to tanh_2");
    EXPECT_EQ(timeline.devices(), (std::vector<std::string>{"cpu"}));
    EXPECT_LE(timeline.busy_seconds("cpu"), timeline.seconds());
    EXPECT_TRUE(network.compiled({}).timeline({network.value}).steps.empty());
}

TEST(Placement, ByCost) {
    const Network network;
    const Placement chosen =
        mosaic::choose_placement(network.compiled({}).unscheduled(), {"cpp", "interpreter"}, 1);
    EXPECT_EQ(chosen.rules().size(), 4);
    EXPECT_EQ(bytes_of(network.compiled(chosen)({network.value})),
              bytes_of(network.compiled({})({network.value})));
    EXPECT_EQ(mosaic::link_of("cpp").seconds_for(1 << 20), 0);
}

}  // namespace
}  // namespace composit::execute

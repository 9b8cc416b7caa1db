// ONNX models from C++: bytes of a file written here, called, differentiated and compiled.
#include "composit/onnx/loaded_model.h"

#include "composit/base/error.h"
#include "composit/functional/functional.h"
#include "composit/nn/training.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/reductions.h"
#include "composit/onnx/call.h"
#include "composit/onnx/image_decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace composit::onnx {
namespace {

// ----- a writer of the wire format, as far as these tests need one
std::string varint(uint64_t value) {
    std::string out;
    for (; value > 127; value >>= 7) out.push_back(static_cast<char>(value | 128));
    out.push_back(static_cast<char>(value));
    return out;
}
std::string field(uint32_t number, const std::string& content) {
    return varint(number << 3 | 2) + varint(content.size()) + content;
}
std::string field(uint32_t number, uint64_t value) { return varint(number << 3) + varint(value); }

std::string value_info(const std::string& name, const std::vector<std::string>& lengths) {
    std::string shape;
    for (const std::string& length : lengths) {
        const bool is_number = length[0] >= '0' && length[0] <= '9';
        shape += field(1, is_number ? field(1, std::stoull(length)) : field(2, length));
    }
    const std::string tensor = field(1, uint64_t{1}) + field(2, shape);
    return field(1, name) + field(2, field(1, tensor));
}
std::string node(const std::string& operation, const std::vector<std::string>& inputs,
                 const std::string& output) {
    std::string content;
    for (const std::string& input : inputs) content += field(1, input);
    return content + field(2, output) + field(4, operation);
}
std::string floats(const std::string& name, const std::vector<uint64_t>& dims,
                   const std::vector<float>& values) {
    std::string content;
    for (const uint64_t length : dims) content += field(1, length);
    return content + field(2, uint64_t{1}) + field(8, name) +
           field(9, std::string(reinterpret_cast<const char*>(values.data()),
                                values.size() * sizeof(float)));
}

// relu(x @ w) for rows x of two numbers.
std::string small_model(const std::string& operation = "Relu") {
    const std::string graph =
        field(1, node("MatMul", {"x", "w"}, "h")) + field(1, node(operation, {"h"}, "y")) +
        field(5, floats("w", {2, 2}, {1, -1, 2, 0.5})) + field(11, value_info("x", {"n", "2"})) +
        field(12, value_info("y", {"n", "2"}));
    return field(1, uint64_t{10}) + field(8, field(2, uint64_t{21})) + field(7, graph);
}

std::vector<float> values_of(const Array& array) {
    return {array.data_as<float>(), array.data_as<float>() + array.size()};
}

TEST(LoadedModel, says_what_it_takes_and_gives) {
    const LoadedModel model = load_bytes(small_model());
    ASSERT_EQ(model.inputs().size(), 1u);
    EXPECT_EQ(model.inputs()[0].name, "x");
    EXPECT_EQ(description(model.inputs()[0].type), "float32 (n, 2)");
    EXPECT_EQ(model.outputs()[0].name, "y");
    EXPECT_EQ(model.opsets().at(""), 21);
    ASSERT_EQ(model.parameters().size(), 1u);
    EXPECT_EQ(model.parameters()[0].name, "w");
}

TEST(LoadedModel, is_called_and_compiled_with_the_same_values) {
    const LoadedModel model = load_bytes(small_model());
    const Tensor x = numpy::array<float>({1, 2, -1, 4}, {2, 2});
    const Array values = evaluate(model({x})[0].tensor());
    EXPECT_EQ(values_of(values), (std::vector<float>{5, 0, 7, 3}));
    const LoadedModel::Compiled compiled = model.compile({x});
    EXPECT_TRUE(compiled.fixed.empty());
    EXPECT_EQ(values_of(compiled.program({evaluate(x)})[0]), values_of(values));
}

TEST(LoadedModel, has_gradients_with_respect_to_parameters) {
    const LoadedModel model = load_bytes(small_model());
    const Tensor x = numpy::array<float>({1, 2}, {1, 2});
    const Tensor loss = numpy::sum(model({x})[0].tensor());
    const Tensor gradient = nn::chain_rule({{loss, loss}}, {model.parameters()[0].tensor})[0];
    EXPECT_EQ(values_of(evaluate(gradient)), (std::vector<float>{1, 0, 2, 0}));
}

TEST(LoadedModel, takes_other_parameters) {
    const LoadedModel model = load_bytes(small_model());
    const Tensor x = numpy::array<float>({1, 2}, {1, 2});
    const Tensor w = numpy::array<float>({1, 1, 1, 1}, {2, 2});
    EXPECT_EQ(values_of(evaluate(model({x}, {{"w", w}})[0].tensor())), (std::vector<float>{3, 3}));
    EXPECT_THROW((void)model({x}, {{"v", w}}), KeyError);
}

TEST(LoadedModel, refuses_by_name) {
    EXPECT_THROW((void)load_bytes(small_model("Relo")), NotSupported);
    EXPECT_THROW((void)load_bytes("no model"), ValueError);
    const LoadedModel model = load_bytes(small_model());
    EXPECT_THROW((void)model({}), TypeError);
    EXPECT_THROW((void)model({numpy::array<float>({1, 2, 3}, {1, 3})}), ValueError);
    EXPECT_THROW((void)model({numpy::array<double>({1, 2}, {1, 2})}), TypeError);
    EXPECT_THROW((void)load("/nowhere/model.onnx"), FileNotFound);
}

TEST(LoadedModel, refuses_inputs_that_are_left_out) {
    for (const char* operation : {"Shape", "Size", "Reshape", "Unsqueeze"}) {
        const std::string graph = field(1, node(operation, {""}, "y")) +
                                  field(11, value_info("x", {"n"})) +
                                  field(12, value_info("y", {"m"}));
        const LoadedModel model =
            load_bytes(field(1, uint64_t{10}) + field(8, field(2, uint64_t{21})) + field(7, graph));
        EXPECT_THROW((void)model({numpy::array<float>({1, 2})}), Error) << operation;
    }
}

TEST(LoadedModel, every_cut_of_a_file_is_an_error) {
    const std::string whole = small_model();
    for (size_t length = 0; length < whole.size(); ++length)
        EXPECT_THROW((void)load_bytes(whole.substr(0, length)), Error) << length;
}

TEST(LoadedModel, reads_images_by_the_decoder_that_is_given) {
    std::string input = value_info("x", {"n"}), output = value_info("y", {"h", "w", "c"});
    const std::string element = field(1, uint64_t{1}), byte = field(1, uint64_t{2});
    for (std::string* info : {&input, &output}) info->replace(info->find(element), 2, byte);
    const std::string graph =
        field(1, node("ImageDecoder", {"x"}, "y")) + field(11, input) + field(12, output);
    const LoadedModel model =
        load_bytes(field(1, uint64_t{10}) + field(8, field(2, uint64_t{21})) + field(7, graph));
    const Tensor file = numpy::array<uint8_t>({7, 8, 9});
    EXPECT_THROW((void)model({file}), NotSupported);
    set_image_decoder([](const Array& bytes, const std::string& format) {
        EXPECT_EQ(format, "RGB");
        const auto* const at = bytes.data_as<uint8_t>();
        return Array::of<uint8_t>(ir::DType::uint8, {1, 1, bytes.size()}, {at, at + bytes.size()});
    });
    const Array made = evaluate(model({file})[0].tensor());
    EXPECT_EQ(made.shape(), (ir::Shape{1, 1, 3}));
    EXPECT_EQ(made.data_as<uint8_t>()[2], 9);
    EXPECT_THROW((void)model({numpy::array<uint8_t>({7, 8})}), TypeError);
    set_image_decoder({});
}

TEST(Operators, are_known_by_domain_and_name) {
    EXPECT_NE(operators().find("", "Conv"), nullptr);
    EXPECT_NE(operators().find("ai.onnx.ml", "TreeEnsemble"), nullptr);
    EXPECT_EQ(operators().find("", "TreeEnsemble"), nullptr);
    EXPECT_GT(operators().all().size(), 190u);
}

}  // namespace
}  // namespace composit::onnx

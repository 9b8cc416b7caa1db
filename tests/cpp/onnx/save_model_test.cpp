// Graphs saved as ONNX models from C++, and read again.
#include "composit/onnx/save_model.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/nn/layers.h"
#include "composit/nn/training.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/onnx/loaded_model.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace composit::onnx {
namespace {

using ir::DType;
using ir::Tensor;

const Tensor values = numpy::array<float>({1, -2, 3, 0.5f, 4, -1}, {2, 3});
const Tensor weights = numpy::array<float>({1, 2, 3, 4, 5, 6}, {3, 2});

std::vector<char> bytes_of(const Tensor& x) {
    const ir::Array value = execute::evaluate({x})[0];
    const char* data = static_cast<const char*>(value.data());
    return {data, data + value.bytes()};
}

TEST(SaveModel, a_layer_and_its_gradient_give_the_same_bits) {
    const Tensor x = ir::input("x", DType::float32, {2, 3});
    const auto layer = [&](const Tensor& x) {
        return nn::softmax(numpy::linalg::matmul(x, weights), -1);
    };
    const Tensor loss = numpy::sum(layer(x) * layer(x));
    const Tensor slope = nn::chain_rule({{loss, numpy::ones({}, DType::float32)}}, {x})[0];
    const std::string content = model_bytes({{"scores", layer(x)}, {"slope", slope}});
    const LoadedModel model = load_bytes(content);
    EXPECT_EQ(model.inputs()[0].name, "x");
    EXPECT_EQ(model.outputs()[1].name, "slope");
    EXPECT_EQ(model.file().graph.nodes[0].operation, "MatMul");
    EXPECT_EQ(model.file().graph.nodes[1].operation, "Softmax");
    const Values found = model({values});
    EXPECT_EQ(bytes_of(found[0].tensor()), bytes_of(layer(values)));
    const Tensor expected = ir::substitute({slope}, {x}, {values})[0];
    EXPECT_EQ(bytes_of(found[1].tensor()), bytes_of(expected));
}

TEST(SaveModel, inputs_are_those_asked_for_in_that_order) {
    const Tensor a = ir::input("a", DType::float32, {2}), b = ir::input("b", DType::float32, {2});
    const std::string content =
        model_bytes({{"sum", a + b}}, {.opset = 21, .inputs = {{"second", b}, {"first", a}}});
    const LoadedModel model = load_bytes(content);
    EXPECT_EQ(model.inputs()[0].name, "second");
    EXPECT_EQ(model.inputs()[1].name, "first");
    EXPECT_EQ(model.opsets().at(""), 21);
}

std::string error_of(const std::function<void()>& run) {
    try {
        run();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(SaveModel, errors_say_what_is_required) {
    const Tensor x = ir::input("x", DType::float64, {2, 2});
    EXPECT_EQ(error_of([] { (void)model_bytes({}); }),
              "onnx.save: there are no outputs. One or more are required.");
    EXPECT_EQ(error_of([&] { (void)model_bytes({{"y", x}}, {.opset = 7}); }),
              "onnx.save: opset 7 is asked for. One from 18 on is required.");
    EXPECT_EQ(error_of([&] { (void)model_bytes({{"y", numpy::linalg::inv(x)}}); }),
              "onnx.save: inv has no operator of ONNX. A graph of other operations is required.");
    EXPECT_EQ(error_of([&] { (void)model_bytes({{"y", x}}, {.inputs = {{"v", x + x}}}); }),
              "onnx.save: input \"v\" is no placeholder, which is required.");
    EXPECT_THROW(save("/none/there/model.onnx", {{"y", x}}), InputOutputError);
}

}  // namespace
}  // namespace composit::onnx

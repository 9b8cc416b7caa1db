// Files of strangers in ONNX's format: thousands with bytes changed, left out, doubled or cut off
// are read and built. Nothing dies, errors are the reader's, and no memory is taken that the bytes
// of a file do not justify.
//
// COMPOSIT_MUTANTS is how many (1000 unless it is given), COMPOSIT_SEED the first one's.
#include "composit/base/error.h"
#include "composit/nn/layers.h"
#include "composit/nn/operations.h"
#include "composit/nn/pooling.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/manipulation.h"
#include "composit/onnx/loaded_model.h"
#include "composit/onnx/save_model.h"
#include "tests/cpp/safety/process.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>

namespace composit::tests {
namespace {

using ir::Tensor;
using onnx::Attribute;
using onnx::Dimension;
using onnx::ElementType;
using onnx::Node;

Attribute integers(const std::string& name, std::vector<int64_t> values) {
    Attribute made;
    made.name = name;
    made.kind = Attribute::Kind::integers;
    made.integers = std::move(values);
    return made;
}

onnx::ValueInfo tensor_of(const std::string& name, ElementType element,
                          const std::vector<Dimension>& shape) {
    onnx::Type type;
    type.kind = onnx::Type::Kind::tensor;
    type.element = element;
    type.shape = shape;
    return {name, type};
}

Node node(const std::string& operation, std::vector<std::string> inputs,
          std::vector<std::string> outputs, std::vector<Attribute> attributes = {}) {
    Node made;
    made.operation = operation;
    made.inputs = std::move(inputs);
    made.outputs = std::move(outputs);
    made.attributes = std::move(attributes);
    return made;
}

onnx::TensorData numbers(const std::string& name, const std::vector<int64_t>& values) {
    onnx::TensorData made;
    made.name = name;
    made.element = ElementType::int64;
    made.dims = {static_cast<int64_t>(values.size())};
    made.has_raw = true;
    made.raw = {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t)};
    return made;
}

// Windows, products and a softmax.
std::string layers() {
    const Tensor x = ir::input("x", ir::DType::float32, {2, 1, 6, 6});
    const Tensor filters = numpy::ones({3, 1, 3, 3}, ir::DType::float32);
    const Tensor weights = numpy::ones({12, 4}, ir::DType::float32);
    const Tensor hidden = nn::relu(nn::convolution(x, filters));
    nn::PoolOptions pool;
    pool.kernel_size = {2, 2};
    pool.strides = {2, 2};
    const Tensor rows = numpy::reshape(nn::max_pool(hidden, pool), {2, 12});
    return onnx::model_bytes({{"y", nn::softmax(numpy::linalg::matmul(rows, weights), -1)}});
}

// Shapes that are computed, and branches with graphs of their own.
std::string shapes() {
    static const std::vector<int64_t> starts{0, 1}, ends{2, 9}, whole{-1}, two{2, 2};
    onnx::Model model;
    model.ir_version = 10;
    model.opsets[""] = 21;
    onnx::Graph& graph = model.graph;
    graph.name = "shapes";
    graph.initializers = {numbers("starts", starts), numbers("ends", ends), numbers("whole", whole),
                          numbers("two", two)};
    graph.inputs = {tensor_of("x", ElementType::float32, {Dimension{3, ""}, Dimension{{}, "n"}}),
                    tensor_of("c", ElementType::boolean, {})};
    graph.outputs = {tensor_of("y", ElementType::float32, {Dimension{{}, "m"}})};
    const auto branch = [](const std::string& operation) {
        auto made = std::make_shared<onnx::Graph>();
        made->name = operation;
        made->nodes = {node(operation, {"r"}, {"b"})};
        made->outputs = {tensor_of("b", ElementType::float32, {Dimension{{}, "m"}})};
        return made;
    };
    Attribute then_branch, else_branch;
    then_branch.name = "then_branch";
    else_branch.name = "else_branch";
    then_branch.kind = else_branch.kind = Attribute::Kind::graph;
    then_branch.graph = branch("Exp");
    else_branch.graph = branch("Neg");
    graph.nodes = {
        node("Slice", {"x", "starts", "ends"}, {"s"}),
        node("Shape", {"s"}, {"l"}),
        node("ConstantOfShape", {"l"}, {"z"}),
        node("Concat", {"s", "z"}, {"k"}, {[] {
                 Attribute axis;
                 axis.name = "axis";
                 axis.kind = Attribute::Kind::integer;
                 axis.integer = 1;
                 return axis;
             }()}),
        node("Transpose", {"k"}, {"t"}, {integers("perm", {1, 0})}),
        node("Tile", {"t", "two"}, {"u"}),
        node("Reshape", {"u", "whole"}, {"r"}),
        node("If", {"c"}, {"y"}, {then_branch, else_branch}),
    };
    return onnx::write_model(model);
}

std::string mutated(std::string content, std::mt19937_64& random) {
    const auto below = [&](size_t count) { return static_cast<size_t>(random() % count); };
    for (size_t changes = 1 + below(4); changes > 0 && content.size() > 16; --changes) {
        const size_t at = below(content.size());
        switch (below(12)) {
            case 0: content.erase(at, 1 + below(8)); break;
            case 1: content.insert(at, content.substr(at, 1 + below(16))); break;
            case 2: content.resize(content.size() - 1 - below(4)); break;
            case 3:  // a length or a number of 64 bits
                content.replace(at, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
                break;
            case 4:
            case 5:
            case 6: content[at] = static_cast<char>(random()); break;
            default: content[at] = static_cast<char>(content[at] ^ 1 << below(8));
        }
    }
    return content;
}

onnx::Values inputs_of(const onnx::LoadedModel& model) {
    onnx::Values inputs;
    for (const onnx::ValueInfo& info : model.inputs()) {
        ir::Shape shape;
        for (const Dimension& each : info.type.shape.value_or(std::vector<Dimension>{}))
            shape.push_back(each.value && *each.value > 0 && *each.value < 9 ? *each.value : 1);
        const auto dtype = info.type.element == ElementType::boolean ? ir::DType::boolean
                           : info.type.element == ElementType::int64 ? ir::DType::int64
                                                                     : ir::DType::float32;
        inputs.emplace_back(numpy::ones(shape, dtype));
    }
    return inputs;
}

// Whether a file is read and its graph built; an error is one of the library's classes otherwise.
bool is_taken(const std::string& content) {
    try {
        const onnx::LoadedModel model = onnx::load_bytes(content);
        (void)model(inputs_of(model));
        return true;
    } catch (const std::exception& error) {
        EXPECT_NE(dynamic_cast<const Error*>(&error), nullptr) << error.what();
        EXPECT_EQ(std::string(error.what()).find("internal error"), std::string::npos)
            << error.what();
        return false;
    }
}

TEST(MutantModels, are_read_or_refused_without_much_memory) {
    const std::vector<std::string> seeds{layers(), shapes()};
    for (const std::string& seed : seeds) ASSERT_TRUE(is_taken(seed));
    const std::string last = testing::TempDir() + "mutant_model";
    const size_t count = from_environment("COMPOSIT_MUTANTS", 1000);
    std::mt19937_64 random(from_environment("COMPOSIT_SEED", 1));
    const int64_t before = most_bytes_so_far();
    size_t taken = 0;
    for (size_t i = 0; i < count; ++i) {
        const std::string content = mutated(seeds[i % seeds.size()], random);
        std::ofstream(last, std::ios::binary) << content;  // there if it kills the process
        taken += is_taken(content) ? 1 : 0;
    }
    std::filesystem::remove(last);
    EXPECT_LT(most_bytes_so_far() - before, int64_t{256} << 20);
    EXPECT_GT(taken, count / 100);
    EXPECT_LT(taken, count);
    std::cout << taken << " of " << count << " mutants were taken\n";
}

}  // namespace
}  // namespace composit::tests

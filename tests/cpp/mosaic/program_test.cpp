// composit::mosaic as C++ uses it: schemas, kernels one by one, memory, values by leaf, limits.
#include "composit/mosaic/program.h"

#include "composit/base/error.h"
#include "composit/composit.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace composit {
namespace {

using mosaic::Program;
using mosaic::Schema;

Array numbers(ir::Shape shape) {
    Array array(DType::float32, std::move(shape));
    auto* element = static_cast<float*>(array.mutable_data());
    for (int64_t i = 0; i < array.size(); ++i) element[i] = static_cast<float>(i % 31) / 16 - 1;
    return array;
}

std::string bytes_of(const Array& array) {
    return {array.data_as<char>(), static_cast<size_t>(array.bytes())};
}

// tanh(x @ w), padded: kernels that write parts of a buffer are among them.
struct Model {
    Tensor x = ir::input("x", DType::float32, {8, 4});
    Tensor w = ir::constant(numbers({4, 6}), "w");
    Array value = numbers({8, 4});

    Tensor result(const Tensor& in) const {
        const Tensor y = numpy::tanh(numpy::matmul(in, w));
        return numpy::concatenate({y, y * y}, 1);
    }
    std::string expected() const {
        return bytes_of(execute::evaluate({result(ir::constant(value))})[0]);
    }
};

mosaic::Options plain(const std::string& target) {
    mosaic::Options options;
    options.target = target;
    options.fuse = false;
    return options;
}

TEST(Mosaic, EveryWayToRunReturnsTheSameBits) {
    const Model model;
    for (const std::string target : {"interpreter", "cpp"}) {
        mosaic::Options options = plain(target);
        options.schema = Schema().tile(model.x, {{"l2", {8, 2}, {}}, {"register", {4, 2}, {1, 0}}});
        const Program program({model.result(model.x)}, options);
        EXPECT_EQ(bytes_of(program({model.value})[0]), model.expected());
        EXPECT_EQ(bytes_of(program.evaluate({{model.x, model.value}})[0]), model.expected());

        std::map<std::string, Array> memory{{"x", model.value}};
        for (const mosaic::TiledTensor& tensor : program.tiles())
            if (tensor.name == "w") memory.emplace("w", ir::constant_value(model.w.node()));
        std::string last;
        for (const mosaic::Kernel& kernel : program.kernels()) {
            std::vector<Array> arguments;
            for (const auto& operand : kernel.inputs())
                arguments.push_back(memory.at(operand.name));
            const std::vector<Array> results = kernel(arguments);
            ASSERT_EQ(results.size(), kernel.outputs().size());
            for (size_t r = 0; r < results.size(); ++r)
                memory.insert_or_assign(last = kernel.outputs()[r].name, results[r]);
            EXPECT_NE(kernel.print().find("for "), std::string::npos);
            EXPECT_EQ(kernel.source().empty(), target == "interpreter");
        }
        EXPECT_EQ(bytes_of(memory.at(last)), model.expected());
    }
}

TEST(Mosaic, ShowsMemoryAndLimits) {
    const Model model;
    const Program program({model.result(model.x)}, plain("interpreter"));
    EXPECT_EQ(program.memory().outputs, 8 * 12 * 4);
    EXPECT_GE(program.memory().peak(), program.memory().arena + program.memory().outputs);
    const auto predicted = program.explain();
    ASSERT_EQ(predicted.size(), program.kernels().size());
    EXPECT_EQ(predicted[0].limit.flops, 2.0 * 8 * 4 * 6);
    EXPECT_EQ(predicted[0].seconds, -1);
    const std::vector<Array> arguments{model.value};
    for (const auto& row : program.explain(&arguments, 2)) EXPECT_GE(row.seconds, 0);
}

TEST(Mosaic, LimitsAreATable) {
    std::vector<Program::Explained> kernels{{"product", "Contract", {2e6, 1e6, 1e-5, false}, 2e-5},
                                            {"sum", "Reduce", {1e3, 4e6, 4e-5, true}, 4e-5}};
    EXPECT_EQ(mosaic::table(kernels),
              "kernel   kind      MFLOP     MB  limit us    bound    us  % of limit\n"
              "product  Contract  2.000  1.000      10.0  compute  20.0          50\n"
              "sum      Reduce    0.001  4.000      40.0   memory  40.0         100\n"
              "total                                50.0           60.0          83\n");
    kernels[1].seconds = -1;  // not all are measured
    EXPECT_EQ(mosaic::table(kernels),
              "kernel   kind      MFLOP     MB  limit us    bound\n"
              "product  Contract  2.000  1.000      10.0  compute\n"
              "sum      Reduce    0.001  4.000      40.0   memory\n"
              "total                                50.0\n");
}

TEST(Mosaic, SchemasAreValues) {
    const Model model;
    const Schema schema = Schema().tile(model.x, {4, 2}).tile("w", {{"l1", {2, 6}, {}}});
    EXPECT_EQ(schema.print(), "x: tile (4, 2)\nw: l1 (2, 6)\n");
    EXPECT_EQ(Schema::diff(Schema::parse(schema.print()), schema), "");
    EXPECT_EQ(Schema::diff(schema, Schema().tile("x", {})),
              "- w: l1 (2, 6)\n- x: tile (4, 2)\n+ x: whole\n");
}

TEST(Mosaic, RefusesWhatCannotBe) {
    const Model model;
    const auto message = [&](const Schema& schema) -> std::string {
        mosaic::Options options = plain("interpreter");
        options.schema = schema;
        try {
            const Program program({model.result(model.x)}, options);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message(Schema().tile(model.x, {3, 4})),
              "mosaic: level 'tile' of 'x': tiles of 3 do not divide dimension 0, which has 8 "
              "elements. A divisor is required.");
    EXPECT_NE(message(Schema().tile("x", {{"a b", {8, 4}, {}}})).find("Letters, digits"),
              std::string::npos);
    EXPECT_NE(message(Schema().tile("nowhere", {{"a", {8, 4}, {}}})).find("'nowhere'"),
              std::string::npos);
    EXPECT_THROW(Program({}, {}), ValueError);
    const Program program({model.result(model.x)}, plain("interpreter"));
    EXPECT_THROW(program.kernels()[0]({}), TypeError);
    EXPECT_THROW(program.evaluate({{model.result(model.x), model.value}}), KeyError);
    EXPECT_THROW(program({numbers({4, 8})}), ValueError);
}

}  // namespace
}  // namespace composit

// Texts of strangers: thousands of changed graphs, kernels and schemas are read, and what is taken
// is run. Nothing dies, errors are the reader's, and both back ends give the same bits.
//
// COMPOSIT_MUTANTS is how many of each kind (1000 unless it is given), COMPOSIT_SEED the first
// one's. COMPOSIT_UNCOMPILED is of how many graphs that are taken one is compiled, 20 unless it is
// given; of kernels, which are compiled together, five times as many are.
#include "tests/cpp/safety/mutants.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/ir/body.h"
#include "composit/ir/parse.h"
#include "composit/ir/print.h"
#include "composit/ir/procedure/callable.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/parse.h"
#include "composit/mosaic/schema.h"
#include "composit/ops/decompositions.h"
#include "composit/ops/ops.h"
#include "composit/transforms/tile.h"
#include "composit/transforms/transforms.h"
#include "tests/cpp/safety/kernel_batch.h"
#include "tests/cpp/safety/process.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>

namespace composit::tests {
namespace {

using ir::Array;
using ir::DType;
using ir::Tensor;
using ir::scalar::Expr;
using Tensors = std::vector<Tensor>;

// The mutant at hand, in a file: where one kills the process, it is there.
class LastMutant {
  public:
    explicit LastMutant(const std::string& name) : path_(testing::TempDir() + "mutant_" + name) {}
    ~LastMutant() { std::filesystem::remove(path_); }
    void is(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }

  private:
    std::string path_;
};

// y[i] = x[i] * 2 for each i < n, as a procedure.
int64_t doubling() {
    using ir::procedure::ArrayVariable;
    using ir::procedure::Statement;
    static const int64_t number = [] {
        ir::procedure::Procedure made;
        made.name = "doubling";
        made.variables = {{"n", DType::int64}, {"i", DType::int64}, {"v", DType::float64}};
        made.parameters = 1;
        const Expr n = made.variable(0), i = made.variable(1), v = made.variable(2);
        made.arrays = {{"x", DType::float64, {n}, ArrayVariable::Role::input},
                       {"y", DType::float64, {n}, ArrayVariable::Role::output}};
        made.head = {-1, 0};
        const Expr zero = Expr::constant_integer(DType::int64, 0),
                   one = Expr::constant_integer(DType::int64, 1);
        made.body = {Statement::allocate(1, true),
                     Statement::loop({Statement::assign(1, zero)}, i < n,
                                     {Statement::load(2, 0, {i}),
                                      Statement::write(Statement::Kind::store, 1, {i}, v * 2.0)},
                                     {Statement::assign(1, i + one)})};
        return ir::procedure::keep_callable(std::move(made));
    }();
    return number;
}

Tensor input_of(const char* name, DType dtype, ir::Shape shape) {
    return ir::input(name, dtype, std::move(shape));
}

Tensor added(const Tensor& a, const Tensor& b) { return ops::map("add", {a, b}); }

// Texts that name every operation which a text may.
std::vector<std::string> graph_texts() {
    ops::register_operations();
    const Tensor x = input_of("x", DType::float32, {2, 4, 6}),
                 v = input_of("v", DType::float64, {5}), z = input_of("z", DType::complex64, {3}),
                 h = input_of("h", DType::float16, {3}), n = input_of("n", DType::int32, {5}),
                 flags = input_of("b", DType::boolean, {5}),
                 matrix = input_of("m", DType::float64, {3, 3});
    const Tensor filters = input_of("f", DType::float32, {6, 2, 3});
    const Tensor index = ir::constant(Array::of<int64_t>(DType::int64, {2}, {1, -1}));
    const Tensor zero = ir::constant(Array::scalar(DType::float32, 0));
    const Tensor windows = ops::windows(x, {3}, {1}, {2});
    std::vector<Tensors> graphs;
    const auto add = [&](const Tensors& outputs) { graphs.push_back(outputs); };
    add({ops::convolve(x, filters, {{2}, {1}, {0}, {1}, {1}, 2})});
    add({ops::fold(windows, {6}, {1}, {2})});
    add({ops::scatter(x, {index, index}, {0, 2}, ops::gather(x, {index, index}, {0, 2}), true)});
    add({ops::pad(x, zero, {0, 1, -1}, {2, 0, 0}, {0, 1, 0})});
    add({ops::slice(x, {1, 3, 0}, {1, 2, 3}, {1, -2, 2})});
    add({ops::transpose(ops::concatenate({x, x}, 1), {2, 0, 1})});
    add({ops::broadcast_to(ops::reshape(x, {8, 1, 6}), {3, 8, 2, 6})});
    add({ops::scan(ops::Combiner::maximum, x, 1), ops::scan(ops::Combiner::sum, n, 0)});
    add({ops::reduce(ops::Combiner::argmin, x, {0, 2}),
         ops::reduce(ops::Combiner::sum, x, {1}, true)});
    add({ops::contract(x, x, {{0}, {0}, {2}, {2}}),
         ops::contract(matrix, matrix, {{}, {}, {1}, {0}})});
    add({ops::split(x, {1, 2, 3}, 2)[1], ops::iota({3, 2}, 1)});
    add({ops::argsort(v, 0), ops::sort(v, 0), ops::search(ops::sort(v, 0), v, true)});
    add({ops::map("multiply", {z, z}), ops::map("exp", {h}), ops::astype(z, DType::complex128)});
    add({ops::map("where", {flags, v, ops::astype(n, DType::float64)}),
         ops::bitcast(n, DType::uint32), ops::map("floor_divide", {n, n}),
         ops::map("left_shift", {n, n}), ops::map("power", {n, n})});
    add({ops::astype(v, DType::int8), ops::astype(n, DType::boolean), ops::map("tanh", {v})});
    add({ops::cholesky(matrix, false), ops::solve(matrix, matrix), ops::inv(matrix)});
    add(ops::after({v}, {n}));
    add({ops::procedure(doubling(), {v})[0]});
    const Tensor p = input_of("p", DType::float64, {5});
    const auto body = std::make_shared<ir::Body>(ir::Body{"twice", {p}, {added(p, p)}});
    add({ops::call(body, {ops::call(body, {v})[0]})[0]});
    const Tensor counter = input_of("i", DType::int64, {}),
                 state = input_of("s", DType::float64, {5});
    const auto step = std::make_shared<ir::Body>(
        ir::Body{"step", {counter, state}, {added(state, ops::astype(counter, DType::float64))}});
    add({transforms::loop(step, {v}, 0, 3)[0]});
    std::vector<std::string> texts;
    for (const Tensors& graph : graphs) texts.push_back(ir::print(graph));
    return texts;
}

std::vector<std::string> kernel_texts() {
    return {
        "(x: float) ->\n    let cdf: float = multiply(0.5, add(1, erf(divide(x, 1.5))))\n"
        "    multiply(x, cdf)",
        "(x: float, n: int) -> (multiply(x, float(n)), floor(x), select(less(n, 3), x, 2.0))",
        "(a: int, b: int) -> loop(a = a, b = b; while not_equal(b, 0); (b, numpy.remainder(a, b)); "
        "at most 93)[0]",
        "(a: int, b: int) -> (floor_divide(a, b), remainder(a, 7), shift_left(a, 3), bit_xor(a, "
        "b))",
        "(x: float, y: float) -> (fma(x, y, 1.0), copysign(x, y), bitcast<int64>(x), int32(7))",
        "(x: float) -> let t: float = sin(x); let u: bool = greater(t, 0.5); select(u, t, "
        "negate(t))",
        "(x: float) -> (power(x, 2.0), int64(1), lgamma(x), float32(x), uint8(3))",
    };
}

// Values of a type, of few bits and of many.
Array values_of(const ir::TensorType& type, size_t seed) {
    Array array = Array::zeros(type.dtype, type.shape);
    std::mt19937_64 random(seed);
    auto* const bytes = static_cast<unsigned char*>(array.mutable_data());
    for (int64_t i = 0; i < array.bytes(); ++i)
        bytes[i] = static_cast<unsigned char>(type.dtype == DType::boolean ? random() % 2
                                              : seed % 2 == 0              ? random()
                                              : i % 2 == 0                 ? random() % 4
                                                                           : 0);
    return array;
}

Tensors inputs_of(const Tensors& outputs) {
    Tensors inputs;
    for (const ir::Node* node : ir::topological_order(outputs))
        if (ir::is_input(*node)) inputs.emplace_back(Ref<ir::Node>(node), 0);
    return inputs;
}

// What somebody else may see of an error: of the library's classes, and none of its own faults.
void expect_readers_error(const std::exception& error, const std::string& text, bool has_place) {
    const std::string said = error.what();
    EXPECT_NE(dynamic_cast<const Error*>(&error), nullptr) << said << "\n" << text;
    EXPECT_EQ(said.find("internal error"), std::string::npos) << said << "\n" << text;
    if (has_place) {
        EXPECT_EQ(said.rfind("parse: line ", 0), 0u) << said << "\n" << text;
    }
}

bool same_bits(const Array& a, const Array& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape() &&
           (a.bytes() == 0 || std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())) == 0);
}

class Mutants : public testing::Test {
  protected:
    const size_t count_ = from_environment("COMPOSIT_MUTANTS", 1000),
                 seed_ = from_environment("COMPOSIT_SEED", 1),
                 uncompiled_ = from_environment("COMPOSIT_UNCOMPILED", 20);
};

TEST_F(Mutants, OfGraphsAreReadOrRefusedAndRun) {
    Mutator mutator(graph_texts(), seed_);
    LastMutant last("graph");
    const ir::TextLimits limits{2000, 1 << 16, 1000, 20};
    size_t taken = 0;
    for (size_t i = 0; i < count_; ++i) {
        std::string text = mutator.next();
        Tensors outputs;
        // Where only the types that are written are others, they are put right: what a change means
        // goes further then.
        for (int attempt = 0;; ++attempt) {
            last.is(text);
            try {
                outputs = ir::parse(text, {}, limits);
            } catch (const std::exception& error) {
                expect_readers_error(error, text, true);
                const std::string said = error.what();
                const size_t wrong = said.find("the types written are "), but = said.find(", but "),
                             gives = said.find(" gives "), end = said.find(". The latter");
                if (attempt < 6 && wrong != std::string::npos && end != std::string::npos) {
                    const std::string old = " : " + said.substr(wrong + 22, but - wrong - 22);
                    const size_t line = std::strtoull(said.c_str() + 12, nullptr, 10);
                    size_t at = 0;
                    for (size_t k = 1; k < line; ++k) at = text.find('\n', at) + 1;
                    if ((at = text.find(old, at)) != std::string::npos) {
                        text.replace(at + 3, old.size() - 3,
                                     said.substr(gives + 7, end - gives - 7));
                        continue;
                    }
                }
            }
            break;
        }
        if (outputs.empty()) continue;
        ++taken;
        try {
            EXPECT_EQ(ir::print(ir::parse(ir::print(outputs))), ir::print(outputs)) << text;
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what() << "\n" << text;
        }
        const Tensors inputs = inputs_of(outputs);
        std::vector<Array> arguments;
        for (const Tensor& input : inputs) arguments.push_back(values_of(input.type(), i));
        const auto run = [&](const std::string& backend) -> std::vector<Array> {
            try {
                execute::Options options;
                options.backend = backend;
                options.threads = 1;
                return execute::Compiled("mutant", inputs, outputs, options)(arguments);
            } catch (const std::exception& error) {
                expect_readers_error(error, text, false);
                return {};
            }
        };
        const std::vector<Array> interpreted = run("interpreter");
        if (taken % uncompiled_ != 0) continue;
        const std::vector<Array> compiled = run("cpp");
        ASSERT_EQ(compiled.size(), interpreted.size()) << text;
        for (size_t k = 0; k < compiled.size(); ++k)
            EXPECT_TRUE(same_bits(compiled[k], interpreted[k])) << "output " << k << "\n" << text;
    }
    EXPECT_GT(taken, count_ / 20);
    std::cout << taken << " of " << count_ << " mutants were taken\n";
}

TEST_F(Mutants, OfKernelsAreReadOrRefusedAndRun) {
    Mutator mutator(kernel_texts(), seed_);
    LastMutant last("kernel");
    const size_t kernels_of_program = 50, uncompiled = std::max<size_t>(uncompiled_ / 5, 1);
    KernelBatch batch;
    size_t taken = 0, compared = 0;
    for (size_t i = 0; i < count_; ++i) {
        const std::string text = mutator.next();
        last.is(text);
        ir::scalar::Function function;
        try {
            function = ir::scalar::parse(text, DType::float64);
        } catch (const std::exception& error) {
            expect_readers_error(error, text, true);
            continue;
        }
        try {
            ir::scalar::check_defined(function, 10000);
        } catch (const std::exception& error) {
            expect_readers_error(error, text, false);
            continue;
        }
        ++taken;
        std::vector<ir::scalar::Bits> arguments;
        for (const DType dtype : function.parameters)
            arguments.push_back(ir::scalar::bits_of(dtype, static_cast<double>(i % 5)));
        try {
            (void)ir::procedure::flatten(ir::procedure::procedure_of("mutant", function));
            (void)ir::scalar::evaluate(function.results, arguments);
        } catch (const std::exception& error) {
            expect_readers_error(error, text, false);
            continue;
        }
        if (taken % uncompiled != 0 || KernelBatch::shows_signs(text)) continue;
        batch.add(function, text);
        if (batch.size() < kernels_of_program) continue;
        compared += batch.size();
        std::exchange(batch, {}).compare();
    }
    compared += batch.size();
    if (batch.size() > 0) batch.compare();
    EXPECT_GT(taken, count_ / 20);
    std::cout << taken << " of " << count_ << " mutants were taken, " << compared
              << " of these compared\n";
}

TEST_F(Mutants, OfSchemasAreReadOrRefused) {
    Mutator mutator({"x: l2 (32, 32) order (1, 0), register (8, 8)\ny: whole\n",
                     "a name: with: tile (2, 3)\n\nz: l1 (4,)\n"},
                    seed_);
    LastMutant last("schema");
    for (size_t i = 0; i < count_; ++i) {
        const std::string text = mutator.next();
        last.is(text);
        try {
            const mosaic::Schema schema = mosaic::Schema::parse(text);
            const std::string printed = schema.print();
            EXPECT_EQ(mosaic::Schema::parse(printed).print(), printed) << text;
            for (const mosaic::Schema::Entry& entry : schema.entries())
                transforms::check_tile_view(entry.name, {64, 32}, entry.view);
        } catch (const std::exception& error) {
            expect_readers_error(error, text, false);
        }
    }
}

}  // namespace
}  // namespace composit::tests

// Contractions on an OpenCL device: the interpreter's bits, for any shapes, strides, dtypes and
// plans.
#include "composit/backends/interpreter/interpreter.h"
#include "composit/backends/simt/contract_tiles.h"
#include "composit/backends/simt/dialect.h"
#include "tests/cpp/backends/cpp_programs.h"
#include "tests/cpp/backends/opencl_machines.h"
#include "tests/cpp/backends/running.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <unistd.h>

namespace composit::tests {
namespace {

using ir::kernel::Contract;
using ir::kernel::Extents;
using simt::ContractPlan;
using simt::ContractTile;

// Small tiles of every kind, so that small products have several of them.
constexpr ContractTile wide{16, 64, 16, 4, 4}, square{64, 64, 16, 8, 8}, thin{64, 4, 8, 4, 1},
    flat{4, 64, 8, 1, 4}, of_pairs{32, 32, 8, 2, 2};

class SimtContract : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_FALSE(opencl_devices().machines.empty()) << opencl_devices().why_no_more;
        std::string name =
            (std::filesystem::temp_directory_path() / "composit-test-XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~SimtContract() override { std::filesystem::remove_all(folder_); }

    // What the device leaves in the program's outputs. Without a plan: by its own dialect, and by
    // that of GPUs otherwise, which runs on any device.
    std::vector<Array> run(const Program& program, const std::vector<Array>& inputs,
                           const ContractPlan* plan) {
        simt::Machine& machine = *opencl_devices().machines[0];
        const auto& kernel = program.kernels[0];
        c_family::Names names(simt::Dialect::words());
        simt::PrintedKernel printed;
        if (plan == nullptr) {
            printed = simt::print_kernel(machine.dialect(), kernel, program, names);
        } else {
            simt::KernelText writer(simt::opencl(), kernel, program, names);
            simt::print_contract(writer, std::get<Contract>(kernel.body), *plan);
            printed = std::move(writer.printed);
        }
        text_ = printed.text;
        const auto code =
            machine.build(std::string(machine.dialect().prelude) + text_, folder_.string());
        std::vector<void*> memory(program.buffers.size());
        for (size_t b = 0; b < memory.size(); ++b) {
            memory[b] = machine.allocate(program.buffers[b].bytes);
            machine.fill_with_zeros(memory[b], program.buffers[b].bytes);
        }
        for (size_t i = 0; i < inputs.size(); ++i)
            machine.copy_from_host(memory[static_cast<size_t>(program.inputs[i])], inputs[i].data(),
                                   inputs[i].bytes());
        auto* const scratch = static_cast<char*>(machine.allocate(printed.scratch_bytes));
        for (const simt::PrintedLaunch& one : printed.launches) {
            simt::Launch launch{one.function, {one.groups[0], one.groups[1]}, one.threads, {}, {}};
            for (const simt::Address& address : one.addresses) {
                const auto number = static_cast<size_t>(address.number);
                launch.addresses.push_back(
                    address.of == simt::Address::Of::scratch
                        ? scratch + address.number
                        : memory[static_cast<size_t>(printed.parameters[number].buffers[0])]);
            }
            launch.numbers = one.numbers;
            machine.launch(*code, launch);
        }
        std::vector<Array> outputs;
        for (const int b : program.outputs) {
            const auto& buffer = program.buffers[static_cast<size_t>(b)];
            outputs.push_back(Array::zeros(buffer.dtype, buffer.shape));
            machine.copy_to_host(outputs.back().mutable_data(), memory[static_cast<size_t>(b)],
                                 buffer.bytes);
        }
        for (void* block : memory) machine.release(block);
        machine.release(scratch);
        return outputs;
    }

    void check(const Program& program, const std::vector<ContractPlan>& plans) {
        const std::vector<Array> inputs = random_inputs(program);
        const std::vector<Array> expected =
            tests::run(*interpreter::InterpreterBackend().compile(program, {}), program, inputs, 1);
        for (size_t p = 0; p <= plans.size(); ++p) {
            const std::vector<Array> got =
                run(program, inputs, p == plans.size() ? nullptr : &plans[p]);
            for (size_t j = 0; j < got.size(); ++j)
                ASSERT_EQ(differing(expected[j], got[j]), 0)
                    << "plan " << p << ", output " << j << "\n"
                    << ir::kernel::print(program) << "\n"
                    << text_;
        }
    }

    std::filesystem::path folder_;
    std::string text_;
};

// left[m, k] and right[k, n], each row-major or transposed.
Program product(DType dtype, int64_t m, int64_t n, int64_t k, bool left_is_transposed = false,
                bool right_is_transposed = false) {
    Builder b("product");
    const int left = b.input("left", dtype, {m, k}), right = b.input("right", dtype, {k, n});
    const int out = b.output("out", dtype, {m, n});
    Contract c{{}, {m}, {n}, {k}, b.all(left), b.all(right), b.all(out)};
    if (left_is_transposed) c.left.strides = {1, m};
    if (right_is_transposed) c.right.strides = {1, k};
    b.kernel("product", c);
    return b.done();
}

TEST_F(SimtContract, TilesOfEveryKindMeetEdgesAndBlocks) {
    check(product(DType::float32, 33, 70, 600),
          {{{}, 1}, {{}, 2}, {wide, 2}, {square, 1}, {thin, 1}, {flat, 2}});
    check(product(DType::float32, 64, 64, 512), {{wide, 1}});
    check(product(DType::float32, 1, 130, 768), {{flat, 1}, {thin, 3}});
    for (const int way : {1, 2, 3})
        check(product(DType::float32, 36, 68, 260, (way & 1) != 0, (way & 2) != 0),
              {{wide, 1}, {thin, 1}});
    check(product(DType::float64, 35, 34, 300), {{of_pairs, 1}, {of_pairs, 2}});
    check(product(DType::float64, 34, 36, 40, true, true), {{of_pairs, 1}});
}

TEST_F(SimtContract, IntegersWrapAndBoolsAreOrs) {
    for (const DType dtype : {DType::int32, DType::uint64})
        check(product(dtype, 20, 40, 300), {{{}, 1}, {wide, 1}, {of_pairs, 1}});
    for (const DType dtype : {DType::boolean, DType::int8, DType::uint16})
        check(product(dtype, 9, 11, 300), {{{}, 1}});
}

TEST_F(SimtContract, AProductThatUnderflowsKeepsItsSign) {
    // One element of depth: -1e-30 * 1e-30 is -0, and remains it beside the padding.
    const Program program = product(DType::float32, 3, 5, 1);
    Array left(DType::float32, {3, 1}), right(DType::float32, {1, 5});
    std::fill_n(static_cast<float*>(left.mutable_data()), 3, -1e-30F);
    std::fill_n(static_cast<float*>(right.mutable_data()), 5, 1e-30F);
    for (const ContractPlan& plan : {ContractPlan{{}, 1}, ContractPlan{wide, 1}}) {
        const Array out = run(program, {left, right}, &plan)[0];
        for (int64_t i = 0; i < 15; ++i)
            EXPECT_TRUE(std::signbit(out.data_as<float>()[i])) << text_;
    }
}

TEST_F(SimtContract, NoDepthMeansZeros) {
    check(product(DType::float32, 3, 5, 0), {});
    check(product(DType::int16, 3, 5, 0), {});
}

TEST_F(SimtContract, ConvolutionsReadWindows) {
    for (const DType dtype : {DType::float32, DType::float64}) {
        Builder b("convolution");
        const int images = b.input("images", dtype, {2, 9, 10, 3});
        const int filters = b.input("filters", dtype, {3, 3, 3, 20});
        const int out = b.output("out", dtype, {2, 7, 8, 20});
        b.kernel("convolution", Contract{{},
                                         {2, 7, 8},
                                         {20},
                                         {3, 3, 3},
                                         b.access(images, {270, 30, 3, 30, 3, 1}),
                                         b.access(filters, {180, 60, 20, 1}),
                                         b.all(out)});
        check(b.done(), {{wide, 1}, {thin, 1}, {{}, 1}});
        // The gradient of the filters: few elements, and a depth of several loops.
        Builder g("gradient");
        const int seen = g.input("images", dtype, {4, 12, 12, 3});
        const int slopes = g.input("slopes", dtype, {4, 10, 10, 20});
        const int gradient = g.output("gradient", dtype, {3, 3, 3, 20});
        g.kernel("gradient", Contract{{},
                                      {3, 3, 3},
                                      {20},
                                      {4, 10, 10},
                                      g.access(seen, {36, 3, 1, 432, 36, 3}),
                                      g.access(slopes, {2000, 200, 20, 1}),
                                      g.all(gradient)});
        check(g.done(), {{wide, 2}, {of_pairs, 1}, {{}, 2}, {flat, 1}});
    }
}

TEST_F(SimtContract, FinishesItsSums) {
    Builder b("finished");
    const DType dtype = DType::float32;
    const int left = b.input("left", dtype, {21, 300}), right = b.input("right", dtype, {300, 44});
    const int bias = b.input("bias", dtype, {44}), out = b.output("out", dtype, {21, 44});
    const int other = b.output("other", dtype, {21, 44});
    Contract c{{}, {21}, {44}, {300}, b.all(left), b.all(right), b.all(out)};
    const Expr sum = Expr::argument(0, dtype), added = sum + Expr::argument(1, dtype);
    c.finish = {{b.access(bias, {0, 1})}, {added * added, sum * 2.0}, {b.all(other)}};
    b.kernel("finished", c);
    check(b.done(), {{{}, 1}, {{}, 2}, {wide, 1}, {square, 2}});
}

// Loops of an operand laid out one inside the other in any order, or as windows that overlap.
class RandomContract {
  public:
    explicit RandomContract(uint64_t seed) : random_(seed) {}

    Program make() {
        const DType dtypes[] = {DType::float32, DType::float32, DType::float64, DType::int32,
                                DType::boolean};
        const DType dtype = dtypes[below(5)];
        const Extents batch = extents(2, 3), rows = extents(2, 24), columns = extents(2, 24),
                      depth = extents(3, below(3) == 0 ? 14 : 7);
        Builder b("random");
        Contract c{batch, rows, columns, depth, {}, {}, {}};
        c.left = operand(b, "left", dtype, ir::kernel::concatenate({batch, rows, depth}), false);
        c.right =
            operand(b, "right", dtype, ir::kernel::concatenate({batch, depth, columns}), false);
        c.output = operand(b, "out", dtype, ir::kernel::concatenate({batch, rows, columns}), true);
        b.kernel("random", c);
        return b.done();
    }

  private:
    int64_t below(int64_t end) {
        return static_cast<int64_t>(random_() % static_cast<uint64_t>(end));
    }

    Extents extents(int64_t most_loops, int64_t longest) {
        Extents made;
        for (int64_t count = below(most_loops + 1); count > 0; --count)
            made.push_back(1 + below(longest));
        return made;
    }

    Access operand(Builder& b, const std::string& name, DType dtype, const Extents& extents,
                   bool is_output) {
        std::vector<size_t> order(extents.size());
        std::iota(order.begin(), order.end(), size_t{0});
        if (below(2) == 0) std::shuffle(order.begin(), order.end(), random_);
        const bool is_windows = !is_output && below(3) == 0;
        std::vector<int64_t> strides(extents.size());
        int64_t next = below(4) == 0 ? 2 : 1, lowest = 0, highest = 0;
        for (size_t d = extents.size(); d-- > 0;) {
            const size_t loop = order[d];
            strides[loop] = is_windows ? below(9) - 2 : next;
            if (!is_windows && below(6) == 0) strides[loop] = -strides[loop];
            next *= extents[loop];
            if (!is_output && below(8) == 0) strides[loop] = 0;
            (strides[loop] < 0 ? lowest : highest) += strides[loop] * (extents[loop] - 1);
        }
        const int64_t offset = below(3) == 0 ? 4 - lowest : -lowest;
        const Shape shape{highest + offset + 1};
        const int buffer = is_output ? b.output(name, dtype, shape) : b.input(name, dtype, shape);
        return b.access(buffer, strides, offset);
    }

    std::mt19937_64 random_;
};

TEST_F(SimtContract, RandomShapesAndStrides) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        const Program program = RandomContract(seed).make();
        std::vector<ContractPlan> plans{{{}, 1}};
        if (program.buffers[0].dtype != DType::boolean) {
            const ContractTile tiles[] = {wide, square, thin, flat, of_pairs};
            plans.push_back({tiles[seed % 5], 1});
            if (ir::is_floating(program.buffers[0].dtype))
                plans.push_back({tiles[(seed + 1) % 5], 2});
        }
        check(program, plans);
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace composit::tests

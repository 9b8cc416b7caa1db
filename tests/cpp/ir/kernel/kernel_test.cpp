// What there is to ask of kernels, and how programs are printed.
#include "composit/ir/kernel/kernel.h"

#include "tests/cpp/backends/cpp_programs.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

Expr x(int index) { return Expr::argument(index, DType::float32); }

// A map, a reduction in columns, a product, a gather and a scatter over few buffers.
Program sample() {
    Builder b("sample");
    int a = b.input("a", DType::float32, {4, 8}), w = b.input("w", DType::float32, {8});
    int at = b.input("at", DType::int64, {3});
    int t = b.temporary("t", DType::float32, {4, 8});
    int y = b.output("y", DType::float32, {8}), p = b.output("p", DType::float32, {4, 4});
    int g = b.output("g", DType::float32, {3, 8});
    b.kernel("scale",
             ir::kernel::Map{
                 {4, 8}, {b.all(a), b.access(w, {0, -1}, 7)}, {x(0) * x(1) + x(0)}, {b.all(t)}});
    b.kernel("sum",
             ir::kernel::Reduce{{8}, {4}, {b.access(t, {1, 8})}, x(0), Combiner::sum, b.all(y)});
    b.kernel("matmul",
             ir::kernel::Contract{{}, {4}, {4}, {8}, b.all(t), b.access(t, {1, 8}), b.all(p)});
    b.kernel("take",
             ir::kernel::Gather{{3}, {8}, b.access(a, {1}), {b.all(at)}, {8}, {4}, {0}, b.all(g)});
    b.kernel("put", ir::kernel::Scatter{
                        {3}, {8}, b.all(g), {b.all(at)}, {8}, {4}, {0}, b.access(t, {1}), true});
    return b.done();
}

TEST(Kernel, KnowsItsBuffers) {
    Program program = sample();
    auto read = [&](size_t k) { return ir::kernel::buffers_read(program.kernels[k]); };
    auto written = [&](size_t k) { return ir::kernel::buffers_written(program.kernels[k]); };
    EXPECT_EQ(read(0), (std::vector<int>{0, 1}));
    EXPECT_EQ(written(0), (std::vector<int>{3}));
    EXPECT_EQ(read(2), (std::vector<int>{3}));
    EXPECT_EQ(read(3), (std::vector<int>{0, 2}));
    EXPECT_EQ(read(4), (std::vector<int>{6, 2, 3}));
    EXPECT_EQ(written(4), (std::vector<int>{3}));
}

TEST(Kernel, PositionsAreNoBuffers) {
    Builder b("positions");
    int y = b.output("y", DType::int64, {5});
    b.kernel("arange", ir::kernel::Map{{5},
                                       {b.access(Access::position, {2}, 1)},
                                       {Expr::argument(0, DType::int64)},
                                       {b.all(y)}});
    Program program = b.done();
    EXPECT_TRUE(ir::kernel::buffers_read(program.kernels[0]).empty());
    EXPECT_EQ(ir::kernel::bytes_moved(program.kernels[0], program), 40);
}

TEST(Kernel, CountsWork) {
    Program program = sample();
    auto flops = [&](size_t k) { return ir::kernel::flops(program.kernels[k]); };
    auto bytes = [&](size_t k) { return ir::kernel::bytes_moved(program.kernels[k], program); };
    EXPECT_EQ(flops(0), 64);
    EXPECT_EQ(flops(1), 32);
    EXPECT_EQ(flops(2), 256);
    EXPECT_EQ(flops(3), 0);
    EXPECT_EQ(flops(4), 24);
    EXPECT_EQ(bytes(0), 4 * (32 + 8 + 32));
    EXPECT_EQ(bytes(1), 4 * (32 + 8));
    EXPECT_EQ(bytes(3), 4 * (24 + 24) + 8 * 3);
}

TEST(Kernel, HashesStructureNotNames) {
    Program program = sample(), other = sample();
    other.kernels[0].name = "another";
    EXPECT_EQ(ir::kernel::structural_hash(program.kernels[0]),
              ir::kernel::structural_hash(other.kernels[0]));
    auto& map = std::get<ir::kernel::Map>(other.kernels[0].body);
    map.inputs[0].buffer = 5;
    EXPECT_EQ(ir::kernel::structural_hash(program.kernels[0]),
              ir::kernel::structural_hash(other.kernels[0]));
    map.inputs[1].buffer = 5;  // now both inputs are one buffer
    EXPECT_NE(ir::kernel::structural_hash(program.kernels[0]),
              ir::kernel::structural_hash(other.kernels[0]));
    map.inputs = std::get<ir::kernel::Map>(program.kernels[0].body).inputs;
    map.values = {x(0) * x(1) + x(1)};
    EXPECT_NE(ir::kernel::structural_hash(program.kernels[0]),
              ir::kernel::structural_hash(other.kernels[0]));
}

TEST(Kernel, PrintsPrograms) {
    EXPECT_EQ(ir::kernel::print(sample()), R"(program sample
  input a: float32[4, 8]
  input w: float32[8]
  input at: int64[3]
  temporary t: float32[4, 8] at 0
  output y: float32[8]
  output p: float32[4, 4]
  output g: float32[3, 8]
  arena: 128 bytes
kernel scale: Map  # scale of a test
  for i < 4, j < 8:
    t[8 i + j] = add(multiply(a[8 i + j], w[-j + 7]), a[8 i + j])
kernel sum: Reduce  # sum of a test
  for i < 8:
    y[i] = sum for r < 4 of t[i + 8 r]
kernel matmul: Contract  # matmul of a test
  for m < 4, n < 4:
    p[4 m + n] = sum for k < 8 of t[8 m + k] * t[k + 8 n]
kernel take: Gather  # take of a test
  for i < 3, j < 8:
    g[8 i + j] = a[8 at[i] + j]
kernel put: Scatter  # put of a test
  for i < 3, j < 8 in order:
    t[8 at[i] + j] += g[8 i + j]
)");
}

// Parts of a body that have names stand below what takes it.
TEST(Kernel, PrintsNamedParts) {
    Builder b("parts");
    int a = b.input("a", DType::float32, {4}), y = b.output("y", DType::float32, {4});
    int s = b.output("s", DType::float32, {});
    const Expr part = x(0) * x(0);
    b.kernel("twice", ir::kernel::Map{{4}, {b.all(a)}, {part * (part + x(0))}, {b.all(y)}});
    b.kernel("sum", ir::kernel::Reduce{
                        {}, {4}, {b.all(a)}, part * (part + x(0)), Combiner::sum, b.all(s)});
    const Program program = b.done();
    EXPECT_EQ(ir::kernel::print(program.kernels[0], program),
              R"(kernel twice: Map  # twice of a test
  for i < 4:
    y[i] =
      let t0: float32 = multiply(a[i], a[i])
      multiply(t0, add(t0, a[i]))
)");
    EXPECT_EQ(ir::kernel::print(program.kernels[1], program),
              R"(kernel sum: Reduce  # sum of a test
  once:
    s[0] = sum for r < 4 of
      let t0: float32 = multiply(a[r], a[r])
      multiply(t0, add(t0, a[r]))
)");
}

}  // namespace
}  // namespace composit::tests

// The interpreter returns the bits that kernels mean, with every instruction set that this machine
// has and any number of threads.
#include "composit/backends/interpreter/interpreter.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/row.h"
#include "tests/cpp/backends/cpp_reference.h"
#include "tests/cpp/backends/interpreter_programs.h"
#include "tests/cpp/backends/running.h"

#include <gtest/gtest.h>

#include <thread>

namespace composit::tests {
namespace {

using interpreter::InterpreterBackend;
using interpreter::KernelSet;

void expect_bits(const std::vector<Program>& programs, const std::vector<int>& threads = {1}) {
    for (const Program& program : programs) {
        const std::vector<Array> inputs = random_inputs(program);
        const std::vector<Array> expected = Reference(program, inputs).run();
        for (const KernelSet* set : interpreter::usable_kernel_sets()) {
            const auto executable = InterpreterBackend(*set).compile(program, {});
            for (const int count : threads) {
                const std::vector<Array> results = run(*executable, program, inputs, count);
                for (size_t k = 0; k < results.size(); ++k)
                    EXPECT_EQ(differing(results[k], expected[k]), 0)
                        << program.name << ", output " << k << ", " << set->name << ", threads "
                        << count;
            }
        }
    }
}

TEST(Interpreter, Maps) { expect_bits(map_programs(), {1, 4}); }
TEST(Interpreter, MapsAtBorders) { expect_bits(border_maps()); }
TEST(Interpreter, PermutedMaps) { expect_bits(permuted_maps(), {1, 3}); }
TEST(Interpreter, Reductions) { expect_bits(reduce_programs()); }
TEST(Interpreter, ReductionsAtBorders) { expect_bits(border_reductions()); }
TEST(Interpreter, Scans) { expect_bits(scan_programs()); }
TEST(Interpreter, Contractions) { expect_bits(contract_programs()); }
TEST(Interpreter, ContractionsAtBorders) { expect_bits(border_contractions()); }
TEST(Interpreter, ContractionsOfVectors) { expect_bits(vector_contractions()); }
TEST(Interpreter, TinyContractions) { expect_bits(tiny_contractions()); }
TEST(Interpreter, Indexing) { expect_bits(indexing_programs()); }
TEST(Interpreter, ThreadsShareLargeWork) { expect_bits(large_programs(), {1, 2, 4}); }

TEST(Interpreter, OneExecutableRunsInSeveralThreadsAtOnce) {
    const Program program = map_programs()[2];  // it has temporaries
    const std::vector<Array> inputs = random_inputs(program),
                             expected = Reference(program, inputs).run();
    const auto executable = InterpreterBackend().compile(program, {});
    std::vector<std::thread> callers;
    for (int t = 0; t < 4; ++t)
        callers.emplace_back([&] {
            for (int i = 0; i < 50; ++i) {
                const std::vector<Array> results = run(*executable, program, inputs, 1);
                for (size_t k = 0; k < results.size(); ++k)
                    EXPECT_EQ(differing(results[k], expected[k]), 0);
            }
        });
    for (std::thread& caller : callers) caller.join();
}

Program gather(int64_t bad, int64_t at) {
    Builder b("gather");
    std::vector<int64_t> indices(9000, 1);
    indices[static_cast<size_t>(at)] = bad;
    indices[8999] = 77;  // a later one, which another thread may meet first
    const int x = b.input("x", DType::float32, {4, 5, 8}),
              y = b.output("y", DType::float32, {4, 9000, 8});
    const int i = b.constant("i", Array::of<int64_t>(DType::int64, {9000}, indices));
    b.kernel("take", ir::kernel::Gather{{9000},
                                        {4, 8},
                                        b.access(x, {40, 1}),
                                        {b.all(i)},
                                        {8},
                                        {5},
                                        {1},
                                        b.access(y, {8, 72000, 1})});
    return b.done();
}

TEST(Interpreter, TheFirstIndexOutOfBoundsIsReported) {
    for (const auto& [bad, at] :
         std::vector<std::pair<int64_t, int64_t>>{{5, 0}, {-6, 300}, {7, 4600}}) {
        const Program program = gather(bad, at);
        const auto executable = InterpreterBackend().compile(program, {});
        for (const int threads : {1, 3}) {
            try {
                run(*executable, program, random_inputs(program), threads);
                FAIL();
            } catch (const IndexError& error) {
                EXPECT_EQ(error.what(),
                          text("index ", bad, " is out of bounds for axis 1 with size 5"));
            }
        }
    }
}

TEST(Interpreter, RefusesDtypesWithoutKernelsByName) {
    Builder b("half");
    const int x = b.input("x", DType::float16, {8}), y = b.output("y", DType::float16, {8});
    b.kernel("add",
             ir::kernel::Map{
                 {8}, {b.all(x)}, {arg(0, DType::float16) + arg(0, DType::float16)}, {b.all(y)}});
    const Program program = b.done();
    InterpreterBackend backend;
    const auto reason = backend.refuses(program.kernels[0], program);
    ASSERT_TRUE(reason.has_value());
    EXPECT_NE(reason->find("add on float16, float16"), std::string::npos) << *reason;
    EXPECT_THROW(backend.compile(program, {}), NotSupported);
    const Program plain = map_programs()[0];
    EXPECT_EQ(backend.refuses(plain.kernels[0], plain), std::nullopt);
}

TEST(Interpreter, RegistersItself) {
    EXPECT_EQ(runtime::backend("interpreter")->name(), "interpreter");
}

}  // namespace
}  // namespace composit::tests

// The cpp back end returns the bits that kernels mean, whatever the number of threads.
#include "composit/backends/cpp/backend.h"
#include "composit/base/error.h"
#include "tests/cpp/backends/cpp_reference.h"
#include "tests/cpp/backends/cpp_test_programs.h"
#include "tests/cpp/backends/running.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

void expect_bits(const std::vector<Program>& programs) {
    for (const Program& program : programs) {
        SCOPED_TRACE(program.name);
        std::vector<Array> inputs = random_inputs(program);
        std::vector<Array> expected = Reference(program, inputs).run();
        auto executable = runtime::backend("cpp")->compile(program, {});
        for (int threads : {1, 2, 4}) {
            std::vector<Array> results = run(*executable, program, inputs, threads);
            for (size_t k = 0; k < results.size(); ++k)
                EXPECT_EQ(differing(results[k], expected[k]), 0)
                    << "output " << k << ", threads " << threads << "\n"
                    << executable->source();
        }
    }
}

// The interpreter and the compiled code agree without the detour over the reference.
TEST(CppBackend, AgreesWithTheInterpreter) {
    for (const Program& program : test_programs()) {
        SCOPED_TRACE(program.name);
        std::vector<Array> inputs = random_inputs(program);
        auto interpreted = runtime::backend("interpreter")->compile(program, {});
        auto compiled = runtime::backend("cpp")->compile(program, {});
        std::vector<Array> expected = run(*interpreted, program, inputs, 1);
        std::vector<Array> results = run(*compiled, program, inputs, 2);
        for (size_t k = 0; k < results.size(); ++k)
            EXPECT_EQ(differing(results[k], expected[k]), 0) << "output " << k;
    }
}

TEST(CppBackend, Maps) { expect_bits(map_programs()); }
TEST(CppBackend, Reductions) { expect_bits(reduce_programs()); }
TEST(CppBackend, Scans) { expect_bits(scan_programs()); }
TEST(CppBackend, Contractions) { expect_bits(contract_programs()); }
TEST(CppBackend, Indexing) { expect_bits(indexing_programs()); }

}  // namespace
}  // namespace composit::tests

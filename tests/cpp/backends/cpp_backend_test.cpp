// The cpp back end and the interpreter return the bits that kernels mean, whatever the number of
// threads. Each program is compiled once for all that is asked of it.
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
        auto interpreted = runtime::backend("interpreter")->compile(program, {});
        std::vector<Array> results_of_interpreter = run(*interpreted, program, inputs, 1);
        for (size_t k = 0; k < expected.size(); ++k)
            EXPECT_EQ(differing(results_of_interpreter[k], expected[k]), 0)
                << "output " << k << ", interpreter";
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

TEST(CppBackend, Maps) { expect_bits(map_programs()); }
TEST(CppBackend, Reductions) { expect_bits(reduce_programs()); }
TEST(CppBackend, Scans) { expect_bits(scan_programs()); }
TEST(CppBackend, Contractions) { expect_bits(contract_programs()); }
TEST(CppBackend, Indexing) { expect_bits(indexing_programs()); }

}  // namespace
}  // namespace composit::tests

// The cpp back end and the interpreter return the bits that kernels mean, whatever the number of
// threads. Programs of a kind are compiled together, once for all that is asked of them.
#include "composit/backends/cpp/backend.h"
#include "composit/base/error.h"
#include "tests/cpp/backends/cpp_reference.h"
#include "tests/cpp/backends/cpp_test_programs.h"
#include "tests/cpp/backends/together.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

void expect_bits(const std::vector<Program>& programs) {
    std::vector<Expected> to_be_compiled;
    for (const Program& program : programs) {
        SCOPED_TRACE(program.name);
        std::vector<Array> inputs = random_inputs(program);
        std::vector<Array> expected = Reference(program, inputs).run();
        auto interpreted = runtime::backend("interpreter")->compile(program, {});
        std::vector<Array> results_of_interpreter = run(*interpreted, program, inputs, 1);
        for (size_t k = 0; k < expected.size(); ++k)
            EXPECT_EQ(differing(results_of_interpreter[k], expected[k]), 0)
                << "output " << k << ", interpreter";
        to_be_compiled.push_back({program, inputs, expected});
    }
    expect_compiled_bits(to_be_compiled, programs[0].name);
}

TEST(CppBackend, Maps) { expect_bits(map_programs()); }
TEST(CppBackend, Reductions) { expect_bits(reduce_programs()); }
TEST(CppBackend, Scans) { expect_bits(scan_programs()); }
TEST(CppBackend, Contractions) { expect_bits(contract_programs()); }
TEST(CppBackend, Indexing) { expect_bits(indexing_programs()); }

}  // namespace
}  // namespace composit::tests

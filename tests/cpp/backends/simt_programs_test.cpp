// Programs on an OpenCL device return the interpreter's bits: kernels of every kind in every
// layout, wherever inputs and outputs begin, from several threads; and what executables say.
#include "composit/backends/simt/executable.h"
#include "composit/base/error.h"
#include "tests/cpp/backends/cpp_test_programs.h"
#include "tests/cpp/backends/opencl_machines.h"
#include "tests/cpp/backends/procedure_programs.h"
#include "tests/cpp/backends/together.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <thread>
#include <unistd.h>

namespace composit::tests {
namespace {

using runtime::DeviceMemory;

// A device that gets the kernels of another dialect than its own.
class Speaking : public simt::Machine {
  public:
    Speaking(std::shared_ptr<simt::Machine> machine, const simt::Dialect& dialect)
        : machine_(std::move(machine)), dialect_(dialect) {}

    std::string name() const override { return machine_->name(); }
    std::string description() const override { return machine_->description(); }
    int64_t memory_bytes() const override { return machine_->memory_bytes(); }
    int64_t free_bytes() const override { return machine_->free_bytes(); }
    void* allocate(int64_t bytes) override { return machine_->allocate(bytes); }
    void release(void* address) noexcept override { machine_->release(address); }
    void copy_from_host(void* to, const void* from, int64_t bytes) override {
        machine_->copy_from_host(to, from, bytes);
    }
    void copy_to_host(void* to, const void* from, int64_t bytes) override {
        machine_->copy_to_host(to, from, bytes);
    }
    void copy(void* to, const void* from, int64_t bytes) override {
        machine_->copy(to, from, bytes);
    }
    void fill_with_zeros(void* to, int64_t bytes) override { machine_->fill_with_zeros(to, bytes); }
    std::shared_ptr<runtime::Event> record() override { return machine_->record(); }
    void synchronise() override { machine_->synchronise(); }
    const simt::Dialect& dialect() const override { return dialect_; }
    std::shared_ptr<simt::Code> build(const std::string& text,
                                      const std::string& cache_folder) override {
        return machine_->build(text, cache_folder);
    }
    void launch(const simt::Code& code, const simt::Launch& launch) override {
        machine_->launch(code, launch);
    }

  private:
    std::shared_ptr<simt::Machine> machine_;
    const simt::Dialect& dialect_;
};

// With the kernels for groups of threads, and with those for CPUs.
class SimtPrograms : public testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        ASSERT_FALSE(opencl_devices().machines.empty()) << opencl_devices().why_no_more;
        machine_ = std::make_shared<Speaking>(opencl_devices().machines[0],
                                              GetParam() ? simt::opencl_of_cpus() : simt::opencl());
        std::string name =
            (std::filesystem::temp_directory_path() / "composit-test-XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~SimtPrograms() override { std::filesystem::remove_all(folder_); }

    std::shared_ptr<simt::SimtExecutable> compile(const Program& program) const {
        return std::make_shared<simt::SimtExecutable>(machine_, program, folder_.string());
    }

    // Memory of the device that begins `shift` elements behind an aligned place.
    struct Place {
        std::shared_ptr<DeviceMemory> memory;
        char* address;
    };
    Place place(DType dtype, int64_t bytes, int64_t shift) const {
        const int64_t skipped = shift * ir::size_of(dtype);
        Place made{DeviceMemory::allocate(machine_, bytes + skipped + 1, "test"), nullptr};
        made.address = static_cast<char*>(made.memory->address()) + skipped;
        return made;
    }

    struct OnDevice {
        runtime::Run run;
        std::vector<Place> inputs, outputs;
    };
    OnDevice prepare(const Program& program, const std::vector<Array>& inputs,
                     int64_t shift) const {
        OnDevice made;
        for (const Array& input : inputs) {
            made.inputs.push_back(place(input.dtype(), input.bytes(), shift));
            machine_->copy_from_host(made.inputs.back().address, input.data(), input.bytes());
            made.run.inputs.push_back(made.inputs.back().address);
        }
        for (const int number : program.outputs) {
            const auto& buffer = program.buffers[static_cast<size_t>(number)];
            made.outputs.push_back(place(buffer.dtype, buffer.bytes, shift));
            made.run.outputs.push_back(made.outputs.back().address);
        }
        return made;
    }
    std::vector<Array> results(const Program& program, const OnDevice& given) const {
        std::vector<Array> made;
        for (size_t k = 0; k < program.outputs.size(); ++k) {
            const auto& buffer = program.buffers[static_cast<size_t>(program.outputs[k])];
            made.push_back(Array::zeros(buffer.dtype, buffer.shape));
            machine_->copy_to_host(made.back().mutable_data(), given.outputs[k].address,
                                   buffer.bytes);
        }
        return made;
    }

    void expect_bits(const std::vector<Program>& programs, const std::string& name) {
        std::vector<Program> taken;
        std::vector<Array> inputs, expected;
        for (const Program& program : programs) {
            const bool is_refused = std::any_of(
                program.kernels.begin(), program.kernels.end(),
                [&](const Kernel& kernel) { return simt::unprintable(kernel, program); });
            if (is_refused) continue;
            const std::vector<Array> given = random_inputs(program);
            const auto interpreted = runtime::backend("interpreter")->compile(program, {});
            for (const Array& result : run(*interpreted, program, given, 1))
                expected.push_back(result);
            inputs.insert(inputs.end(), given.begin(), given.end());
            taken.push_back(program);
        }
        ASSERT_GE(taken.size() * 4, programs.size() * 3);  // packed operands are refused
        const Program all = together(taken, name);
        const auto compiled = compile(all);
        for (const int64_t shift : {0, 1}) {
            const OnDevice given = prepare(all, inputs, shift);
            compiled->run(given.run);
            const std::vector<Array> got = results(all, given);
            for (size_t k = 0; k < expected.size(); ++k)
                EXPECT_EQ(differing(got[k], expected[k]), 0)
                    << "output " << k << ", "
                    << all.buffers[static_cast<size_t>(all.outputs[k])].name << ", shift " << shift
                    << "\n"
                    << compiled->source();
        }
    }

    std::shared_ptr<simt::Machine> machine_;
    std::filesystem::path folder_;
};

TEST_P(SimtPrograms, Maps) { expect_bits(map_programs(), "maps"); }
TEST_P(SimtPrograms, Reductions) { expect_bits(reduce_programs(), "reductions"); }
TEST_P(SimtPrograms, Scans) { expect_bits(scan_programs(), "scans"); }
TEST_P(SimtPrograms, Contractions) { expect_bits(contract_programs(), "contractions"); }
TEST_P(SimtPrograms, Indexing) { expect_bits(indexing_programs(), "indexing"); }

// y = x * 2 over enough elements for packets of four.
Program twice() {
    Builder b("twice");
    const int x = b.input("x", DType::float32, {8192}), y = b.output("y", DType::float32, {8192});
    b.kernel("multiply", ir::kernel::Map{{8192}, {b.all(x)}, {arg(0) * 2.0}, {b.all(y)}});
    return b.done();
}

TEST_P(SimtPrograms, PacketsBeginAnywhere) {
    const Program program = twice();
    const auto compiled = compile(program);
    EXPECT_EQ(compiled->source().find("float4") == std::string::npos, GetParam())
        << compiled->source();
    const std::vector<Array> inputs = random_inputs(program);
    const auto interpreted = runtime::backend("interpreter")->compile(program, {});
    const std::vector<Array> expected = run(*interpreted, program, inputs, 1);
    for (const int64_t shift : {0, 1, 2, 3, 4}) {
        const OnDevice given = prepare(program, inputs, shift);
        compiled->run(given.run);
        EXPECT_EQ(differing(results(program, given)[0], expected[0]), 0) << shift;
    }
}

TEST_P(SimtPrograms, EqualKernelsShareTheirFunctions) {
    Builder b("shared");
    int x = b.input("x", DType::float32, {100});
    for (int k = 0; k < 5; ++k) {
        const std::string name = "y" + std::to_string(k);
        const int y = k < 4 ? b.temporary(name, DType::float32, {100})
                            : b.output(name, DType::float32, {100});
        b.kernel("step_" + std::to_string(k),
                 ir::kernel::Map{{100}, {b.all(x)}, {arg(0) * 3.0 + 1.0}, {b.all(y)}});
        x = y;
    }
    const std::string source = compile(b.done())->source();
    EXPECT_NE(source.find("void step_0("), std::string::npos);
    EXPECT_EQ(source.find("void step_1("), std::string::npos);
}

// data[indices]
Program gathering(int64_t count) {
    Builder b("gathering");
    const int data = b.input("data", DType::float32, {5, 3});
    const int index = b.input("index", DType::int64, {count});
    const int y = b.output("y", DType::float32, {count, 3});
    b.kernel("gather", ir::kernel::Gather{{count},
                                          {3},
                                          b.access(data, {1}),
                                          {b.access(index, {1})},
                                          {3},
                                          {5},
                                          {7},
                                          b.access(y, {3, 1})});
    return b.done();
}

TEST_P(SimtPrograms, TheFirstIndexOutOfBoundsIsReported) {
    const int64_t count = 3000;
    const Program program = gathering(count);
    const auto compiled = compile(program);
    std::vector<int64_t> index(static_cast<size_t>(count));
    std::iota(index.begin(), index.end(), int64_t{0});
    for (int64_t& one : index) one %= 5;
    const std::vector<Array> good = {random_array(DType::float32, {5, 3}, 1),
                                     indices({count}, index)};
    for (size_t k = 777; k < index.size(); k += 10) index[k] = 1000 + static_cast<int64_t>(k);
    const std::vector<Array> bad = {good[0], indices({count}, index)};
    for (int repetition = 0; repetition < 3; ++repetition) {
        try {
            compiled->run(prepare(program, bad, 0).run);
            FAIL() << "no error";
        } catch (const IndexError& error) {
            EXPECT_EQ(std::string(error.what()),
                      "index 1777 is out of bounds for axis 7 with size 5");
        }
        EXPECT_NO_THROW(compiled->run(prepare(program, good, 0).run));
    }
}

TEST_P(SimtPrograms, ProceduresForItems) { expect_bits(procedure_programs(), "procedures"); }

TEST_P(SimtPrograms, TheFirstItemThatFailsIsToldByTheHost) {
    Builder b("one");
    const int x = b.input("x", DType::float64, {300, 2}), k = b.input("k", DType::int64, {300});
    const int total = b.output("total", DType::float64, {300});
    const int y = b.output("y", DType::float64, {300, 2});
    const int large = b.output("large", DType::boolean, {300, 2});
    const int64_t number = ir::procedure::keep_callable(reversed_sums(DType::float64));
    b.kernel("sums", ir::kernel::Call{number,
                                      {300},
                                      {{b.all(x), {2}}, {b.all(k), {}}},
                                      {{b.all(total), {}}, {b.all(y), {2}}, {b.all(large), {2}}}});
    const Program program = b.done();
    const auto compiled = compile(program);
    std::vector<int64_t> numbers(300, 3);
    const Array values = random_array(DType::float64, {300, 2}, 1);
    EXPECT_NO_THROW(compiled->run(prepare(program, {values, indices({300}, numbers)}, 0).run));
    numbers[200] = numbers[299] = -1;
    try {
        compiled->run(prepare(program, {values, indices({300}, numbers)}, 0).run);
        FAIL() << "no error";
    } catch (const IndexError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "reversed_sums: an index lies outside of its array, or an assertion does not "
                  "hold. [sums.py:2]");
    }
    EXPECT_NE(compiled->source().find("require(k >= 0);  // sums.py:2"), std::string::npos)
        << compiled->source();
}

TEST_P(SimtPrograms, ThreadsShareAnExecutable) {
    Builder b("sums");
    const int x = b.input("x", DType::float32, {20000});
    const int t = b.temporary("t", DType::float32, {20000});
    const int y = b.output("y", DType::float32, {});
    b.kernel("square", ir::kernel::Map{{20000}, {b.all(x)}, {arg(0) * arg(0)}, {b.all(t)}});
    b.kernel("sum", ir::kernel::Reduce{{}, {20000}, {b.all(t)}, arg(0), Combiner::sum, b.all(y)});
    const Program program = b.done();
    const auto compiled = compile(program);
    const auto interpreted = runtime::backend("interpreter")->compile(program, {});
    std::vector<int64_t> differences(4, -1);
    std::vector<std::thread> threads;
    for (size_t k = 0; k < differences.size(); ++k)
        threads.emplace_back([&, k] {
            const std::vector<Array> inputs = {
                random_array(DType::float32, {20000}, 10 + k, false)};
            const Array expected = run(*interpreted, program, inputs, 1)[0];
            differences[k] = 0;
            for (int repetition = 0; repetition < 20; ++repetition) {
                const OnDevice given = prepare(program, inputs, 0);
                compiled->run(given.run);
                differences[k] += differing(results(program, given)[0], expected);
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(differences, std::vector<int64_t>(4, 0));
}

TEST_P(SimtPrograms, SecondsAndMemoryAreTold) {
    const Program program = twice();
    const auto compiled = compile(program);
    const OnDevice given = prepare(program, random_inputs(program), 0);
    const std::vector<double> seconds = compiled->seconds_of_kernels(given.run);
    ASSERT_EQ(seconds.size(), 1u);
    EXPECT_GT(seconds[0], 0);
    EXPECT_LT(seconds[0], 10);
    EXPECT_EQ(compiled->working_bytes(1), 0);
    EXPECT_NE(compiled->build_command(), "");
}

TEST_P(SimtPrograms, WithoutElementsNothingIsLaunched) {
    Builder b("empty");
    const int x = b.input("x", DType::float32, {0, 4}), y = b.output("y", DType::float32, {0, 4});
    b.kernel("negate", ir::kernel::Map{{0, 4}, {b.all(x)}, {-arg(0)}, {b.all(y)}});
    const Program program = b.done();
    const auto compiled = compile(program);
    EXPECT_EQ(compiled->build_command(), "");
    EXPECT_NO_THROW(compiled->run(prepare(program, random_inputs(program), 0).run));
}

INSTANTIATE_TEST_SUITE_P(Kernels, SimtPrograms, testing::Bool(), [](const auto& info) {
    return std::string(info.param ? "ForCpus" : "ForGroups");
});

}  // namespace
}  // namespace composit::tests

// The OpenCL machine: memory, copies, events, code and its cache, faults; on PoCL or a GPU.
#include "composit/base/error.h"
#include "composit/version.h"
#include "tests/cpp/backends/opencl_machines.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>
#include <unistd.h>

namespace composit::tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* add_text = R"(
#pragma OPENCL FP_CONTRACT OFF
kernel void add(global const char* a, long a_offset, global const char* b, long b_offset,
                global char* out, long out_offset, long count, long step) {
    global const float* x = (global const float*)(a + a_offset);
    global const float* y = b ? (global const float*)(b + b_offset) : 0;
    global float* z = (global float*)(out + out_offset);
    const long i = get_global_id(0) + step * get_group_id(1);
    if (i < count) z[i] = x[i] + (y ? y[i] : 1.0f);
}
)";

class OpenClMachine : public testing::Test {
  protected:
    OpenClMachine() {
        std::string name = (fs::temp_directory_path() / "composit-test-XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~OpenClMachine() override { fs::remove_all(folder_); }
    void SetUp() override {
        ASSERT_FALSE(opencl_devices().machines.empty()) << opencl_devices().why_no_more;
    }
    static simt::Machine& machine(size_t number = 0) { return *opencl_devices().machines[number]; }
    // The same driver, whose device is treated as a GPU is.
    static simt::Machine& machine_of_groups() {
        static const opencl::OpenedDevices& opened = [] {
            setenv("COMPOSIT_OPENCL_KERNELS", "groups", 1);
            auto& found = *new opencl::OpenedDevices(opencl::open_devices());
            unsetenv("COMPOSIT_OPENCL_KERNELS");
            return found;
        }();
        return *opened.machines[0];
    }
    std::string cache() const { return (folder_ / "cache").string(); }
    fs::path only_entry() const {
        fs::path found;
        for (const auto& entry : fs::directory_iterator(folder_ / "cache" / version)) {
            EXPECT_TRUE(found.empty());
            found = entry.path();
        }
        return found;
    }

    fs::path folder_;
};

char* at(void* address, int64_t bytes) { return static_cast<char*>(address) + bytes; }

TEST_F(OpenClMachine, SaysWhatItIs) {
    EXPECT_EQ(machine().name(), "opencl:0");
    EXPECT_NE(machine().description().find(", driver "), std::string::npos);
    EXPECT_GT(machine().memory_bytes(), 0);
}

TEST_F(OpenClMachine, CopiesBetweenAddressesWithinBlocks) {
    std::vector<int32_t> in(1000), out(1000, -1);
    std::iota(in.begin(), in.end(), 7);
    void* a = machine().allocate(4000);
    void* b = machine().allocate(5000);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 256, 0u);
    machine().copy_from_host(a, in.data(), 4000);
    machine().copy(at(b, 100), at(a, 400), 2000);
    machine().fill_with_zeros(at(b, 100), 12);
    machine().fill_with_zeros(at(b, 112), 16);
    machine().copy_to_host(out.data(), at(b, 100), 2000);
    for (size_t i = 0; i < 1000; ++i)
        EXPECT_EQ(out[i], i < 7 ? 0 : i < 500 ? in[i + 100] : -1) << i;
    machine().copy_to_host(out.data(), at(a, 4000), 0);  // the end of a block, and nothing there
    machine().release(a);
    machine().release(b);
    EXPECT_THROW(machine().copy_from_host(a, in.data(), 4), InternalError);
}

TEST_F(OpenClMachine, AHostThatReadsAnAddressStops) {
    void* a = machine().allocate(64);
    const pid_t child = fork();
    if (child == 0) {
        std::signal(SIGSEGV, SIG_DFL);
        _exit(*static_cast<volatile char*>(a) == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    machine().release(a);
}

TEST_F(OpenClMachine, LaunchesWithOffsetsNullsAndTwoDimensions) {
    std::vector<float> x(300), z(300);
    std::iota(x.begin(), x.end(), 0.0F);
    void* a = machine().allocate(1200);
    void* out = machine().allocate(1200);
    machine().copy_from_host(a, x.data(), 1200);
    const auto code = machine().build(add_text, cache());
    EXPECT_EQ(code, machine().build(add_text, cache()));
    // 2 x 2 groups of 64 for 200 elements from the 50th; `b` is null.
    machine().launch(*code, {"add", {2, 2}, 64, {at(a, 200), nullptr, at(out, 200)}, {200, 128}});
    machine().launch(*code, {"add", {1, 1}, 64, {a, at(a, 4), out}, {50, 0}});
    machine().launch(*code, {"add", {0, 1}, 64, {a, a, a}, {300, 0}});  // no group, no work
    machine().copy_to_host(z.data(), out, 1000);
    for (size_t i = 0; i < 250; ++i) EXPECT_EQ(z[i], i < 50 ? 2 * x[i] + 1 : x[i] + 1) << i;
    machine().release(a);
    machine().release(out);
}

TEST_F(OpenClMachine, EventsComeInOrderWithTimes) {
    const auto before = machine().record();
    void* a = machine().allocate(1 << 24);
    machine().fill_with_zeros(a, 1 << 24);
    const auto after = machine().record();
    after->wait();
    EXPECT_TRUE(before->is_done());
    EXPECT_TRUE(after->is_done());
    const double seconds = after->seconds_since(*before);
    EXPECT_GT(seconds, 0);
    EXPECT_LT(seconds, 10);
    machine().synchronise();
    machine().release(a);
}

TEST_F(OpenClMachine, CompiledCodeIsKeptAndDamageIsBuiltAgain) {
    const std::string text = std::string(add_text) + "// kept\n";
    machine_of_groups().build(text, cache()).reset();
    const fs::path entry = only_entry();
    const auto written = fs::last_write_time(entry);
    const auto bytes = fs::file_size(entry);
    machine_of_groups().build(text, cache()).reset();
    EXPECT_EQ(fs::last_write_time(entry), written);  // read, not built
    for (const auto damaged : {bytes / 2, decltype(bytes){0}}) {
        fs::resize_file(entry, damaged);
        machine_of_groups().build(text, cache()).reset();
        EXPECT_GT(fs::file_size(only_entry()), damaged);
        const auto again = fs::last_write_time(entry);
        machine_of_groups().build(text, cache()).reset();
        EXPECT_EQ(fs::last_write_time(entry), again);  // whole
    }
    {
        std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(fs::file_size(entry)) - 9);
        file << "damaged";
    }
    const auto code = machine_of_groups().build(text, cache());
    void* a = machine_of_groups().allocate(64);
    machine_of_groups().fill_with_zeros(a, 64);
    machine_of_groups().launch(*code, {"add", {1, 1}, 16, {a, nullptr, a}, {16, 0}});
    float out[16];
    machine_of_groups().copy_to_host(out, a, 64);
    for (const float value : out) EXPECT_EQ(value, 1.0F);
    machine_of_groups().release(a);
}

// Whose own files make the next process as quick; a binary would have to be compiled besides.
TEST_F(OpenClMachine, PoclKeepsCompiledCodeItself) {
    if (machine().description().find("pthread") == std::string::npos)
        GTEST_SKIP() << "another driver: " << machine().description();
    machine().build(std::string(add_text) + "// kept by the driver\n", cache());
    EXPECT_FALSE(fs::exists(cache()));
}

TEST_F(OpenClMachine, TheCompilersLogIsInTheError) {
    try {
        machine().build("kernel void f(global int* a) { a[0] = undeclared_name; }\n", cache());
        FAIL() << "was built";
    } catch (const NotSupported& error) {
        const std::string said = error.what();
        EXPECT_TRUE(said.starts_with("opencl:0: ")) << said;
        EXPECT_NE(said.find("undeclared_name"), std::string::npos) << said;
        EXPECT_NE(said.find("CL_BUILD_PROGRAM_FAILURE"), std::string::npos) << said;
        const fs::path kept = only_entry();
        EXPECT_NE(said.find(kept.string()), std::string::npos) << said;
        std::ifstream in(kept);
        const std::string content{std::istreambuf_iterator<char>(in), {}};
        EXPECT_NE(content.find("a[0] = undeclared_name;"), std::string::npos);
    }
}

TEST_F(OpenClMachine, ManyThreadsBuildAndLaunch) {
    const std::string text = std::string(add_text) + "// threads\n";
    std::vector<float> results(8);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < results.size(); ++t)
        threads.emplace_back([&, t] {
            const auto code = machine().build(text, cache());
            const std::vector<float> x(64, static_cast<float>(t));
            void* a = machine().allocate(256);
            machine().copy_from_host(a, x.data(), 256);
            for (int k = 0; k < 20; ++k)
                machine().launch(*code, {"add", {1, 1}, 64, {a, nullptr, a}, {64, 0}});
            std::vector<float> out(64);
            machine().copy_to_host(out.data(), a, 256);
            machine().release(a);
            results[t] = *std::min_element(out.begin(), out.end());
        });
    for (std::thread& thread : threads) thread.join();
    for (size_t t = 0; t < results.size(); ++t) EXPECT_EQ(results[t], static_cast<float>(t) + 20);
}

TEST_F(OpenClMachine, WhatTheDeviceCannotDoIsAnError) {
    try {
        machine().allocate(int64_t{1} << 60);
        FAIL() << "was allocated";
    } catch (const OutOfMemory& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("opencl:0: 1152921504606846976 bytes"))
            << error.what();
    }
    const auto code = machine().build(add_text, cache());
    try {
        machine().launch(*code, {"subtract", {1, 1}, 1, {}, {}});
        FAIL() << "was launched";
    } catch (const RuntimeError& error) {
        EXPECT_TRUE(std::string(error.what())
                        .starts_with("opencl:0: clCreateKernel of subtract failed: "
                                     "CL_INVALID_KERNEL_NAME."))
            << error.what();
    }
    EXPECT_THROW(
        machine().launch(*code, {"add", {1, 1}, 1 << 20, {nullptr, nullptr, nullptr}, {0, 0}}),
        RuntimeError);
}

TEST_F(OpenClMachine, TwoDevicesHaveAddressesOfTheirOwn) {
    if (opencl_devices().machines.size() < 2) GTEST_SKIP() << "one device";
    EXPECT_EQ(machine(1).name(), "opencl:1");
    void* a = machine(0).allocate(64);
    void* b = machine(1).allocate(64);
    EXPECT_NE(a, b);
    const int32_t one = 1, two = 2;
    machine(0).copy_from_host(a, &one, 4);
    machine(1).copy_from_host(b, &two, 4);
    int32_t first = 0, second = 0;
    machine(0).copy_to_host(&first, a, 4);
    machine(1).copy_to_host(&second, b, 4);
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 2);
    EXPECT_THROW(machine(1).copy_to_host(&first, a, 4), InternalError);
    machine(0).release(a);
    machine(1).release(b);
}

TEST_F(OpenClMachine, AForkedProcessIsToldToOpenDevicesItself) {
    void* a = machine().allocate(64);
    const pid_t child = fork();
    if (child == 0) {
        int good = 0;
        const auto refuses = [&](const auto& use) {
            try {
                use();
            } catch (const RuntimeError& error) {
                good += std::string(error.what()) ==
                        "opencl:0: this process was forked after the device was opened. Open "
                        "devices after the fork, or run on the CPU.";
            }
        };
        char byte = 0;
        refuses([] { machine().allocate(1); });
        refuses([&] { machine().copy_to_host(&byte, a, 1); });
        refuses([&] { machine().copy_from_host(a, &byte, 1); });
        refuses([&] { machine().copy(a, a, 1); });
        refuses([&] { machine().fill_with_zeros(a, 1); });
        refuses([] { machine().record(); });
        refuses([] { machine().synchronise(); });
        refuses([] { machine().build("", ""); });
        machine().release(a);
        _exit(good);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 8);
    machine().release(a);
}

}  // namespace
}  // namespace composit::tests

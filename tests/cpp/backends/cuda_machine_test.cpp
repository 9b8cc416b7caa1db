// The CUDA machine over a driver that is a fake (tests/cpp/fake_cuda): which calls it makes, in
// which context, and what it says of faults.
#include "composit/backends/cuda/devices.h"
#include "composit/base/error.h"
#include "composit/version.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace composit::tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* store_text =
    "extern \"C\" __global__ void store_number(long long* place, const long long number) {\n"
    "    *place = number;\n"
    "}\n";

// The fake's functions; the same copy of the library that the machine loads.
struct Fake {
    void (*fail)(const char*, int);
    int* (*number)(const char*);
    const char* (*log)();
    void (*clear_log)();

    Fake() {
        void* const library = dlopen(COMPOSIT_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
        const auto find = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
        };
        find(fail, "fake_fail");
        find(number, "fake_number");
        find(log, "fake_log");
        find(clear_log, "fake_clear_log");
    }
};

class CudaMachine : public testing::Test {
  protected:
    CudaMachine() {
        std::string name = (fs::temp_directory_path() / "composit-test-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        opened_ = open();
        fake().clear_log();
    }
    ~CudaMachine() override { fs::remove_all(folder_); }

    static const Fake& fake() {
        static const Fake the;
        return the;
    }
    // Machines live as long as the process: blocks and code refer to them.
    static const cuda::OpenedDevices& open() {
        return *new cuda::OpenedDevices(
            cuda::open_devices({COMPOSIT_FAKE_CUDA, {COMPOSIT_FAKE_CUDA}}));
    }
    simt::Machine& machine(size_t number = 0) { return *opened_.machines.at(number); }
    std::string cache() const { return (folder_ / "cache").string(); }
    // What was called since the log was cleared.
    static std::vector<std::string> calls() {
        std::vector<std::string> lines;
        std::istringstream in(fake().log());
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        fake().clear_log();
        return lines;
    }
    // Why there are no devices while a number of the fake has another value.
    static std::string reason_with(const char* name, int value) {
        int& number = *fake().number(name);
        const int before = std::exchange(number, value);
        const cuda::OpenedDevices& opened = open();
        number = before;
        EXPECT_TRUE(opened.machines.empty());
        return opened.why_no_more;
    }
    template <class E>
    static std::string error_of(const std::function<void()>& act) {
        try {
            act();
        } catch (const E& error) {
            return error.what();
        }
        return "no error";
    }

    fs::path folder_;
    cuda::OpenedDevices opened_;
};

using Lines = std::vector<std::string>;

TEST_F(CudaMachine, SaysWhatItIsAndOpensAtTheFirstUse) {
    ASSERT_EQ(opened_.machines.size(), 2u);
    EXPECT_EQ(opened_.why_no_more, "");
    EXPECT_EQ(machine(1).name(), "cuda:1");
    EXPECT_EQ(machine().description(),
              "Imagined GPU, compute capability 9.0, driver for CUDA 13.0, NVRTC 13.99");
    EXPECT_EQ(machine().memory_bytes(), 1 << 30);
    EXPECT_EQ(calls(), Lines{});
    EXPECT_EQ(machine().free_bytes(), 1 << 29);
    machine().synchronise();
    EXPECT_EQ(calls(), (Lines{"cuDevicePrimaryCtxRetain 10", "cuStreamCreate 1", "cuMemGetInfo_v2",
                              "cuStreamSynchronize"}));
}

TEST_F(CudaMachine, SmallCopiesFromTheHostDoNotWait) {
    std::vector<int32_t> in(1 << 19), out(1 << 19);
    std::iota(in.begin(), in.end(), 3);
    void* a = machine().allocate(1 << 21);
    calls();
    for (int piece = 0; piece < 20; ++piece)
        machine().copy_from_host(static_cast<char*>(a) + piece * 100000, in.data() + piece * 25000,
                                 100000);
    const Lines small = calls();
    EXPECT_EQ(std::count(small.begin(), small.end(), "cuStreamSynchronize"), 0);
    EXPECT_EQ(std::count(small.begin(), small.end(), "cuMemcpyHtoDAsync_v2 100000"), 20);
    EXPECT_EQ(std::count(small.begin(), small.end(), "cuMemHostAlloc 8388608"), 1);
    machine().copy_to_host(out.data(), a, 2000000);
    EXPECT_TRUE(std::equal(in.begin(), in.begin() + 500000, out.begin()));
    calls();
    machine().copy_from_host(a, in.data(), 1 << 21);
    EXPECT_EQ(calls(), (Lines{"cuMemcpyHtoDAsync_v2 2097152", "cuStreamSynchronize"}));
    machine().release(a);
}

TEST_F(CudaMachine, CopiesWithoutPinnedMemoryWait) {
    fake().fail("cuMemHostAlloc", 2);
    const int64_t in = 7;
    int64_t out = 0;
    void* a = machine().allocate(8);
    calls();
    machine().copy_from_host(a, &in, 8);
    fake().fail("cuMemHostAlloc", 0);
    EXPECT_EQ(calls(),
              (Lines{"cuMemHostAlloc 8388608", "cuMemcpyHtoDAsync_v2 8", "cuStreamSynchronize"}));
    machine().copy_to_host(&out, a, 8);
    EXPECT_EQ(out, 7);
    machine().release(a);
}

TEST_F(CudaMachine, CopiesAndFillsOnTheDevice) {
    const int blocks = *fake().number("blocks");
    std::vector<char> in(100, 'x'), out(100);
    void* a = machine().allocate(100);
    void* b = machine().allocate(100);
    machine().copy_from_host(a, in.data(), 100);
    machine().copy(b, a, 100);
    machine().fill_with_zeros(static_cast<char*>(b) + 10, 20);
    machine().copy_to_host(out.data(), b, 100);
    for (size_t i = 0; i < 100; ++i) EXPECT_EQ(out[i], i >= 10 && i < 30 ? 0 : 'x') << i;
    calls();
    machine().copy(b, a, 0);
    machine().copy(a, a, 10);
    machine().fill_with_zeros(b, 0);
    machine().copy_from_host(b, in.data(), 0);
    machine().copy_to_host(out.data(), b, 0);
    EXPECT_EQ(calls(), Lines{});
    EXPECT_EQ(*fake().number("blocks"), blocks + 2);
    machine().release(a);
    machine().release(b);
    machine().release(nullptr);
    EXPECT_EQ(*fake().number("blocks"), blocks);
}

TEST_F(CudaMachine, EventsHaveTimesAndEnd) {
    const int events = *fake().number("events");
    {
        *fake().number("ticks") = 1;
        const auto first = machine().record(), second = machine().record();
        *fake().number("ticks") = 0;
        EXPECT_DOUBLE_EQ(second->seconds_since(*first), 0.0025);
        *fake().number("busy") = 1;
        EXPECT_FALSE(second->is_done());
        *fake().number("busy") = 0;
        EXPECT_TRUE(second->is_done());
        second->wait();
    }
    EXPECT_EQ(*fake().number("events"), events);
}

TEST_F(CudaMachine, LaunchesWithAddressesThenNumbers) {
    const auto code = machine().build(store_text, cache());
    EXPECT_EQ(code->build_command(),
              "nvrtc --gpu-architecture=sm_90 --std=c++17 --fmad=false --ftz=false "
              "--prec-div=true --prec-sqrt=true");
    char* a = static_cast<char*>(machine().allocate(64));
    calls();
    machine().launch(*code, {"store_number", {3, 2}, 64, {a + 8}, {-5}});
    machine().launch(*code, {"store_number", {1, 1}, 32, {a + 16}, {int64_t{1} << 40}});
    machine().launch(*code, {"store_number", {0, 1}, 32, {nullptr}, {0}});
    EXPECT_EQ(calls(), (Lines{"cuModuleGetFunction store_number",
                              "cuLaunchKernel store_number 3 2 1 64 1 1 0",
                              "cuLaunchKernel store_number 1 1 1 32 1 1 0"}));
    int64_t out[2];
    machine().copy_to_host(out, a + 8, 16);
    EXPECT_EQ(out[0], -5);
    EXPECT_EQ(out[1], int64_t{1} << 40);
    EXPECT_EQ(
        error_of<RuntimeError>([&] { machine().launch(*code, {"missing", {1, 1}, 1, {}, {}}); })
            .find("cuda:0: cuModuleGetFunction of missing failed: CUDA_ERROR_NOT_FOUND (in "
                  "words)."),
        0u);
    machine().release(a);
}

TEST_F(CudaMachine, CompiledCodeIsKeptAndLoadedAgain) {
    const int modules = *fake().number("modules"), compilations = *fake().number("compilations");
    const std::string text = std::string(store_text) + "// kept\n";
    machine().build(text, cache()).reset();
    EXPECT_EQ(*fake().number("modules"), modules);  // unloaded with its last owner
    machine().build(text, cache()).reset();
    EXPECT_EQ(*fake().number("compilations"), compilations + 1);
    // What a driver does not take is compiled again.
    fs::path entry;
    for (const auto& file : fs::directory_iterator(folder_ / "cache" / version)) entry = file;
    fs::resize_file(entry, fs::file_size(entry) / 2);
    machine().build(text, cache()).reset();
    EXPECT_EQ(*fake().number("compilations"), compilations + 2);
    fake().fail("cuModuleLoadData", 209);
    const std::string said = error_of<NotSupported>([&] { machine().build(text, cache()); });
    fake().fail("cuModuleLoadData", 0);
    EXPECT_NE(said.find("it is older than NVRTC"), std::string::npos) << said;
}

TEST_F(CudaMachine, TheCompilersLogIsInTheError) {
    std::string text;
    for (int line = 1; line <= 50; ++line) text += "#error no\n";
    const std::string said = error_of<NotSupported>([&] { machine().build(text, cache()); });
    EXPECT_TRUE(said.starts_with("cuda:0: ")) << said;
    EXPECT_NE(said.find("composit.cu:2:2: error"), std::string::npos) << said;
    EXPECT_EQ(said.find("composit.cu:40:2: error"), std::string::npos) << said;
    const size_t begin = said.find(folder_.string());
    ASSERT_NE(begin, std::string::npos) << said;
    std::ifstream in(said.substr(begin, said.find(".failed") + 7 - begin));
    const std::string kept{std::istreambuf_iterator<char>(in), {}};
    EXPECT_NE(kept.find("composit.cu:50:2: error"), std::string::npos);
    EXPECT_NE(kept.find("#error no"), std::string::npos);
}

TEST_F(CudaMachine, ANewerGpuGetsPtxAndAnOlderOneIsRefused) {
    *fake().number("capability") = 120;
    const cuda::OpenedDevices& newer = open();
    *fake().number("capability") = 90;
    const auto code = newer.machines.at(0)->build(store_text, cache());
    EXPECT_NE(code->build_command().find("=compute_90 "), std::string::npos);
    const std::string older = reason_with("capability", 61);
    EXPECT_EQ(older.find("cuda:0 cannot be used: Imagined GPU has compute capability 6.1, for "
                         "which NVRTC 13.99 does not compile; cuda:1 cannot be used"),
              0u)
        << older;
}

TEST_F(CudaMachine, FullMemoryAndFaultsHaveNames) {
    EXPECT_EQ(error_of<OutOfMemory>([&] { machine().allocate(int64_t{1} << 30); })
                  .find("cuda:0: cuMemAlloc of 1073741824 bytes failed: CUDA_ERROR_OUT_OF_MEMORY "
                        "(in words). More free memory"),
              0u);
    fake().fail("cuStreamSynchronize", 700);
    EXPECT_EQ(error_of<RuntimeError>([&] {
                  machine().synchronise();
              }).find("cuda:0: cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS"),
              0u);
    fake().fail("cuStreamSynchronize", 999);
    EXPECT_EQ(error_of<RuntimeError>([&] {
                  machine().synchronise();
              }).find("cuda:0: cuStreamSynchronize failed: error 999."),
              0u);
    fake().fail("cuStreamSynchronize", 0);
}

TEST_F(CudaMachine, SaysWhyThereIsNoDevice) {
    EXPECT_EQ(reason_with("devices", 0),
              "cuInit failed: CUDA_ERROR_NO_DEVICE (in words). A GPU that this process may see "
              "(CUDA_VISIBLE_DEVICES) is required");
    EXPECT_EQ(reason_with("driver", 11080),
              "the driver is one for CUDA 11.8. An NVIDIA driver for CUDA 12.0 or later (525 or "
              "later) is required");
    EXPECT_NE(reason_with("driver", 12040).find("NVRTC 13.99 ("), std::string::npos);
    EXPECT_NE(reason_with("nvrtc_major", 11).find("One of version 12 to 13 is required"),
              std::string::npos);
    const auto no_compiler = cuda::open_devices({COMPOSIT_FAKE_CUDA, {"/none/libnvrtc.so.13"}});
    EXPECT_TRUE(no_compiler.machines.empty());
    EXPECT_EQ(no_compiler.why_no_more.find("NVRTC, CUDA's compiler, is missing: install"), 0u);
    const auto no_driver = cuda::open_devices({"/none/libcuda.so.1", {}});
    EXPECT_TRUE(no_driver.machines.empty());
    EXPECT_EQ(no_driver.why_no_more.find("/none/libcuda.so.1 cannot be loaded: "), 0u);
}

TEST_F(CudaMachine, ManyThreadsUseIt) {
    const int compilations = *fake().number("compilations");
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t)
        threads.emplace_back([&, t] {
            const auto code = machine().build(std::string(store_text) + "// threads\n", cache());
            void* a = machine().allocate(8);
            int64_t out = 0;
            for (int k = 0; k < 50; ++k) {
                machine().launch(*code, {"store_number", {1, 1}, 1, {a}, {t + k}});
                machine().copy_to_host(&out, a, 8);
                EXPECT_EQ(out, t + k);
                machine().copy_from_host(a, &out, 8);
            }
            machine().release(a);
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(*fake().number("compilations"), compilations + 1);
}

TEST_F(CudaMachine, AForkedProcessIsToldToOpenDevicesItself) {
    void* a = machine().allocate(64);
    const auto code = machine().build(store_text, cache());
    calls();
    const pid_t child = fork();
    if (child == 0) {
        int good = 0;
        const auto refuses = [&](const std::function<void()>& use) {
            good += error_of<RuntimeError>(use) ==
                    "cuda:0: this process was forked after the device was opened. Open devices "
                    "after the fork, or run on the CPU.";
        };
        char byte = 0;
        refuses([&] { machine().allocate(1); });
        refuses([&] { machine().copy_to_host(&byte, a, 1); });
        refuses([&] { machine().copy_from_host(a, &byte, 1); });
        refuses([&] { machine().copy(a, a, 1); });
        refuses([&] { machine().fill_with_zeros(a, 1); });
        refuses([&] { machine().record(); });
        refuses([&] { machine().synchronise(); });
        refuses([&] { machine().build("", ""); });
        refuses([&] { machine().launch(*code, {"store_number", {1, 1}, 1, {a}, {0}}); });
        refuses([&] { machine().free_bytes(); });
        machine().release(a);
        _exit(calls().empty() ? good : 100);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 10);
    machine().release(a);
}

}  // namespace
}  // namespace composit::tests

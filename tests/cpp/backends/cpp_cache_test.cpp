// The cache of compiled code survives what happens to folders, files, compilers and processes.
#include "composit/backends/cpp/backend.h"
#include "composit/backends/cpp/cache.h"
#include "composit/backends/cpp/unavailable.h"
#include "composit/runtime/interrupt.h"
#include "composit/runtime/warning.h"
#include "composit/version.h"
#include "tests/cpp/backends/cpp_programs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>
#include <unistd.h>

namespace composit::tests {
namespace {

namespace fs = std::filesystem;

class CppCache : public testing::Test {
  protected:
    CppCache() {
        std::string name = (fs::temp_directory_path() / "composit-test-XXXXXX").string();
        base_ = mkdtemp(name.data());
        former_ = runtime::set_warning_handler(
            [this](const std::string& text) { warnings_.push_back(text); });
        if (const char* cxx = std::getenv("CXX")) cxx_ = cxx;
    }
    ~CppCache() override {
        runtime::set_warning_handler(former_);
        set_compiler(cxx_);
        fs::remove_all(base_);
    }
    static void set_compiler(const std::string& command) {
        if (command.empty())
            unsetenv("CXX");
        else
            setenv("CXX", command.c_str(), 1);
    }

    // y = 2 x + `addend`, compiled with the cache in `folder`; whether 1 gives the right answer.
    static bool works(const fs::path& folder, double addend) {
        Builder b("line");
        int x = b.input("x", DType::float32, {1}), y = b.output("y", DType::float32, {1});
        Expr value = Expr::argument(0, DType::float32) * 2.0 + addend;
        b.kernel("line", ir::kernel::Map{{1}, {b.all(x)}, {value}, {b.all(y)}});
        auto executable = cpp::CppBackend().compile(b.done(), {folder.string(), 1});
        float in = 1, out = 0;
        runtime::Run run;
        run.inputs = {&in};
        run.outputs = {&out};
        executable->run(run);
        return out == static_cast<float>(2 + addend);
    }
    // The folders of compiled sources in `folder`.
    static std::vector<fs::path> entries(const fs::path& folder) {
        std::vector<fs::path> result;
        for (const auto& entry : fs::directory_iterator(folder / version)) result.push_back(entry);
        return result;
    }
    // Takes the place of the compiler.
    std::string script(const std::string& text) {
        fs::path path = base_ / "compiler";
        std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
        fs::permissions(path, fs::perms::owner_all);
        return path.string();
    }

    fs::path base_;
    std::vector<std::string> warnings_;
    runtime::WarningHandler former_;
    std::string cxx_;
};

TEST_F(CppCache, KnowsATextByItsCode) {
    set_compiler(script("exec g++ \"$@\""));
    const std::string code = "extern \"C\" int f() { return 3; }";
    const auto build = [&](const std::string& text) {
        std::string warning;
        return cpp::build_or_load({"f", text, "", cpp::find_compiler(), {"f"}}, base_.string(), {},
                                  warning);
    };
    (void)build("// a.py:7\n" + code + "\n");
    ASSERT_EQ(entries(base_).size(), 1u);
    set_compiler(script("case $1 in --version) exec g++ --version;; esac\nexit 1"));
    EXPECT_NE(build("// a.py:123, longer\n" + code + "  // b.py:8\n"), nullptr);
    EXPECT_EQ(entries(base_).size(), 1u);
}

TEST_F(CppCache, HoldsSourceCodeGraphAndBuild) {
    fs::path folder = base_ / "a" / "b";
    EXPECT_TRUE(works(folder, 1));
    ASSERT_EQ(entries(folder).size(), 1u);
    for (const char* name : {"kernel.cpp", "kernel.so", "graph.txt", "build.txt"})
        EXPECT_TRUE(fs::exists(entries(folder)[0] / name)) << name;
    struct stat status{};
    ASSERT_EQ(stat(folder.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    EXPECT_TRUE(warnings_.empty());
}

TEST_F(CppCache, ASecondUseCompilesNothing) {
    std::string log = (base_ / "log").string();
    set_compiler(script("echo $* >> " + log + "\nexec g++ \"$@\""));
    EXPECT_TRUE(works(base_ / "cache", 2));
    EXPECT_TRUE(works(base_ / "cache", 2));
    std::ifstream in(log);
    std::string line;
    int compilations = 0;
    while (std::getline(in, line)) compilations += line.find("kernel.cpp") != std::string::npos;
    EXPECT_EQ(compilations, 1);
}

TEST_F(CppCache, DamagedEntriesAreRebuilt) {
    fs::path folder = base_ / "cache";
    for (const char* name : {"kernel.so", "kernel.cpp", "build.txt"}) {
        for (const char* text : {"",
                                 "\x7f"
                                 "ELF nonsense"}) {
            ASSERT_TRUE(works(folder, 3));
            ASSERT_EQ(entries(folder).size(), 1u);
            fs::path file = entries(folder)[0] / name;
            auto size = fs::file_size(file);
            std::ofstream(file, std::ios::binary) << text;
            EXPECT_TRUE(works(folder, 3)) << name;
            EXPECT_EQ(fs::file_size(file), size) << name;
            EXPECT_EQ(entries(folder).size(), 1u);
        }
    }
    EXPECT_TRUE(warnings_.empty());
}

// Everything that may lie where an entry or one of its files is looked for.
TEST_F(CppCache, WhatIsNoEntryIsRebuilt) {
    const fs::path folder = base_ / "cache";
    const auto replace_file = [&](const char* name, auto make) {
        return [=, this](const fs::path& entry) {
            fs::remove_all(entry / name);
            make(entry / name);
        };
    };
    const auto nothing = [](const fs::path&) {};
    const auto pipe = [](const fs::path& path) { mkfifo(path.c_str(), 0600); };
    const auto directory = [](const fs::path& path) { fs::create_directory(path); };
    const auto dangling = [](const fs::path& path) { fs::create_symlink("/no/such/file", path); };
    const auto huge = [](const fs::path& path) {
        std::ofstream(path) << "x";
        fs::resize_file(path, uintmax_t{1} << 40);
    };
    std::vector<std::function<void(const fs::path&)>> damages;
    for (const char* name : {"kernel.so", "kernel.cpp", "build.txt"}) {
        for (const auto& make : std::vector<std::function<void(const fs::path&)>>{
                 nothing, pipe, directory, dangling, huge})
            damages.push_back(replace_file(name, make));
    }
    for (const auto& make :
         std::vector<std::function<void(const fs::path&)>>{nothing, pipe, dangling}) {
        damages.push_back([=](const fs::path& entry) {
            fs::remove_all(entry);
            make(entry);
        });
    }
    // An entry that is elsewhere, and one that others may write to: built again, not trusted.
    damages.push_back([&](const fs::path& entry) {
        fs::rename(entry, base_ / "elsewhere");
        fs::create_directory_symlink(base_ / "elsewhere", entry);
    });
    damages.push_back([](const fs::path& entry) { fs::permissions(entry, fs::perms::all); });
    const std::string log = (base_ / "log").string();
    // Compiling takes long: the library is made once and handed out.
    set_compiler(script("case $1 in --version) echo 1; exit;; esac\necho >> " + log + "\nif [ -e " +
                        base_.string() + "/made.so ]; then cp " + base_.string() +
                        "/made.so kernel.so; else g++ \"$@\" && cp kernel.so " + base_.string() +
                        "/made.so; fi"));
    ASSERT_TRUE(works(folder, 3));
    const auto compilations = [&] {
        std::ifstream in(log);
        return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
    };
    for (size_t k = 0; k < damages.size(); ++k) {
        SCOPED_TRACE(k);
        ASSERT_EQ(entries(folder).size(), 1u);
        const auto before = compilations();
        damages[k](entries(folder)[0]);
        EXPECT_TRUE(works(folder, 3));
        EXPECT_TRUE(works(folder, 3));
        EXPECT_EQ(compilations(), before + 1);
        ASSERT_EQ(entries(folder).size(), 1u);
        EXPECT_FALSE(fs::is_symlink(entries(folder)[0]));
    }
    EXPECT_TRUE(warnings_.empty());
}

// kernel.so and build.txt with every byte changed in turn, cut off everywhere: built again.
TEST_F(CppCache, NoMutantOfAnEntryIsLoaded) {
    const fs::path folder = base_ / "cache";
    const std::string log = (base_ / "log").string(), made = (base_ / "made.so").string();
    set_compiler(script("case $1 in --version) echo 1; exit;; esac\nif [ -e " + made +
                        " ]; then echo >> " + log + "; cp " + made +
                        " kernel.so; else g++ \"$@\" && cp kernel.so " + made + "; fi"));
    ASSERT_TRUE(works(folder, 5));
    const auto compilations = [&] {
        std::ifstream in(log);
        return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
    };
    ptrdiff_t mutants = 0;
    for (const char* name : {"kernel.so", "build.txt", "kernel.cpp"})
        for (int k = 0; k < 12; ++k) {
            const fs::path file = entries(folder)[0] / name;
            std::ifstream in(file, std::ios::binary);
            std::string content{std::istreambuf_iterator<char>(in), {}};
            in.close();
            const size_t at = content.size() * static_cast<size_t>(k) / 12;
            if (k % 2 == 0)
                content[at] = static_cast<char>(content[at] ^ (1 << k % 8));
            else
                content.resize(at);
            // A new file: the library of the old one may be in use.
            fs::remove(file);
            std::ofstream(file, std::ios::binary) << content;
            EXPECT_TRUE(works(folder, 5)) << name << " " << at;
            EXPECT_EQ(compilations(), ++mutants) << name << " " << at;
        }
}

// What the compiler wrote can be loaded, but is not what was asked for: no entry is made of it.
TEST_F(CppCache, ALibraryWithoutItsSymbolsIsNoEntry) {
    set_compiler(
        script("case $1 in --version) echo 1; exit;; esac\n"
               "echo 'int nothing;' > other.cpp\nexec g++ -shared -fPIC other.cpp "
               "-o kernel.so"));
    try {
        works(base_ / "cache", 15);
        FAIL() << "it was loaded";
    } catch (const cpp::CompilationUnavailable& error) {
        EXPECT_NE(std::string(error.what()).find("kernel.so has no symbol composit_kernels"),
                  std::string::npos)
            << error.what();
    }
    ASSERT_EQ(entries(base_ / "cache").size(), 1u);
    EXPECT_TRUE(entries(base_ / "cache")[0].string().ends_with(".failed"));
}

TEST_F(CppCache, ACompilerThatHangsIsKilledWithItsChildren) {
    const fs::path pids = base_ / "pids";
    set_compiler(script("case $1 in --version) echo 1; exit;; esac\nsleep 100 & echo $! >> " +
                        pids.string() + "\necho $$ >> " + pids.string() + "\nwait"));
    setenv("COMPOSIT_COMPILER_SECONDS", "0.3", 1);
    try {
        works(base_ / "cache", 16);
        FAIL() << "it compiled";
    } catch (const cpp::CompilationUnavailable& error) {
        EXPECT_NE(std::string(error.what())
                      .find("the C++ compiler was killed after 0.3 seconds, the limit that "
                            "COMPOSIT_COMPILER_SECONDS changes: "),
                  std::string::npos)
            << error.what();
    }
    unsetenv("COMPOSIT_COMPILER_SECONDS");
    std::ifstream in(pids);
    int found = 0;
    for (pid_t pid = 0; in >> pid; ++found) {
        // A killed process is there until somebody waits for it. It dies when it is its turn, which
        // takes a moment on a busy machine; one that nobody killed sleeps for 100 s.
        std::string state;
        for (int i = 0; i < 500 && state != "Z" && state != "X"; ++i) {
            if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
            state = "Z";
            std::string word;
            std::ifstream status("/proc/" + std::to_string(pid) + "/status");
            while (status >> word)
                if (word == "State:") status >> state;
        }
        EXPECT_TRUE(state == "Z" || state == "X") << pid << " " << state;
    }
    EXPECT_EQ(found, 2);
}

TEST_F(CppCache, ACompilerThatDoesNotAnswerIsAskedOnce) {
    const std::string log = (base_ / "log").string();
    set_compiler(script("echo >> " + log + "\nexec sleep 100"));
    setenv("COMPOSIT_COMPILER_SECONDS", "0.2", 1);
    for (int k = 0; k < 2; ++k) {
        try {
            works(base_ / "cache", 17);
            FAIL() << "it compiled";
        } catch (const cpp::CompilationUnavailable& error) {
            EXPECT_NE(std::string(error.what()).find("did not answer --version within 0.2 seconds"),
                      std::string::npos)
                << error.what();
        }
    }
    unsetenv("COMPOSIT_COMPILER_SECONDS");
    EXPECT_EQ(fs::file_size(log), 1u);
}

// ccache and others start servers, which live on with the compiler's output.
TEST_F(CppCache, ChildrenThatHoldTheOutputAreNotWaitedFor) {
    const fs::path pid = base_ / "pid";
    set_compiler(script("sleep 100 & echo $! > " + pid.string() + "\nexec g++ \"$@\""));
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(works(base_ / "cache", 18));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
    std::ifstream in(pid);
    pid_t child = 0;
    ASSERT_TRUE(in >> child);
    EXPECT_EQ(kill(child, SIGKILL), 0);
}

TEST_F(CppCache, ALimitThatIsNoneIsRefused) {
    for (const char* wish : {"soon", "0", "-1", "nan", "inf", "1e10", "1 s"}) {
        setenv("COMPOSIT_COMPILER_SECONDS", wish, 1);
        try {
            works(base_ / "cache", 19);
            FAIL() << wish;
        } catch (const ValueError& error) {
            EXPECT_EQ(std::string(error.what()),
                      text("compile: the environment variable COMPOSIT_COMPILER_SECONDS is '", wish,
                           "'. A number of seconds above 0 and up to 1e9 is required, after which "
                           "a compiler is killed; or the variable unset, for 60."));
        }
    }
    unsetenv("COMPOSIT_COMPILER_SECONDS");
}

TEST_F(CppCache, FoldersThatOthersMayWriteToAreRefused) {
    fs::path folder = base_ / "open";
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::all);
    EXPECT_TRUE(works(folder, 4));
    EXPECT_TRUE(fs::is_empty(folder));
    ASSERT_EQ(warnings_.size(), 1u);
    EXPECT_NE(warnings_[0].find("can be written to by other users"), std::string::npos);
    EXPECT_TRUE(works(folder, 5));
    EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(CppCache, FoldersThatCannotBeMadeDoNotMatter) {
    std::ofstream(base_ / "file") << "no folder";
    EXPECT_TRUE(works(base_ / "file" / "cache", 6));
    ASSERT_EQ(warnings_.size(), 1u);
    EXPECT_NE(warnings_[0].find("cannot be made"), std::string::npos) << warnings_[0];
}

TEST_F(CppCache, NoCompilerIsUnavailable) {
    for (const std::string& compiler :
         {std::string("/bin/false"), std::string("/no/such/compiler")}) {
        set_compiler(compiler);
        EXPECT_THROW(works(base_ / "cache", 7), cpp::CompilationUnavailable);
    }
}

TEST_F(CppCache, AFailedCompilationTellsCommandAndFile) {
    set_compiler(script("case $1 in --version) echo 1;; *) echo no space left; exit 3;; esac"));
    try {
        works(base_ / "cache", 8);
        FAIL() << "it compiled";
    } catch (const cpp::CompilationUnavailable& error) {
        EXPECT_NE(std::string(error.what()).find("no space left"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("status 3"), std::string::npos);
        EXPECT_NE(error.command().find("kernel.cpp"), std::string::npos);
        EXPECT_TRUE(fs::exists(error.file())) << error.file();
    }
    set_compiler(cxx_);
    EXPECT_TRUE(works(base_ / "cache", 8));
}

TEST_F(CppCache, AKilledCompilerIsUnavailable) {
    set_compiler(script("case $1 in --version) echo 1;; *) kill -9 $$;; esac"));
    try {
        works(base_ / "cache", 9);
        FAIL() << "it compiled";
    } catch (const cpp::CompilationUnavailable& error) {
        EXPECT_NE(std::string(error.what()).find("killed by signal 9"), std::string::npos);
    }
    set_compiler(cxx_);
    EXPECT_TRUE(works(base_ / "cache", 9));
}

TEST_F(CppCache, ProcessesShareAFolder) {
    std::vector<pid_t> children;
    for (int k = 0; k < 4; ++k) {
        pid_t child = fork();
        if (child == 0) {
            bool is_right = false;
            try {
                is_right = works(base_ / "cache", 10) && works(base_ / "cache", 11);
            } catch (...) {
            }
            _exit(is_right ? 0 : 1);
        }
        children.push_back(child);
    }
    for (pid_t child : children) {
        int status = 1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(entries(base_ / "cache").size(), 2u);
}

TEST_F(CppCache, AnInterruptKillsTheCompilerAndLeavesNothing) {
    fs::path started = base_ / "started";
    set_compiler(script("case $1 in --version) echo 1;; *) echo > " + started.string() +
                        "; sleep 100;; esac"));
    auto former = runtime::set_interrupt_check([&] { return fs::exists(started); });
    EXPECT_THROW(works(base_ / "cache", 13), runtime::Interrupted);
    runtime::set_interrupt_check(former);
    EXPECT_TRUE(entries(base_ / "cache").empty());
    EXPECT_TRUE(warnings_.empty());
    set_compiler(cxx_);
    EXPECT_TRUE(works(base_ / "cache", 13));
}

TEST_F(CppCache, ASuccessRemovesWhatAFailureKept) {
    set_compiler(script("case $1 in --version) echo 1;; *) exit 3;; esac"));
    EXPECT_THROW(works(base_ / "cache", 14), cpp::CompilationUnavailable);
    ASSERT_EQ(entries(base_ / "cache").size(), 1u);
    set_compiler(script("case $1 in --version) echo 1;; *) exec g++ \"$@\";; esac"));
    EXPECT_TRUE(works(base_ / "cache", 14));
    EXPECT_EQ(entries(base_ / "cache").size(), 1u);
}

TEST_F(CppCache, LeftoversOfKilledProcessesAreSweptAway) {
    fs::path left = base_ / "cache" / version / "line-0.tmp-1-0-0";
    fs::path fresh = base_ / "cache" / version / "line-0.tmp-2-0-0";
    fs::create_directories(left);
    fs::create_directories(fresh);
    fs::permissions(base_ / "cache", fs::perms::owner_all);
    fs::permissions(base_ / "cache" / version, fs::perms::owner_all);
    fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(48));
    EXPECT_TRUE(works(base_ / "cache", 12));
    EXPECT_FALSE(fs::exists(left));
    EXPECT_TRUE(fs::exists(fresh));
}

}  // namespace
}  // namespace composit::tests

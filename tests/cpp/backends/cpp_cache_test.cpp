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

#include <cstdlib>
#include <filesystem>
#include <fstream>
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

// Files written whole, what killed processes leave, and links.
#include "composit/base/whole_file.h"

#include "composit/base/error.h"
#include "composit/base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

namespace composit {
namespace {

namespace fs = std::filesystem;

class WholeFiles : public testing::Test {
  protected:
    WholeFiles() {
        std::string name = (fs::temp_directory_path() / "composit-test-XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~WholeFiles() override { fs::remove_all(folder_); }
    std::set<std::string> names() const {
        std::set<std::string> result;
        for (const auto& entry : fs::directory_iterator(folder_))
            result.insert(entry.path().filename().string());
        return result;
    }
    std::string content(const std::string& name) const {
        return read_whole_file("test: ", folder_ / name, 1000);
    }

    fs::path folder_;
};

TEST_F(WholeFiles, AreThereOrNot) {
    write_whole_file("save", folder_ / "a", "first");
    {
        WholeFile file("save", folder_ / "a");
        file.write("second", 6);
        EXPECT_EQ(content("a"), "first");
        EXPECT_EQ(names().size(), 2u);
    }
    EXPECT_EQ(names(), std::set<std::string>{"a"});
    write_whole_files("export", folder_ / "b" / "c", {{"x", "1"}, {"y", "2"}});
    EXPECT_EQ(content("b/c/y"), "2");
}

// A killed process leaves its file behind; the next that writes into the folder removes it. Files
// of living processes, and of users, stay.
TEST_F(WholeFiles, WhatKilledProcessesLeftIsSweptAway) {
    for (int round = 0; round < 3; ++round) {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            WholeFile file("save", folder_ / "other");
            file.write("half", 4);
            char ready = 1;
            if (write(ends[1], &ready, 1) == 1) pause();
            _exit(1);
        }
        char ready = 0;
        ASSERT_EQ(read(ends[0], &ready, 1), 1);
        close(ends[0]);
        close(ends[1]);
        const std::set<std::string> users = {"other.composit.tmp-", "other.composit.tmp-1a",
                                             "other.tmp-1"};
        for (const std::string& name : users) std::ofstream(folder_ / name) << "mine";
        write_whole_file("save", folder_ / "a", "alive");
        EXPECT_EQ(names().size(), users.size() + 2);
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(names().size(), users.size() + 2);
        write_whole_file("save", folder_ / "a", "dead");
        std::set<std::string> expected = users;
        expected.insert("a");
        EXPECT_EQ(names(), expected);
    }
}

TEST_F(WholeFiles, LinksAreFollowedWithinTheirFolder) {
    fs::create_directory(folder_ / "inside");
    fs::create_directory(folder_ / "inside" / "below");
    std::ofstream(folder_ / "secret") << "secret";
    const fs::path inside = folder_ / "inside";
    fs::create_symlink("b", inside / "a");
    fs::create_symlink("below/c", inside / "deeper");
    for (const char* name : {"a", "deeper"}) {
        write_whole_file("save", inside / name, "new");
        EXPECT_TRUE(fs::is_symlink(inside / name));
    }
    EXPECT_EQ(content("inside/b"), "new");
    EXPECT_EQ(content("inside/below/c"), "new");
    fs::create_symlink("../secret", inside / "out");
    fs::create_symlink(folder_ / "none", inside / "dangling");
    fs::create_symlink("out", inside / "twice");
    for (const char* name : {"out", "dangling", "twice"}) {
        try {
            write_whole_file("save", inside / name, "new");
            FAIL() << name;
        } catch (const InputOutputError& error) {
            EXPECT_EQ(std::string(error.what()),
                      text("save: ", (inside / name).string(),
                           " is a symbolic link out of its folder, to ",
                           (fs::canonical(folder_) /
                            (std::string(name) == "dangling" ? "none" : "secret"))
                               .string(),
                           ". A file of the folder is required; to write there, give that path."));
        }
    }
    EXPECT_EQ(content("secret"), "secret");
    EXPECT_FALSE(fs::exists(folder_ / "none"));
}

// A page that was there, that is gone, and a file that ends within its last page.
TEST_F(WholeFiles, MappedFilesMayBecomeShorter) {
    const fs::path path = folder_ / "a";
    for (const size_t left : {0u, 10u, 5000u}) {
        std::ofstream(path) << std::string(10000, 'x');
        const MappedFile file = map_file("test: ", path);
        ASSERT_EQ(file.bytes, 10000u);
        const auto count = [&] {
            const ReadingMappedFiles reading;
            size_t found = 0;
            for (size_t i = 0; i < file.bytes; ++i) found += file.data[i] == 'x' ? 1 : 0;
            reading.check("count", {file.data});
            return found;
        };
        EXPECT_EQ(count(), 10000u);
        check_mapped_file("value", file.data + 17);
        fs::resize_file(path, left);
        // Each time anew.
        for (int round = 0; round < 3; ++round) {
            const std::string expected =
                text(": the file ", path.string(),
                     " has become shorter while tensors share its memory. Load it again; with "
                     "copy=True they do not share it.");
            try {
                count();
                FAIL() << left;
            } catch (const InputOutputError& error) {
                EXPECT_EQ(error.what(), "count" + expected);
            }
            try {
                check_mapped_file("value", file.data + 17);
                FAIL() << left;
            } catch (const InputOutputError& error) {
                EXPECT_EQ(error.what(), "value" + expected);
            }
        }
        // What does not read it does not suffer.
        const ReadingMappedFiles reading;
        reading.check("other", {&path});
        fs::remove(path);
    }
    EXPECT_FALSE(is_in_mapped_file(&path));
}

// Outside, the process ends as it would without composit.
TEST_F(WholeFiles, OthersStillGetTheSignal) {
    const fs::path path = folder_ / "a";
    std::ofstream(path) << std::string(10000, 'x');
    const MappedFile file = map_file("test: ", path);
    fs::resize_file(path, 0);
    const pid_t child = fork();
    if (child == 0) {
        {
            const ReadingMappedFiles reading;
        }
        _exit(file.data[5000] == 'x' ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    // A sanitizer handles the signal, says so, and ends the process.
    EXPECT_TRUE(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
#else
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
#endif
}

}  // namespace
}  // namespace composit

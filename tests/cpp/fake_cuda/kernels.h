// CUDA C++ on the host: a text is compiled by the host's compiler, and its kernels run group by
// group, each thread of a group until it waits for the others.
//
// Threads of a group run one after the other, first to last up to a barrier, last to first up to
// the next: where a barrier is missing, numbers are wrong.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake_cuda {

// A shared library's bytes, or the compiler's messages.
struct Compiled {
    bool is_done = false;
    std::string code, log;
};
Compiled compile(const std::string& text);

struct Function {
    std::string name;
    void (*entry)() = nullptr;
    size_t parameters = 0;
    bool has_barriers = false;
    void* library = nullptr;
};

class Module {
  public:
    explicit Module(const char* code);  // std::runtime_error where it cannot be loaded
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;
    const Function* find(const std::string& name) const;

  private:
    void* library_ = nullptr;
    std::map<std::string, Function> functions_;
};

// Runs all threads of all groups before it returns. Parameters have 64 bits each.
void run(const Function& function, const unsigned (&groups)[2], unsigned threads,
         const std::vector<uint64_t>& parameters);

}  // namespace fake_cuda

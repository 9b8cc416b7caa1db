// The C++ compiler of this machine and the flags that make fast, bit-exact code for its CPU.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace composit::cpp {

struct Compiler {
    std::vector<std::string> command;  // {"g++"}, or {"python3", "-m", "ziglang", "c++"}
    std::string path;                  // where the first word was found
    std::string version;               // first line of --version
    bool is_gnu = false;
};

// $CXX where it is set, else g++, else clang++, else the ziglang package of the Python that
// $COMPOSIT_PYTHON names (importing composit sets it; else python3): the first that answers
// --version. What was found is remembered for each value of $CXX and $PATH.
// Throws CompilationUnavailable, saying what to install; runtime::Interrupted on a stop; as
// compiler_limit.
Compiler find_compiler(const std::stop_token& stop = {});

// How long a compiler may run before it is killed: the seconds in $COMPOSIT_COMPILER_SECONDS,
// or 60. Throws ValueError for a variable that is no number above 0.
std::chrono::milliseconds compiler_limit();
// "60 seconds, the limit that COMPOSIT_COMPILER_SECONDS changes"
std::string limit_in_words();

// What this CPU offers, as the compiler's words: "avx2,fma,f16c,bmi2". Empty on CPUs other than
// x86-64.
std::string cpu_features();
// -O3, or the level in $COMPOSIT_OPTIMIZE (0 to 3, which changes no bit), no contraction, and
// explicit instruction sets, vector width and tuning for this CPU: -march=native would tune an
// unknown new CPU as an old one. Throws ValueError for another value of the variable.
std::vector<std::string> compile_flags();

}  // namespace composit::cpp

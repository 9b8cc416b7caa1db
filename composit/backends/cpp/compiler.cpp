// Finds the system's C++ compiler and chooses its flags.
#include "composit/backends/cpp/compiler.h"

#include "composit/backends/cpp/process.h"
#include "composit/backends/cpp/unavailable.h"
#include "composit/base/error.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <unistd.h>

namespace composit::cpp {
namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::vector<std::string> split(const std::string& words, char separator) {
    std::vector<std::string> result;
    std::istringstream in(words);
    for (std::string word; std::getline(in, word, separator);)
        if (!word.empty()) result.push_back(word);
    return result;
}

std::string find_in_path(const std::string& program) {
    if (program.find('/') != std::string::npos) return program;
    for (const std::string& folder : split(environment("PATH"), ':')) {
        std::string candidate = folder + "/" + program;
        if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return "";
}

// Those that did not answer in time are not asked again: that would take as long each time.
std::set<std::vector<std::string>>& silent_compilers() {
    static auto& commands = *new std::set<std::vector<std::string>>;
    return commands;
}

// The compiler behind `command`, if it is there and answers.
std::optional<Compiler> try_compiler(const std::vector<std::string>& command,
                                     const std::stop_token& stop) {
    Compiler compiler{command, find_in_path(command[0]), ""};
    if (compiler.path.empty() || silent_compilers().contains(command)) return std::nullopt;
    std::vector<std::string> question = command;
    question.push_back("--version");
    Finished answer = run_process(question, "", compiler_limit(), stop);
    if (answer.ran_out_of_time) silent_compilers().insert(command);
    if (!answer.succeeded()) return std::nullopt;
    compiler.version = answer.output.substr(0, answer.output.find('\n'));
    compiler.is_gnu = answer.output.find("Free Software Foundation") != std::string::npos;
    return compiler;
}

Compiler look_for_compiler(const std::string& wish, const std::stop_token& stop) {
    if (!wish.empty()) {
        std::vector<std::string> command = split(wish, ' ');
        if (std::optional<Compiler> found = try_compiler(command, stop)) return *found;
        const std::string fault = silent_compilers().contains(command)
                                      ? " did not answer --version within " + limit_in_words()
                                      : " does not run";
        throw CompilationUnavailable(text("composit: the C++ compiler named by CXX=", wish, fault,
                                          ". Unset CXX, or set it to a C++ compiler."),
                                     command_line(command), "");
    }
    // The Python that composit was imported by may have the package where python3 has not.
    const std::string python = environment("COMPOSIT_PYTHON");
    const std::vector<std::vector<std::string>> candidates = {
        {"g++"}, {"clang++"}, {python.empty() ? "python3" : python, "-m", "ziglang", "c++"}};
    for (const auto& candidate : candidates)
        if (std::optional<Compiler> found = try_compiler(candidate, stop)) return *found;
    throw CompilationUnavailable(
        "composit: no C++ compiler was found. Install g++ or clang++, or `pip install "
        "'composit[compiler]'`, or "
        "name one in the environment variable CXX.",
        "", "");
}

struct Cpu {
    bool avx2 = false, avx512 = false, is_amd = false;
};

Cpu this_cpu() {
    Cpu cpu;
#if defined(__x86_64__)
    __builtin_cpu_init();
    cpu.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi2");
    cpu.avx512 = cpu.avx2 && __builtin_cpu_supports("avx512f") &&
                 __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl");
    cpu.is_amd = __builtin_cpu_is("amd");
#endif
    return cpu;
}

}  // namespace

Compiler find_compiler(const std::stop_token& stop) {
    static std::mutex mutex;
    static std::map<std::pair<std::string, std::string>, Compiler>& known =
        *new std::map<std::pair<std::string, std::string>, Compiler>;
    (void)compiler_limit();  // nonsense is refused even if nothing has to be compiled
    std::pair<std::string, std::string> key{environment("CXX"), environment("PATH")};
    std::lock_guard lock(mutex);
    auto place = known.find(key);
    if (place == known.end()) place = known.emplace(key, look_for_compiler(key.first, stop)).first;
    return place->second;
}

std::chrono::milliseconds compiler_limit() {
    const std::string wish = environment("COMPOSIT_COMPILER_SECONDS");
    if (wish.empty()) return std::chrono::seconds(60);
    double seconds = 0;
    const char* const end = wish.data() + wish.size();
    const auto [read_to, error] = std::from_chars(wish.data(), end, seconds);
    constexpr double most = 1e9;
    user_check(error == std::errc() && read_to == end && seconds > 0 && seconds <= most,
               "compile: the environment variable COMPOSIT_COMPILER_SECONDS is '", wish,
               "'. A number of seconds above 0 and up to 1e9 is required, after which a compiler "
               "is killed; or the variable unset, for 60.");
    return std::chrono::milliseconds(static_cast<int64_t>(std::ceil(seconds * 1000)));
}

std::string limit_in_words() {
    const std::string seconds = environment("COMPOSIT_COMPILER_SECONDS");
    return text(seconds.empty() ? "60" : seconds,
                " seconds, the limit that COMPOSIT_COMPILER_SECONDS changes");
}

std::string cpu_features() {
    Cpu cpu = this_cpu();
    if (!cpu.avx2) return "";
    return cpu.avx512 ? "avx2,fma,bmi2,avx512f,avx512bw,avx512dq,avx512vl" : "avx2,fma,bmi2";
}

std::vector<std::string> compile_flags() {
    const std::string level = environment("COMPOSIT_OPTIMIZE");
    user_check(level.empty() || (level.size() == 1 && level >= "0" && level <= "3"),
               "compile: the environment variable COMPOSIT_OPTIMIZE is '", level,
               "'. It must be 0, 1, 2 or 3, as in g++ -O3, or unset.");
    std::vector<std::string> flags = {"-std=c++17",
                                      "-O" + (level.empty() ? "3" : level),
                                      "-ffp-contract=off",
                                      "-fno-math-errno",
                                      "-fno-trapping-math",
                                      "-fno-strict-aliasing",
                                      "-Wno-psabi",
                                      "-fPIC",
                                      "-shared"};
    for (const std::string& feature : split(cpu_features(), ',')) flags.push_back("-m" + feature);
    Cpu cpu = this_cpu();
    if (cpu.avx2) {
        flags.push_back(cpu.avx512 ? "-mprefer-vector-width=512" : "-mprefer-vector-width=256");
        flags.push_back(cpu.is_amd   ? "-mtune=znver2"
                        : cpu.avx512 ? "-mtune=icelake-server"
                                     : "-mtune=haswell");
    }
    return flags;
}

}  // namespace composit::cpp

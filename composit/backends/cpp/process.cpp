// Starts processes with posix_spawn, which is safe in programs with threads, unlike fork.
#include "composit/backends/cpp/process.h"

#include "composit/base/text.h"
#include "composit/runtime/interrupt.h"

#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

extern char** environ;

namespace composit::cpp {
namespace {

constexpr size_t output_limit = 64 * 1024;

// Reads until the other end is closed, keeping the first output_limit bytes, or until the stop.
std::string read_all(int descriptor, const std::stop_token& stop) {
    constexpr int milliseconds = 20;  // between looks at `stop`
    std::string result;
    char block[4096];
    while (!stop.stop_requested()) {
        pollfd ready{descriptor, POLLIN, 0};
        if (stop.stop_possible() && poll(&ready, 1, milliseconds) == 0) continue;
        ssize_t count = read(descriptor, block, sizeof block);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return result;
        size_t room = output_limit - result.size();
        result.append(block, std::min(room, static_cast<size_t>(count)));
    }
    return result;
}

int wait_for(pid_t process) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR) return 127;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// What the new process starts with: an empty input, both outputs into `pipe`, no blocked signals,
// a process group of its own.
class Setting {
  public:
    Setting(int pipe, const std::string& folder) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions_, pipe, 1);
        posix_spawn_file_actions_adddup2(&actions_, pipe, 2);
        if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
        posix_spawnattr_init(&attributes_);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setpgroup(&attributes_, 0);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    }
    ~Setting() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

    const posix_spawn_file_actions_t* actions() const { return &actions_; }
    const posix_spawnattr_t* attributes() const { return &attributes_; }

  private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

}  // namespace

Finished run_process(const std::vector<std::string>& command, const std::string& folder,
                     const std::stop_token& stop) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {127, text("no pipe: ", std::strerror(errno))};
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t process = 0;
    int error = 0;
    {
        Setting setting(ends[1], folder);
        error = posix_spawnp(&process, arguments[0], setting.actions(), setting.attributes(),
                             arguments.data(), environ);
    }
    close(ends[1]);
    Finished result;
    if (error == 0) {
        result.output = read_all(ends[0], stop);
        if (stop.stop_requested()) kill(-process, SIGKILL);
        result.status = wait_for(process);
    } else {
        result = {127, text(command[0], ": ", std::strerror(error))};
    }
    close(ends[0]);
    if (stop.stop_requested()) throw runtime::Interrupted();
    return result;
}

std::string command_line(const std::vector<std::string>& command) {
    std::vector<std::string> words;
    for (const std::string& word : command) {
        bool is_plain = !word.empty();
        for (char c : word)
            is_plain = is_plain && (std::isalnum(static_cast<unsigned char>(c)) ||
                                    std::strchr("_-+=./:,@%", c) != nullptr);
        if (is_plain) {
            words.push_back(word);
            continue;
        }
        std::string quoted = "'";
        for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
        words.push_back(quoted + "'");
    }
    return join(words, " ");
}

}  // namespace composit::cpp

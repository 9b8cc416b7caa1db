// Starts processes with posix_spawn, which is safe in programs with threads, unlike fork.
#include "composit/backends/cpp/process.h"

#include "composit/base/ascii.h"
#include "composit/base/text.h"
#include "composit/runtime/interrupt.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace composit::cpp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t output_limit = 64 * 1024;
constexpr int milliseconds_between_looks = 20;  // at the process, the clock and the stop

// A process that was started, and the pipe that its output comes from.
class Child {
  public:
    Child(pid_t process, int output) : process_(process), output_(output) {
        fcntl(output_, F_SETFL, O_NONBLOCK);
    }

    // Until it ends, or until `is_over`, which kills it and the group that it leads.
    template <class IsOver>
    Finished finish(const IsOver& is_over) {
        // The pipe's end is a hint that the process ends. Others may hold the pipe longer.
        while (!has_ended()) {
            if (is_over()) {
                kill(-process_, SIGKILL);
                wait_for_end();
                break;
            }
            pollfd ready{is_open_ ? output_ : -1, POLLIN, 0};
            if (poll(&ready, 1, is_open_ ? milliseconds_between_looks : 1) > 0) read_output();
        }
        read_output();
        return {status_, std::move(text_)};
    }

  private:
    bool has_ended() { return take_status(waitpid(process_, &status_, WNOHANG)); }
    void wait_for_end() {
        while (!take_status(waitpid(process_, &status_, 0))) {
        }
    }
    bool take_status(pid_t ended) {
        if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
        if (ended < 0)
            status_ = 127;  // somebody else waited for it
        else
            status_ = WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
        return true;
    }
    // What is there now; the first output_limit bytes are kept.
    void read_output() {
        char block[4096];
        size_t most = 16 * output_limit;  // of a process that never stops writing
        while (is_open_ && most > 0) {
            const ssize_t count = read(output_, block, std::min(most, sizeof block));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0 && errno == EAGAIN) return;
            is_open_ = count > 0;
            if (count <= 0) return;
            const auto taken = static_cast<size_t>(count);
            text_.append(block, std::min(output_limit - text_.size(), taken));
            most -= taken;
        }
    }

    pid_t process_;
    int output_, status_ = 0;
    bool is_open_ = true;
    std::string text_;
};

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
                     std::chrono::milliseconds limit, const std::stop_token& stop) {
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
        const Clock::time_point start = Clock::now();
        bool ran_out_of_time = false;
        result = Child(process, ends[0]).finish([&] {
            ran_out_of_time = Clock::now() - start >= limit;
            return ran_out_of_time || stop.stop_requested();
        });
        result.ran_out_of_time = ran_out_of_time;
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
            is_plain = is_plain &&
                       (ascii::is_letter_or_digit(c) || std::strchr("_-+=./:,@%", c) != nullptr);
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

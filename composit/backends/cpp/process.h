// Running another program and waiting for it, without a shell.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace composit::cpp {

struct Finished {
    int status = 0;      // 128 + signal when it was killed; 127 when it could not start
    std::string output;  // standard output and standard error together, at most 64 KiB of it
    bool ran_out_of_time = false;  // killed at the limit
    bool succeeded() const { return status == 0; }
};

// Runs command[0], found in PATH, in `folder` (empty: the current one), until it ends: processes
// that it leaves behind are not waited for, even if they hold its output. Its input is empty. It
// and the processes that it starts are a group of their own, which a Ctrl-C in the terminal does
// not reach. All of them are killed when it has run for `limit`, and when a stop is requested,
// which throws runtime::Interrupted.
Finished run_process(const std::vector<std::string>& command, const std::string& folder,
                     std::chrono::milliseconds limit, const std::stop_token& stop = {});

// The command as one would type it into a shell: words that need it are quoted.
std::string command_line(const std::vector<std::string>& command);

}  // namespace composit::cpp

// Keeps the one warning handler of the process.
#include "composit/runtime/warning.h"

#include <cstdio>
#include <mutex>
#include <utility>

namespace composit::runtime {
namespace {

struct Current {
    std::mutex mutex;
    WarningHandler handler;
};

// Never destroyed: warnings may come from destructors that run at exit.
Current& current() {
    static Current& instance = *new Current;
    return instance;
}

}  // namespace

void warn(const std::string& text) {
    WarningHandler handler;
    {
        std::lock_guard lock(current().mutex);
        handler = current().handler;
    }
    if (!handler) {
        std::fprintf(stderr, "composit: warning: %s\n", text.c_str());
        return;
    }
    handler(text);
}

WarningHandler set_warning_handler(WarningHandler handler) {
    std::lock_guard lock(current().mutex);
    return std::exchange(current().handler, std::move(handler));
}

}  // namespace composit::runtime

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

thread_local std::vector<std::string>* kept_here = nullptr;

}  // namespace

KeptWarnings::KeptWarnings() : former_(std::exchange(kept_here, &texts_)) {}
KeptWarnings::~KeptWarnings() { kept_here = former_; }

void warn(const std::string& text) {
    if (kept_here) {
        kept_here->push_back(text);
        return;
    }
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

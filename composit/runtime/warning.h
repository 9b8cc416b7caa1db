// Warnings: what a user should know though the answer is right.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace composit::runtime {

using WarningHandler = std::function<void(const std::string& text)>;

// Hands `text` to the handler; without one it goes to standard error as "composit: warning:
// <text>". Throws what the handler throws: a user may ask for warnings to be errors. Thread-safe;
// to be called on the thread of the user's call.
void warn(const std::string& text);

// Replaces the handler and returns the former one; an empty function means standard error.
WarningHandler set_warning_handler(WarningHandler handler);

// While it lives, warnings of this thread are kept instead: of a helper, whose caller hands them
// on.
class KeptWarnings {
  public:
    KeptWarnings();
    ~KeptWarnings();
    KeptWarnings(const KeptWarnings&) = delete;
    KeptWarnings& operator=(const KeptWarnings&) = delete;

    const std::vector<std::string>& texts() const { return texts_; }

  private:
    std::vector<std::string> texts_;
    std::vector<std::string>* former_;
};

}  // namespace composit::runtime

// Warnings: what a user should know though the answer is right.
#pragma once

#include <functional>
#include <string>

namespace composit::runtime {

using WarningHandler = std::function<void(const std::string& text)>;

// Hands `text` to the handler; without one it goes to standard error as "composit: warning:
// <text>". A handler that throws is treated as one that did its work. Thread-safe.
void warn(const std::string& text);

// Replaces the handler and returns the former one; an empty function means standard error.
WarningHandler set_warning_handler(WarningHandler handler);

}  // namespace composit::runtime

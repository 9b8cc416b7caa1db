#include "composit/base/text.h"

#include <charconv>
#include <cmath>

namespace composit {
namespace {

template <class T>
std::string shortest(T value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    char buffer[64];
    auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    std::string result(buffer, end);
    if (result.find_first_of(".e") == std::string::npos) result += ".0";
    return result;
}

}  // namespace

std::string number_text(double value) { return shortest(value); }
std::string number_text(float value) { return shortest(value); }

}  // namespace composit

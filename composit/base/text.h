// Building message text out of values: numbers, strings, shapes (printed as Python tuples).
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace composit {

// Python's spelling of a tuple: (), (3,), (3, 4).
template <class T>
std::string tuple_text(const std::vector<T>& values) {
    std::ostringstream out;
    out << '(';
    for (size_t i = 0; i < values.size(); ++i) out << (i ? ", " : "") << values[i];
    out << (values.size() == 1 ? ",)" : ")");
    return out.str();
}

namespace detail {
template <class T>
void put(std::ostream& out, const T& value) {
    out << value;
}
template <class T>
void put(std::ostream& out, const std::vector<T>& values) {
    out << tuple_text(values);
}
inline void put(std::ostream& out, bool value) { out << (value ? "True" : "False"); }
}  // namespace detail

// text("axis ", 2, " of ", shape) concatenates its arguments.
template <class... Parts>
std::string text(const Parts&... parts) {
    std::ostringstream out;
    (detail::put(out, parts), ...);
    return out.str();
}

// "a, b, c"
template <class Range>
std::string join(const Range& parts, std::string_view separator = ", ") {
    std::ostringstream out;
    bool first = true;
    for (const auto& part : parts) {
        if (!first) out << separator;
        first = false;
        out << part;
    }
    return out.str();
}

// Shortest decimal text that reads back as the same double (or float): "0.1", "1.0", "inf", "nan",
// "1e-05".
std::string number_text(double value);
std::string number_text(float value);

}  // namespace composit

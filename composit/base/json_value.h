// Values of JSON: read without trust, and written as Python's json module writes them.
//
//   parse_json("[1, {\"a\": null}]").items[1].members[0].first   // "a"
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit {

struct JsonValue {
    enum class Kind { null, truth, number, text, list, object };

    Kind kind = Kind::null;
    bool truth = false;
    // Of a number as it is written: integers may be of any size; "NaN", "Infinity" and "-Infinity"
    // are numbers. Texts are UTF-8, in which halves of characters beyond U+FFFF may stand alone.
    std::string text = {};
    std::vector<JsonValue> items = {};                            // of a list
    std::vector<std::pair<std::string, JsonValue>> members = {};  // of an object, each name once

    static JsonValue of_truth(bool truth);
    static JsonValue of_integer(std::string digits);
    static JsonValue of_number(double number);
    static JsonValue of_text(std::string text);
    static JsonValue of_list(std::vector<JsonValue> items);
    static JsonValue of_object(std::vector<std::pair<std::string, JsonValue>> members);

    bool is(Kind other) const { return kind == other; }
    bool is_integer() const;  // a number without a point, an exponent and other words
    double number() const;    // of a number; infinite where it is too large
};

// ValueError, in the words of Python's json module, for what is no JSON: "Expecting value: line 1
// column 2 (char 1)". `too_deep` where lists and objects are nested deeper than `most_depth`.
[[nodiscard]] JsonValue parse_json(std::string_view text, int most_depth = 900,
                                   std::string_view too_deep = "it is nested too deep");

// On one line, with spaces behind commas and colons, in ASCII.
[[nodiscard]] std::string json_text(const JsonValue& value);

// The value as Python shows it: {'a': None}.
[[nodiscard]] std::string shown_as_python(const JsonValue& value);

// The shortest text that reads as the number: "0.1", "1e+16", "NaN" (of JSON) or "nan".
[[nodiscard]] std::string python_number_text(double number, bool is_json = true);

}  // namespace composit

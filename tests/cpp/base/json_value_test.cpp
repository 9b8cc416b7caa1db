// JSON, read and written as Python does.
#include "composit/base/json_value.h"

#include "composit/base/error.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace composit {
namespace {

TEST(Json, ComesBack) {
    const std::string written =
        R"({"a": [1, -2.5, 1e+16, true, null, NaN, "\u00e9\n\ud83d\ude00"], "b": {}})";
    const JsonValue value = parse_json(written);
    EXPECT_EQ(json_text(value), written);
    EXPECT_EQ(shown_as_python(value),
              "{'a': [1, -2.5, 1e+16, True, None, nan, 'é\\n😀'], 'b': {}}");
    EXPECT_EQ(json_text(parse_json(" {\"k\" :1 ,\"k\":[ ] } ")), "{\"k\": []}");
    EXPECT_EQ(json_text(parse_json("\"\\ud800x\"")), "\"\\ud800x\"");  // half a character
    const std::string digits(60, '7');
    EXPECT_TRUE(parse_json(digits).is_integer());
    EXPECT_EQ(parse_json(digits).text, digits);
    EXPECT_EQ(parse_json("1e999").number(), std::numeric_limits<double>::infinity());
}

TEST(Json, ObjectsWithManyNames) {
    std::string written = "{";
    for (int i = 0; i < 40'000; ++i) written += text("\"name", i % 39'999, "\": ", i, ", ");
    const JsonValue value = parse_json(written + "\"\": 0}");
    ASSERT_EQ(value.members.size(), 40'000U);
    EXPECT_EQ(value.members[0].second.text, "39999");  // the last one of a name counts
    EXPECT_EQ(value.members[39'998].first, "name39998");
    EXPECT_EQ(value.members[39'999].first, "");
}

TEST(Json, TextsAreWrittenAsPythonDoes) {
    const std::string all = "plain\"\\/\x7f\x01 ~\téz";
    EXPECT_EQ(json_text(JsonValue::of_text(all)), "\"plain\\\"\\\\/\\u007f\\u0001 ~\\t\\u00e9z\"");
}

TEST(Json, NumbersAreShortest) {
    EXPECT_EQ(python_number_text(0.1), "0.1");
    EXPECT_EQ(python_number_text(100), "100.0");
    EXPECT_EQ(python_number_text(1e16), "1e+16");
    EXPECT_EQ(python_number_text(123456789012345.0), "123456789012345.0");
    EXPECT_EQ(python_number_text(0.0001), "0.0001");
    EXPECT_EQ(python_number_text(0.00001), "1e-05");
    EXPECT_EQ(python_number_text(-0.0), "-0.0");
}

TEST(Json, WhatIsWrongIsSaidInPythonsWords) {
    const auto why = [](const std::string& text) -> std::string {
        try {
            (void)parse_json(text);
        } catch (const ValueError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(why("["), "Expecting value: line 1 column 2 (char 1)");
    EXPECT_EQ(why("[1\n 2]"), "Expecting ',' delimiter: line 2 column 2 (char 4)");
    EXPECT_EQ(why("\"é"), "Unterminated string starting at: line 1 column 1 (char 0)");
    EXPECT_EQ(why("1 2"), "Extra data: line 1 column 3 (char 2)");
    EXPECT_EQ(why("{1"),
              "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)");
    EXPECT_EQ(why(std::string(5000, '[')), "it is nested too deep");
}

}  // namespace
}  // namespace composit

// Tests of the text form: print and parse are inverse, errors say where, hostile text is refused.
#include "composit/base/error.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/ir/parse.h"
#include "composit/ir/print.h"
#include "composit/ir/verify.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace composit::ir {
namespace {

using ops::Combiner;

class Text : public testing::Test {
  protected:
    static void SetUpTestSuite() { ops::register_operations(); }
};

void expect_round_trip(const std::vector<Tensor>& outputs) {
    const std::string text = print(outputs);
    const std::vector<Tensor> again = parse(text, large_constants(outputs));
    ASSERT_EQ(again.size(), outputs.size());
    EXPECT_EQ(print(again), text);
    EXPECT_TRUE(same_structure(outputs, {}, again, {}));
    verify(again);
}

std::shared_ptr<const Body> relu_body() {
    const Tensor x = input("x", DType::float32, {2});
    const LocationScope scope(intern("layers.py:7"));
    return std::make_shared<Body>(Body{"relu", {x}, {ops::map("maximum", {x, weak_scalar(0.0)})}});
}

// A graph with every kind of attribute, several outputs, sharing, names and lines.
std::vector<Tensor> rich_graph() {
    const LocationScope scope(intern("train.py:12"));
    const Tensor x = input("values", DType::float32, {2, 2});
    const Tensor w =
        constant(Array::of<float>(DType::float32, {2, 2}, {1, 0.1f, -0.0f, 1e-30f}), "w");
    const auto parts = ops::split(ops::contract(x, w, {{}, {}, {1}, {0}}), {1, 1}, 0);
    const Tensor row = ops::reshape(parts[1], {2});
    const Tensor y = ops::call(relu_body(), {row})[0];
    const Tensor again = ops::call(relu_body(), {y})[0];
    const Tensor total = ops::reduce(Combiner::sum, ops::map("add", {again, row}), {0}, true);
    return {total, ops::astype(parts[0], DType::int16),
            Tensor(with_name(total.node(), "t \"\\\n\x01"), 0)};
}

// Every primitive, with attributes that a change of one digit makes wrong.
std::vector<Tensor> every_primitive() {
    const Tensor x = input("x", DType::float32, {2, 4, 6});
    const Tensor filters = input("filters", DType::float32, {6, 2, 3});
    const Tensor index = constant(Array::of<int64_t>(DType::int64, {2}, {1, -1}));
    const Tensor zero = constant(Array::scalar(DType::float32, 0));
    const Tensor windows = ops::windows(x, {3}, {1}, {2});
    return {ops::convolve(x, filters, {{2}, {1}, {0}, {1}, {1}, 2}),
            ops::fold(windows, {6}, {1}, {2}),
            ops::scatter(x, {index, index}, {0, 2}, ops::gather(x, {index, index}, {0, 2}), true),
            ops::pad(x, zero, {0, 1, -1}, {2, 0, 0}, {0, 1, 0}),
            ops::slice(x, {1, 3, 0}, {1, 2, 3}, {1, -2, 2}),
            ops::transpose(ops::concatenate({x, x}, 1), {2, 0, 1}),
            ops::broadcast_to(ops::reshape(x, {8, 1, 6}), {3, 8, 2, 6}),
            ops::scan(Combiner::maximum, x, 1),
            ops::reduce(Combiner::argmin, x, {0, 2}),
            ops::contract(x, x, {{0}, {0}, {2}, {2}}),
            ops::split(x, {1, 2, 3}, 2)[1],
            ops::iota({3, 2}, 1)};
}

TEST_F(Text, TheFormOfAGraph) {
    const Tensor x = input("x", DType::float32, {3});
    const LocationScope scope(intern("train.py:12"));
    const Tensor y(with_name(ops::map("multiply", {x, weak_scalar(2.0)}).node(), "y"), 0);
    EXPECT_EQ(print({y}),
              "composit graph 1\n"
              "%0 = input{dtype=float32, shape=[3]} : float32[3] \"x\"\n"
              "%1 = constant{value=float64[]{2.0}, weak=true} : weak float64[] \"scalar_2.0\" at "
              "\"train.py:12\"\n"
              "%2 = map(%0, %1){row=row(\"multiply\")} : float32[3] \"y\" at \"train.py:12\"\n"
              "return %2\n");
}

TEST_F(Text, BodiesAreNamedSubGraphs) {
    const Tensor x = input("values", DType::float32, {2});
    EXPECT_EQ(print(ops::call(relu_body(), {x})),
              "composit graph 1\n"
              "body 0 \"relu\"(%0) {\n"
              "  %0 = input{dtype=float32, shape=[2]} : float32[2] \"x\"\n"
              "  %1 = constant{value=float64[]{0.0}, weak=true} : weak float64[] \"scalar_0.0\" at "
              "\"layers.py:7\"\n"
              "  %2 = map(%0, %1){row=row(\"maximum\")} : float32[2] at \"layers.py:7\"\n"
              "  return %2\n"
              "}\n"
              "%3 = input{dtype=float32, shape=[2]} : float32[2] \"values\"\n"
              "%4 = call(%3){body=body(0)} : float32[2]\n"
              "return %4\n");
}

TEST_F(Text, RoundTrips) {
    expect_round_trip({});
    expect_round_trip(rich_graph());
    expect_round_trip(every_primitive());
    expect_round_trip({input("", DType::float64, {0, 3})});
}

TEST_F(Text, PullbacksAreNamedByTheirRow) {
    const Tensor x = input("x", DType::float32, {2});
    const Tensor y = ops::map("digamma", {x});
    const std::vector<DType> one{DType::float32};
    const scalar::Pullback first = scalar::pullback_row(scalar::row("digamma"), one, 0);
    EXPECT_EQ(first.uses, (std::vector<int>{0, 2}));
    const std::vector<DType> two{DType::float32, DType::float32};
    const scalar::Pullback second = scalar::pullback_row(first.row, two, 1);
    EXPECT_EQ(second.row->name, "pullback(pullback(digamma, float32, 0), float32 float32, 1)");
    EXPECT_EQ(second.uses, (std::vector<int>{0, 3}));
    EXPECT_EQ(scalar::find_row(second.row->name), second.row);
    const Tensor slope = ops::map(first.row, {x, y});
    expect_round_trip({slope, ops::map(second.row, {x, slope})});
    for (const char* name :
         {"pullback(", "pullback()", "pullback(digamma, float32, 0",
          "pullback(digamma, float32, -1)", "pullback(digamma, float32, 1)",
          "pullback(nothing, float32, 0)", "pullback(, float32, 0)",
          "pullback(digamma, float32, 0x)", "pullback(digamma)", "pullback(digamma, 0)",
          "pullback(digamma, int8, 0)", "pullback(digamma, none, 0)", "pullback(floor, float32, 0)",
          "pullback(digamma, float32 float32, 0)"})
        EXPECT_EQ(scalar::find_row(name), nullptr) << name;
}

TEST_F(Text, SharingOfNodesAndBodiesSurvives) {
    const Tensor c = constant(Array::scalar(DType::float32, 3));
    const auto inner = std::make_shared<Body>(Body{"inner", {}, {ops::map("exp", {c})}});
    const Tensor p = input("p", DType::float32, {});
    const auto outer =
        std::make_shared<Body>(Body{"outer", {p}, {ops::map("add", {ops::call(inner, {})[0], p})}});
    const Tensor once = ops::call(outer, {c})[0];
    expect_round_trip({ops::call(outer, {once})[0], ops::call(inner, {})[0], c});
}

template <class T>
void expect_values(DType dtype, std::vector<T> values) {
    const Tensor c = constant(Array::of<T>(dtype, {static_cast<int64_t>(values.size())}, values));
    const std::string text = print({c});
    const Tensor again = parse(text)[0];
    ASSERT_EQ(again.dtype(), dtype);
    EXPECT_EQ(
        std::memcmp(constant_value(again.node()).data(), values.data(), values.size() * sizeof(T)),
        0)
        << text;
    EXPECT_EQ(print({again}), text);
}

float float_of(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

TEST_F(Text, ConstantsKeepTheirBits) {
    const double inf = std::numeric_limits<double>::infinity();
    expect_values<double>(DType::float64,
                          {0.1, -0.0, 5e-324, 1.7976931348623157e308, inf, -inf, std::nan(""),
                           -std::nan(""), std::nan("0x123"), 1, 1e22});
    expect_values<float>(DType::float32, {0.1f, -0.0f, 1e-45f, 3.4028235e38f, float_of(0x7fc00000),
                                          float_of(0xffc00001), float_of(0x7f800001), 16777216});
    expect_values<uint16_t>(DType::float16,
                            {0x3c00, 0x0001, 0x7bff, 0x7c00, 0x7e00, 0xfe01, 0x2e66});
    expect_values<uint16_t>(DType::bfloat16, {0x3f80, 0x0001, 0x7f80, 0x7fc0, 0xffc1, 0x3dcd});
    expect_round_trip({constant(Array(DType::complex64, {0}))});
    expect_values<int8_t>(DType::int8, {-128, 127, 0});
    expect_values<uint8_t>(DType::boolean, {1, 0});
    expect_values<int64_t>(DType::int64, {INT64_MIN, INT64_MAX, -1});
    expect_values<uint64_t>(DType::uint64, {UINT64_MAX, 0});
    expect_values<int32_t>(DType::int32, {INT32_MIN, INT32_MAX});
    expect_values<uint16_t>(DType::uint16, {65535});
    const Tensor z = constant(Array(DType::complex128, {1}));
    double* parts = static_cast<double*>(constant_value(z.node()).mutable_data());
    parts[0] = -0.0, parts[1] = inf;
    EXPECT_NE(print({z}).find("complex128[1]{(-0.0, inf)}"), std::string::npos);
    expect_round_trip({z});
}

TEST_F(Text, LargeConstantsAreNamedByTheirContents) {
    const Tensor a = constant(Array::zeros(DType::float32, {17}));
    const Tensor b = constant(Array::zeros(DType::int32, {17}));
    EXPECT_EQ(large_constants({a, b, constant(Array::zeros(DType::int8, {16}))}).size(), 2u);
    expect_round_trip({a, b, constant(Array::zeros(DType::float32, {17}))});
    EXPECT_THROW(parse(print({a})), ValueError);
    auto wrong = large_constants({a});
    wrong.begin()->second = Array::zeros(DType::float32, {18});
    EXPECT_THROW(parse(print({a}), wrong), ValueError);
}

std::string error_of(const std::string& text) {
    try {
        parse(text);
    } catch (const ValueError& error) {
        return error.what();
    }
    return "no error";
}

TEST_F(Text, ErrorsSayWhereAndWhat) {
    EXPECT_EQ(error_of(""),
              "parse: line 1, column 1: found the end of the text. 'composit' at the "
              "beginning is required.");
    EXPECT_EQ(error_of("composit graph 2"),
              "parse: line 1, column 16: found version 2. Version 1 is required.");
    EXPECT_EQ(error_of("composit graph 1\nreturn %0\n"),
              "parse: line 2, column 9: there is no node %0 before this line. One of an earlier "
              "line is required.");
    EXPECT_EQ(
        error_of("composit graph 1\n%0 = foo : float32[]\nreturn %0"),
        "parse: line 2, column 6: there is no operation \"foo\". A registered one is required.");
    EXPECT_EQ(
        error_of("composit graph 1\n%0 = input{dtype=float32, shape=[2]} : float64[2]\nreturn"),
        "parse: line 2, column 6: the types written are float64[2], but input gives "
        "float32[2]. The latter is required.");
    EXPECT_EQ(error_of("composit graph 1\n%0 = constant{value=int8[1]{128}} : int8[1]\nreturn"),
              "parse: line 2, column 29: found \"128\". An integer that fits int8 is required.");
    EXPECT_EQ(error_of("composit graph 1\n%0 = input{dtype=float32 shape=[]} : float32[]\nreturn"),
              "parse: line 2, column 26: found \"shape\". '}' after the attributes is required.");
    EXPECT_EQ(error_of("composit graph 1\n$"),
              "parse: line 2, column 1: found \"$\", which begins nothing. A node, body or return "
              "is required.");
    EXPECT_NE(error_of("composit graph 1\n%0 = transpose{axes=[0]} : float32[]\nreturn")
                  .find("line 2, column 6: transpose: 0 operands given. 1 required."),
              std::string::npos);
}

TEST_F(Text, HostileGraphsAreRefused) {
    const std::string x =
        "composit graph 1\n%0 = input{dtype=float32, shape=[2, 3]} : float32[2, 3]\n";
    for (const char* node :
         {"transpose(%0){axes=[0, 7]} : float32[2, 3]",
          "transpose(%0){axes=[0]} : float32[2]",
          "transpose(%0){axes=[0, 0]} : float32[2, 2]",
          "reduce(%0){axes=[5]} : float32[]",
          "reduce(%0){axes=[0], combiner=99, keepdims=true} : float32[1, 3]",
          "slice(%0){lengths=[9, 9], starts=[0, 0], steps=[1, 1]} : float32[9, 9]",
          "slice(%0){lengths=[1], starts=[0], steps=[1]} : float32[1]",
          "contract(%0, %0){batch_a=[], batch_b=[0], contracted_a=[], contracted_b=[]} : float32[]",
          "reshape(%0){shape=[4611686018427387904, 4]} : float32[2, 3]",
          "iota{axis=3, shape=[2]} : int64[2]",
          "input{dtype=float32, shape=[-1]} : float32[1]",
          "broadcast_to(%0){shape=[4294967296, 4294967296, 2, 3]} : float32[2, 3]",
          "map{row=row(\"add\")} : float32[]",
          "map(%0, %0){row=row(\"no_such_row\")} : float32[2, 3]",
          "call(%0){body=body(0)} : float32[2, 3]",
          "constant{value=3} : int64[]",
          "split(%0){axis=0, lengths=[]} : float32[2, 3]",
          "concatenate{axis=0} : float32[2]",
          "windows(%0){dilations=[1], steps=[0], window=[1]} : float32[2, 3, 1]",
          "gather(%0){axes=[0]} : float32[3]",
          "pad(%0){high=[], interior=[], low=[]} : float32[2, 3]",
          "constant{value=int64[2]{1, 2}, weak=true} : weak int64[2]"}) {
        const std::string error = error_of(x + "%1 = " + node + "\nreturn %1\n");
        EXPECT_EQ(error.substr(0, 14), "parse: line 3,") << node << ": " << error;
    }
}

// Valid text, changed at random, is parsed or refused; so is noise. What parses is sound.
TEST_F(Text, MutatedTextNeverCrashes) {
    std::mt19937 random(7);
    const auto outputs = rich_graph();
    const std::string valid = print(outputs);
    const std::string pieces[] = {"%",     "0",    "-1", "9999999999", "[",      "]",    "{",
                                  "}",     "(",    ")",  ",",          "=",      "\"",   "\\",
                                  "nan",   "bits", "0x", "weak",       "return", "body", "float16",
                                  "shape", "axes", "#",  "\n",         ".",      "row",  "1e999"};
    int parsed = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text = valid;
        const auto at = [&] { return random() % (text.size() + 1); };
        for (unsigned change = 0; change <= random() % 3; ++change) {
            switch (random() % 4) {
                case 0: text.insert(at(), pieces[random() % std::size(pieces)]); break;
                case 1: text.erase(std::min(at(), text.size()), random() % 8); break;
                case 2: text[at() % text.size()] = static_cast<char>(random() % 256); break;
                case 3:
                    text.insert(at(), text.substr(std::min(at(), text.size()), random() % 30));
                    break;
            }
        }
        try {
            verify(parse(text));
            ++parsed;
        } catch (const ValueError&) {
        }
    }
    EXPECT_GT(parsed, 0);
    for (int round = 0; round < 20000; ++round) {
        std::string noise = round % 2 ? "composit graph 1\n" : "";
        for (unsigned i = 0, n = random() % 40; i < n; ++i) {
            if (random() % 2)
                noise += pieces[random() % std::size(pieces)];
            else
                noise += static_cast<char>(random() % 256);
        }
        try {
            parse(noise);
        } catch (const ValueError&) {
        }
    }
}

// Wrong attributes, types and operands of every primitive.
TEST_F(Text, MutatedNumbersNeverCrash) {
    std::mt19937 random(5);
    const std::string valid = print(every_primitive());
    std::vector<size_t> digits;
    for (size_t i = valid.find('%'); i < valid.size(); ++i)
        if (valid[i] >= '0' && valid[i] <= '9') digits.push_back(i);
    const std::string numbers[] = {"0",  "1",  "2",          "3",          "5",
                                   "-1", "-4", "2147483648", "4294967296", "9223372036854775807"};
    int parsed = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text = valid;
        text.replace(digits[random() % digits.size()], 1, numbers[random() % std::size(numbers)]);
        try {
            verify(parse(text));
            ++parsed;
        } catch (const ValueError&) {
        }
    }
    EXPECT_GT(parsed, 0);
}

TEST_F(Text, MillionNodesPrintInPartVerifyAndFree) {
    Tensor x = input("x", DType::float32, {4});
    const Tensor one = weak_scalar(1.0);
    for (int i = 0; i < 1000000; ++i) x = ops::map("add", {x, one});
    const std::string part = print({x}, 500000, 500002);
    EXPECT_EQ(part,
              "composit graph 1\n# 500000 nodes not shown\n"
              "%500000 = map(%499999, %1){row=row(\"add\")} : float32[4]\n"
              "%500001 = map(%500000, %1){row=row(\"add\")} : float32[4]\n"
              "# 500000 nodes not shown\n");
    verify({x});
}

TEST_F(Text, VerifyNamesNodeAndLine) {
    static const Operation& moody =
        register_operation({.name = "moody",
                            .doc = "An operation that changes its mind.",
                            .infer = [calls = std::make_shared<int>(0)](const std::vector<Tensor>&,
                                                                        const Attributes&) {
                                return std::vector<TensorType>{{{++*calls}, DType::float32}};
                            }});
    const LocationScope scope(intern("here.py:3"));
    const Tensor x = make(moody, {}, {}, "x");
    try {
        verify({x});
        FAIL();
    } catch (const ValueError& error) {
        EXPECT_STREQ(error.what(),
                     "verify: node %0 (moody \"x\", here.py:3): its types are "
                     "float32[1], but the operation gives float32[2]. The latter is "
                     "required.");
    }
}

}  // namespace
}  // namespace composit::ir

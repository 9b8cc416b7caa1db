// Texts that are translated without Python: trees made here, whose names mean nothing outside but
// the functions of math.
#include "composit/knossos/translate.h"

#include "composit/base/error.h"
#include "composit/ir/procedure/interpret.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {
namespace {

using ir::scalar::Bits;

SyntaxRef part(Syntax made, std::vector<Child> children = {}) {
    made.place = {1, 0};
    made.children = std::move(children);
    return std::make_shared<Syntax>(std::move(made));
}

SyntaxRef name(const char* of, bool is_stored = false) {
    return part({.form = Form::name, .name = of, .is_stored = is_stored});
}

SyntaxRef number(const Value& value) {
    return part({.form = Form::constant, .text = text_of(value), .number = value});
}

SyntaxRef binary(const SyntaxRef& a, const char* symbol, const SyntaxRef& b) {
    return part({.form = Form::binary, .name = symbol}, {{a, Field::left}, {b, Field::right}});
}

SyntaxRef compared(const SyntaxRef& a, const char* symbol, const SyntaxRef& b) {
    return part({.form = Form::comparison, .comparisons = {symbol}},
                {{a, Field::left}, {b, Field::right}});
}

SyntaxRef called(const char* function, std::vector<SyntaxRef> arguments) {
    std::vector<Child> children{{name(function), Field::function}};
    for (SyntaxRef& each : arguments) children.emplace_back(std::move(each), Field::argument);
    return part({.form = Form::call}, std::move(children));
}

SyntaxRef element(const SyntaxRef& of, const SyntaxRef& index, bool is_stored = false) {
    return part({.form = Form::subscript, .is_stored = is_stored},
                {{of, Field::value}, {index, Field::index}});
}

SyntaxRef assigned(const SyntaxRef& target, const SyntaxRef& value) {
    return part({.form = Form::assign, .is_statement = true},
                {{target, Field::target}, {value, Field::value}});
}

SyntaxRef returned(const SyntaxRef& value) {
    return part({.form = Form::leave, .is_statement = true}, {{value, Field::value}});
}

SyntaxRef loop(const char* counter, const SyntaxRef& over, const SyntaxRef& body) {
    return part(
        {.form = Form::loop, .is_statement = true},
        {{name(counter, true), Field::target}, {over, Field::iterated}, {body, Field::body}});
}

SyntaxRef branch(const SyntaxRef& test, const SyntaxRef& body) {
    return part({.form = Form::branch, .is_statement = true},
                {{test, Field::test}, {body, Field::body}});
}

// A function that a name means.
class KnownName : public Other {
  public:
    explicit KnownName(std::string name) : name(std::move(name)) {}
    std::string text() const override { return name; }
    std::string name;
};

std::string name_behind(const Other& object) { return dynamic_cast<const KnownName&>(object).name; }

class TextHere : public Source {
  public:
    TextHere(std::vector<std::pair<const char*, StructureRef>> parameters,
             std::vector<SyntaxRef> body) {
        name = "f";
        path = file = "here";
        std::vector<Child> children;
        for (auto& [parameter, structure] : parameters) {
            children.emplace_back(part({.form = Form::parameter, .name = parameter}),
                                  Field::parameter);
            structures_.push_back(std::move(structure));
        }
        for (SyntaxRef& each : body) children.emplace_back(std::move(each), Field::body);
        tree =
            part({.form = Form::function, .name = "f", .is_statement = true}, std::move(children));
    }
    ObjectRef meaning(const std::string& of) const override {
        static const NameSet known{"range", "exp"};
        if (!known.contains(of)) return nullptr;
        return std::make_shared<KnownName>(of == "exp" ? "math.exp" : of);
    }
    StructureRef structure_of(const Syntax&, const std::string&) const override { return {}; }
    bool is_open(const Syntax&) const override { return true; }
    std::vector<StructureRef> structures() const override { return structures_; }

  private:
    std::vector<StructureRef> structures_;
};

class FunctionsOfMath : public Outside {
  public:
    ObjectRef part(const Other&, const std::string&) const override { return nullptr; }
    bool is_module(const Other&) const override { return false; }
    bool is_function(const Other&) const override { return true; }
    Value value_of(const Other& object, const std::string& shown) const override {
        throw RefusedOutside(Refusal::Class::type, shown + " is " + object.text(), "Leave it out.");
    }
    std::string error_name(const Other&) const override { return ""; }
    std::optional<Kind> kind_of_dtype(const Other&) const override { return std::nullopt; }
    std::optional<double> float_of(const Other&) const override { return std::nullopt; }
    std::string name_of(const Other& function) const override { return name_behind(function); }
    Callee callee(const ObjectRef& function) const override {
        Callee found;
        found.object = function;
        found.name = name_behind(*function);
        return found;
    }
    std::string elementwise_method(const std::string&) const override { return ""; }
    bool numpy_has(const std::string&) const override { return false; }
    bool library_has(const std::string&) const override { return false; }
    Value of_numbers(const Other&, const std::vector<Value>&) const override { return {}; }
    Value record(const Other&, const std::vector<Value>&, const Named&,
                 const std::string&) const override {
        return {};
    }
    std::shared_ptr<const CalledKernel> kernel(const Other&) const override { return nullptr; }
    SourceRef source_of(const Other&) const override { return nullptr; }
    bool becomes_part(const Other&) const override { return false; }
    ObjectRef plain_function(const ObjectRef& object) const override { return object; }
    SourceRef text_behind(const Other&) const override { return nullptr; }
};

ir::procedure::Procedure translated(std::vector<std::pair<const char*, StructureRef>> parameters,
                                    std::vector<SyntaxRef> body) {
    const auto source = std::make_shared<TextHere>(std::move(parameters), std::move(body));
    return translate(source, DType::float64, FunctionsOfMath()).procedure;
}

StructureRef array_of_n() {
    Structure made{.sort = Structure::Sort::tensor, .kind = Kind::floating};
    made.extents.emplace_back(std::string("n"));
    return std::make_shared<const Structure>(std::move(made));
}

Bits bits(double value) { return {std::bit_cast<uint64_t>(value), 0}; }

double result_of(const ir::procedure::Procedure& procedure, double x) {
    return std::bit_cast<double>(ir::procedure::interpret(procedure, {bits(x)}, nullptr)[0][0]);
}

TEST(KnossosTranslate, BranchesAndFunctions) {
    // if x > 0: return exp(x) * 2; return x
    const SyntaxRef x = name("x");
    const auto procedure = translated(
        {{"x", number_structure(Kind::floating)}},
        {branch(compared(x, ">", number(0)), returned(binary(called("exp", {x}), "*", number(2)))),
         returned(x)});
    EXPECT_EQ(result_of(procedure, 1.5), std::exp(1.5) * 2);
    EXPECT_EQ(result_of(procedure, -3.0), -3.0);
}

TEST(KnossosTranslate, NumbersThatBecomeFloatsBeginAgain) {
    // s = 0; for i in range(4): s = s + x; return s
    const auto procedure =
        translated({{"x", number_structure(Kind::floating)}},
                   {assigned(name("s", true), number(0)),
                    loop("i", called("range", {number(4)}),
                         assigned(name("s", true), binary(name("s"), "+", name("x")))),
                    returned(name("s"))});
    EXPECT_EQ(result_of(procedure, 0.25), 1.0);
    EXPECT_EQ(procedure.variables[1].dtype, DType::float64);
}

TEST(KnossosTranslate, ArraysAndTheirElements) {
    // y = v * 2; y[0] = v[1]; return y
    const auto procedure =
        translated({{"v", array_of_n()}},
                   {assigned(name("y", true), binary(name("v"), "*", number(2))),
                    assigned(element(name("y"), number(0), true), element(name("v"), number(1))),
                    returned(name("y"))});
    double v[] = {1.0, 2.5, -3.0}, y[3] = {};
    void* arrays[] = {v, y};
    (void)ir::procedure::interpret(procedure, {{3, 0}}, arrays);
    EXPECT_EQ((std::vector<double>(y, y + 3)), (std::vector<double>{2.5, 5.0, -6.0}));
    EXPECT_THROW((void)ir::procedure::interpret(procedure, {{1, 0}}, arrays), IndexError);
}

TEST(KnossosTranslate, WhatIsRefusedNamesTheLine) {
    const auto refusal = [](std::vector<SyntaxRef> body) -> std::string {
        try {
            (void)translated({{"x", number_structure(Kind::floating)}}, std::move(body));
        } catch (const Refusal& error) {
            return error.what();
        }
        return "nothing is wrong";
    };
    EXPECT_EQ(refusal({returned(name("z"))}),
              "f: `z` means nothing. Is it spelled as it is defined? [here:1]");
    EXPECT_EQ(refusal({branch(compared(name("x"), ">", number(0)), returned(name("x")))}),
              "f: its end can be reached without a return. Every path has to return a number. "
              "[here:1]");
    EXPECT_EQ(refusal({returned(element(name("x"), number(0)))}),
              "f: a float is indexed, in `x[0]`. Arrays and tuples are. [here:1]");
}

}  // namespace
}  // namespace composit::knossos

// Procedures with arrays written in C++: NumPy's functions as statements, what is known of
// integers, what is asserted and what is refused.
#include "composit/knossos/array_functions.h"

#include "composit/ir/procedure/interpret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace composit::knossos {
namespace {

using ir::procedure::Procedure;

// A writer that has found out already that there are arrays.
struct Writer {
    Writer() { found.has_arrays = true; }
    Found found;
    ArrayFunctions arrays{DType::float64, found};

    StoredRef input(const std::string& name, std::vector<Value> shape) {
        return arrays.storage.add_array(name, Kind::floating, std::move(shape), Role::input);
    }
    Value call(const std::string& function, std::vector<Value> given, Named named = {}) {
        return *arrays.call(function, std::move(given), std::move(named));
    }
    int count(Statement::Kind kind) const {
        int count = 0;
        for (const Statement* each : ir::procedure::all_statements(arrays.code.out->statements))
            count += each->kind == kind;
        return count;
    }
};

template <class Function>
std::string refusal(Function&& function) {
    try {
        function();
    } catch (const Mismatch& mismatch) {
        return mismatch.wrong + ". " + mismatch.instead;
    }
    return "nothing is wrong";
}

TEST(KnossosOperators, NumbersThatAreKnownStayNumbers) {
    const Operators operators(DType::float64);
    EXPECT_EQ(text_of(operators.binary("+", 1, 2)), "3");
    EXPECT_EQ(text_of(operators.binary("//", -7, 2)), "-4");
    EXPECT_EQ(text_of(operators.binary("%", -7, 2)), "1");
    EXPECT_EQ(text_of(operators.binary("/", 1, 2)), "0.5");
    EXPECT_EQ(text_of(operators.binary("&", true, false)), "False");
    EXPECT_EQ(text_of(operators.unary("-", true)), "-1");
    EXPECT_EQ(text_of(operators.compare("<", 1, 1.5)), "True");
    EXPECT_EQ(text_of(operators.select(true, 1, 2.0)), "1");
    EXPECT_EQ(
        refusal([&] { (void)operators.binary("//", 1, 0); }),
        "// of numbers that are known (1, 0). Numbers whose result int64 or float64 holds are "
        "required.");
}

TEST(KnossosOperators, ExpressionsArePromoted) {
    const Operators operators(DType::float32);
    const Expr x = Expr::argument(0, DType::float32, "x"), n = Expr::argument(1, DType::int64, "n");
    EXPECT_EQ(kind_of(operators.binary("+", x, n)), "float");
    EXPECT_EQ(kind_of(operators.binary("/", n, 2)), "float");
    EXPECT_EQ(kind_of(operators.binary("//", n, 2)), "int");
    EXPECT_EQ(kind_of(operators.truth(n)), "bool");
    EXPECT_EQ(operators.power(x, 2).expr()->row()->name, "square");
    EXPECT_EQ(kind_of(operators.power(n, 3)), "int");
    EXPECT_EQ(refusal([&] { (void)operators.power(n, n); }),
              "an integer to the power of an integer that is not a literal. Whether the result is "
              "an integer must be known: write float(x) ** n, or int(float(x) ** n).");
    EXPECT_EQ(
        refusal([&] { (void)operators.select(operators.truth(n), n, x); }),
        "one side of the choice is an int, the other a float. Write float(…) around the int.");
    EXPECT_EQ(refusal([&] { (void)operators.cast(Large{"9223372036854775808"}, Kind::integer); }),
              "the integer 9223372036854775808 does not fit in int64. Write a float.");
}

TEST(KnossosFunctions, AreRowsOfTheTable) {
    const Operators operators(DType::float64);
    const Expr x = Expr::argument(0, DType::float64, "x");
    EXPECT_EQ(call_function(operators, "math.sin", {x})->expr()->row()->name, "sin");
    EXPECT_EQ(kind_of(*call_function(operators, "math.floor", {x})), "int");
    EXPECT_EQ(call_function(operators, "min", {x, 0.0})->expr()->op(), Op::select);
    EXPECT_EQ(text_of(*call_function(operators, "len", {tuple_of({1, 2})})), "2");
    EXPECT_FALSE(call_function(operators, "os.getcwd", {}).has_value());
    EXPECT_EQ(refusal([&] { (void)call_function(operators, "math.sin", {x, x}); }),
              "sin of 2 arguments. 1 is required.");
}

TEST(KnossosArrays, SumsAreLoopsOfOneCall) {
    Writer writer;
    const StoredRef x = writer.input("x", {3});
    const Value total = writer.call("numpy.sum", {x});
    EXPECT_EQ(kind_of(total), "float");
    EXPECT_EQ(writer.count(Statement::Kind::loop), 1);
    EXPECT_EQ(writer.count(Statement::Kind::load), 1);
    EXPECT_EQ(writer.arrays.code.out->statements[0].line.call->name, "sum");
}

TEST(KnossosArrays, ElementsAreComputedWhereTheyAreRead) {
    Writer writer;
    const StoredRef x = writer.input("x", {3});
    const ArrayRef twice = writer.arrays.binary("*", x, 2.0);
    EXPECT_TRUE(writer.arrays.code.out->statements.empty());
    const Value first = writer.arrays.slices.row(twice, 0);
    EXPECT_EQ(kind_of(first), "float");
    EXPECT_EQ(writer.count(Statement::Kind::load), 1);
    EXPECT_EQ(refusal([&] { (void)writer.arrays.slices.row(twice, 3); }),
              "index 3 of an axis of 3. One that it has is required.");
}

TEST(KnossosArrays, SlicesAreKnownWhereExtentsAre) {
    Writer writer;
    const StoredRef x = writer.input("x", {5});
    const Value part = writer.arrays.slices.indexed(x, {Subscript::slice(Value(), Value(), -2)});
    EXPECT_EQ(text_of(part.array()->shape[0]), "3");
    EXPECT_EQ(part.array()->elsewhere.size(), 1u);
    const Value column =
        writer.arrays.slices.indexed(x, {Subscript::whole(), Subscript::new_axis()});
    EXPECT_EQ(column.array()->rank(), 2);
    EXPECT_EQ(refusal([&] {
                  (void)writer.arrays.slices.indexed(x, {Subscript::at(0), Subscript::at(0)});
              }),
              "2 indices of an array of 1 axes. At most one for each axis is possible.");
}

TEST(KnossosArrays, WhatIsNotKnownIsAsserted) {
    Writer writer;
    Code& code = writer.arrays.code;
    const int n = code.add_variable("n", Kind::integer);
    code.parameter_count = 1;
    const StoredRef x = writer.input("x", {code.leaf("n")}), y = writer.input("y", {3});
    (void)writer.arrays.binary("+", x, y);
    ASSERT_EQ(writer.count(Statement::Kind::expect), 1);
    EXPECT_EQ(code.out->statements[0].claim->text,
              "extents {} and {} do not fit. Equal extents are required.");
    EXPECT_EQ(writer.arrays.integers.least(code.leaf("n")), 0);
    writer.arrays.integers.bounds[n] = {2, 7};
    writer.arrays.integers.narrow(n, ">", 3);
    EXPECT_EQ(writer.arrays.integers.least(code.leaf("n")), 4);
    EXPECT_TRUE(writer.arrays.integers.is_within(code.leaf("n"), 7));
    EXPECT_FALSE(writer.arrays.integers.is_within(code.leaf("n"), 6));
}

TEST(KnossosArrays, MakersAndJoins) {
    Writer writer;
    EXPECT_EQ(text_of(writer.call("numpy.arange", {2, 9, 3}).array()->shape[0]), "3");
    EXPECT_TRUE(writer.call("numpy.zeros", {tuple_of({2, 3})}).array()->is_zero);
    const Value row = writer.call("numpy.array", {tuple_of({1.0, 2.0, 3.0}, true)});
    EXPECT_EQ(writer.count(Statement::Kind::store), 3);
    const Value joined = writer.call("numpy.concatenate", {tuple_of({row, row})});
    EXPECT_EQ(text_of(joined.array()->shape[0]), "6");
    const Value product = writer.call("numpy.dot", {row, row});
    EXPECT_EQ(kind_of(product), "float");
    EXPECT_EQ(kind_of(writer.arrays.einsum.call("i,i->", {row, row})), "float");
    EXPECT_EQ(kind_of(writer.call("numpy.linalg.norm", {row})), "float");
    EXPECT_EQ(kind_of(writer.call("numpy.var", {row}, {{"ddof", 1}})), "float");
    EXPECT_EQ(refusal([&] { (void)writer.call("numpy.var", {row}, {{"where", 1}}); }),
              "var of other arguments. An array is required, and what else NumPy's function takes, "
              "if literal.");
    EXPECT_FALSE(writer.arrays.call("numpy.fft.fft", {row}, {}).has_value());
}

TEST(KnossosArrays, CopiesOfPartsDoNotChangeWithThem) {
    Writer writer;
    const StoredRef x = writer.input("x", {4});
    const StoredRef a = writer.arrays.storage.copied(*x);
    writer.arrays.sharing.fresh.erase(a->number);
    const Value part = writer.arrays.slices.indexed(a, {Subscript::slice(0, 2, Value())});
    const StoredRef b = writer.arrays.storage.copied(*part.array());
    writer.arrays.sharing.has_changed(*a);
    EXPECT_EQ(refusal([&] { writer.arrays.sharing.check_current(b->number); }),
              "what is read is a part of new_value, whose elements may have changed since: NumPy's "
              "would change with them. Write .copy() behind the part.");
}

TEST(KnossosArrays, AnArrayBeginsTheTranslationAgain) {
    Found found;
    ArrayFunctions arrays(DType::float64, found);
    EXPECT_THROW((void)arrays.storage.add_array("y", Kind::floating, {2}), Restart);
    EXPECT_TRUE(found.has_arrays);
}

}  // namespace
}  // namespace composit::knossos

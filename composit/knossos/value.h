// What a kernel computes with while its procedure is written: numbers that are known, expressions
// over variables, arrays, tuples and records of such.
//
//   Value two = 2, x = procedure.variable(0);
//   kind_of(two) is "int", kind_of(x) "float"
#pragma once

#include "composit/ir/scalar/expr.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace composit::knossos {

using ir::DType;
using ir::scalar::Expr;
using ir::scalar::Op;

// The kinds of numbers, each of which holds those before it; `none` is that of sequences.
enum class Kind : uint8_t { boolean, integer, floating, none };
std::string_view name(Kind kind);  // "bool", "int", "float", ""
std::optional<Kind> kind_named(std::string_view name);

class Array;
class Value;

// An integer that int64 does not hold, by its digits.
struct Large {
    std::string digits;
    bool operator==(const Large&) const = default;
};

// (a, b), and [a, b], which only differs in what one of both may do.
struct Tuple {
    std::vector<Value> parts;
    bool is_list = false;
};

// What records are made by: a NamedTuple or dataclass of Python.
class RecordType {
  public:
    virtual ~RecordType() = default;
    virtual std::string name() const = 0;
    virtual bool is_tuple() const = 0;  // its parts have an order, by which they are read
    virtual const void* identity() const { return this; }  // what tells it from others
};

struct Record {
    std::shared_ptr<const RecordType> made_by;
    std::vector<std::pair<std::string, Value>> fields;
};

// Anything else that an expression may mean, such as a function.
class Other : public std::enable_shared_from_this<Other> {
  public:
    virtual ~Other() = default;
    virtual std::string text() const = 0;                  // for errors
    virtual const void* identity() const { return this; }  // what tells it from others
};

class Value {
  public:
    using Content = std::variant<std::monostate, bool, int64_t, Large, double, Kind, Expr,
                                 std::shared_ptr<Array>, std::shared_ptr<const Tuple>,
                                 std::shared_ptr<const Record>, std::shared_ptr<const Other>>;

    Value() = default;  // None
    Value(bool value) : content_(value) {}
    Value(int value) : content_(int64_t{value}) {}
    Value(int64_t value) : content_(value) {}
    Value(double value) : content_(value) {}
    Value(Large value) : content_(std::move(value)) {}
    Value(Kind kind) : content_(kind) {}
    Value(Expr value) : content_(std::move(value)) {}
    Value(std::shared_ptr<Array> value) : content_(std::move(value)) {}
    template <class Derived>
        requires std::is_convertible_v<Derived*, Array*>
    Value(const std::shared_ptr<Derived>& value) : content_(std::shared_ptr<Array>(value)) {}
    Value(std::shared_ptr<const Tuple> value) : content_(std::move(value)) {}
    Value(std::shared_ptr<const Record> value) : content_(std::move(value)) {}
    Value(std::shared_ptr<const Other> value) : content_(std::move(value)) {}
    Value(const char*) = delete;

    template <class T>
    const T* as() const {
        return std::get_if<T>(&content_);
    }
    const Content& content() const { return content_; }

    bool is_nothing() const { return as<std::monostate>() != nullptr; }
    // A bool, int or float that is known.
    bool is_number() const;
    const Expr* expr() const { return as<Expr>(); }
    // null for others
    std::shared_ptr<Array> array() const;
    const Tuple* tuple() const;
    const Record* record() const;
    // A bool or an int that is known.
    std::optional<int64_t> integer() const;
    // The same of ints alone, which Python's type(x) is int means.
    std::optional<int64_t> plain_integer() const;
    // A number that is known, as float64.
    std::optional<double> number() const;
    // Whether it is a number that is known and equal to this one.
    bool is(int64_t number) const { return this->number() == static_cast<double>(number); }

  private:
    Content content_;
};

Value tuple_of(std::vector<Value> parts, bool is_list = false);

// A NamedTuple as a tuple of its parts; anything else as it is.
Value unnamed(const Value& value);

// The kind of a number or an expression; nothing for others.
std::optional<Kind> kind(const Value& value);
// bool, int or float; of anything else what it is, as a text for errors.
std::string kind_of(const Value& value);
// "an int"
std::string with_article(const std::string& kind);
// As Python shows it.
std::string text_of(const Value& value);

// Values that do not go together: what is wrong, and what to write.
struct Mismatch : std::runtime_error {
    Mismatch(const std::string& wrong, std::string instead)
        : std::runtime_error(wrong), wrong(wrong), instead(std::move(instead)) {}
    std::string wrong, instead;
};

// The value itself, which must be one number. Mismatch for others.
const Value& scalar(const Value& value);
// The kind of one number. Mismatch for what is none.
Kind kind_of_number(const Value& value);

using Index = std::vector<Value>;
// Arguments by name.
using Named = std::vector<std::pair<std::string, Value>>;
// Takes an argument out of those by name; nothing where it is not given.
std::optional<Value> taken(Named& named, std::string_view name);

}  // namespace composit::knossos

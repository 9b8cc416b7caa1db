// Programs of MLIR as they are read: functions, operations, attributes, types. Names of values are
// resolved to numbers; nothing is computed yet.
#pragma once

#include "composit/mlir/writer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::mlir::syntax {

// Where something stands in the text, both from 1 on.
struct Place {
    size_t line = 1, column = 1;
};
[[nodiscard]] std::string place_text(const Place& place);  // "line 3, column 7"

struct Type {
    enum class Kind : uint8_t { tensor, tuple, token, other };
    Kind kind = Kind::other;
    ValueType tensor;         // of a tensor
    std::vector<Type> parts;  // of a tuple
    std::string text;         // of any other one

    bool operator==(const Type&) const = default;
};
[[nodiscard]] std::string type_text(const Type& type);
// Whether lengths are open; and whether a shape has the lengths that are not.
[[nodiscard]] bool is_open(const Shape& written);
[[nodiscard]] bool fits(const Shape& written, const Shape& made);
// A tuple's tensors in a row, and those of the tuples within; a token has none.
void append_tensors(const Type& type, std::vector<ValueType>& tensors);
[[nodiscard]] std::vector<ValueType> tensors_of(const std::vector<Type>& types);

// The inside of dense<…>, before its type is known.
struct Literal {
    struct Number {
        std::string_view spelling;  // of a number, or true, false
        Place place;
    };
    bool is_hexadecimal = false;
    std::string_view digits;      // of bytes, if it is
    std::vector<Number> numbers;  // of complex numbers two each
    std::vector<int64_t> shape;   // none: one value everywhere
    bool is_complex = false, is_empty = false;
    Place place;
};
// A literal's elements, of one element where all are the same (no dimensions). ValueError, with the
// place, where it does not have the type.
[[nodiscard]] ir::Array elements_of(const Literal& literal, const ValueType& type);

struct Attribute {
    enum class Kind : uint8_t {
        unit,
        boolean,
        integer,
        real,
        text,
        word,
        symbol,
        list,
        record,
        literal,
        type,
        skipped,
    };
    using Entries = std::vector<std::pair<std::string, Attribute>>;
    Kind kind = Kind::unit;
    int64_t integer = 0;  // of a bool as well
    double real = 0;
    std::string text;  // a text's, a word's, a symbol's; the name of a record (#stablehlo.gather)
    std::vector<Attribute> list;
    std::shared_ptr<const Entries> entries;  // of a record
    std::shared_ptr<const Literal> literal;
    std::shared_ptr<const Type> type;  // of a type, and of a literal where one is given
    Place place;

    [[nodiscard]] const Attribute* find(std::string_view name) const;  // an entry
};

struct Location {
    std::string line;                  // "model.py:12"
    std::string name;                  // of an argument: loc("x")
    std::vector<std::string> aliases;  // names of others, of which the first with a line counts
};

struct Region;
struct Operation {
    std::string name;                // "stablehlo.add"
    std::vector<uint32_t> operands;  // numbers of values
    std::vector<std::string> words;  // of the operation's own form: compare's EQ
    Attribute::Entries attributes;
    std::vector<Region> regions;
    std::vector<Type> results;
    uint32_t first = 0;  // the number of its first result
    Place place;
    Location location;
    std::string line;  // of the location, when all of the text was read

    [[nodiscard]] const Attribute* find(std::string_view name) const;
};

// One block.
struct Region {
    std::vector<uint32_t> arguments;
    std::vector<Operation> operations;  // the last one returns
};

struct Function {
    std::string name;
    bool is_public = true, has_body = false;
    std::vector<std::string> argument_names, result_names;  // a result's may be empty
    std::vector<Type> arguments, results;
    Region body;
    std::vector<Type> values;  // the types of all values within, by number
    Place place;
};

struct Module {
    std::string name;
    std::vector<Function> functions;
    std::map<std::string, size_t, std::less<>> places;  // of functions, by name
    std::string source;                                 // the text: literals are parts of it

    [[nodiscard]] const Function* find(std::string_view name) const;
};

// The text of a module. ValueError "mlir.load: line …, column …: …" for what is no module,
// NotSupported for types, attributes and operations that composit has no way to read. `knows` says
// of which operations there are rules.
using Knows = bool (*)(std::string_view operation);
[[nodiscard]] std::shared_ptr<const Module> parse(std::string source, Knows knows);

}  // namespace composit::mlir::syntax

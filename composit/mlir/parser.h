// Reads MLIR's text: the generic form of all operations, and the forms of their own that func,
// StableHLO and CHLO have.
#pragma once

#include "composit/mlir/lexer.h"
#include "composit/mlir/syntax.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace composit::mlir::syntax {

class Parser {
  public:
    Parser(Module& module, Knows knows) : module_(module), lexer_(module.source), knows_(knows) {}
    void parse();

  private:
    // ----- parse_attributes.cpp
    // `takes_type`: whether a type behind a number belongs to it, as in "1 : i64".
    Attribute attribute(bool takes_type = true);
    Attribute list_attribute();    // "[" …, with "x […]" and "-> […]" behind
    Attribute record_attribute();  // "#stablehlo.gather<…>"
    Attribute::Entries entries();  // "{a = 1, b}"
    Attribute dense_array();       // "array<i64: 1, 2>"
    Attribute number_attribute(bool takes_type);
    std::shared_ptr<const Literal> literal();  // "dense<…>"
    void literal_element(Literal& literal, size_t depth);
    void skip_brackets();  // from an opening one to its partner
    Type type();
    Type tensor_type();
    std::vector<Type> types();              // at least one
    std::vector<Type> types_in_brackets();  // "(a, b)"
    std::vector<Type> result_types();       // "a" or "(a, b)"
    bool begins_type() const;
    Location location();  // "loc(…)"
    void location_inside(Location& into);

    // ----- parse_functions.cpp: the module, functions, names
    void top_level();
    void alias();
    void function();
    void generic_function();
    void generic_module();
    void begin_function(Function& function);
    void end_function(Function function);
    void end_locations(Region& region);
    [[nodiscard]] std::string line_of(const Location& location, int followed = 0);
    struct Name {
        uint32_t first = 0, count = 0;
    };
    void define(std::string_view name, uint32_t first, uint32_t count, const Place& place);
    uint32_t fresh(const Type& type);
    uint32_t used(const Token& token);  // the number of "%0#1", whose "%0" was taken
    uint32_t operand();                 // "%0#1"
    const Type& type_of(uint32_t value) const;
    void region(Region& region, const std::vector<std::pair<Token, Type>>& arguments);
    std::vector<std::pair<Token, Type>> block_arguments();  // "(%a: tensor<f32>, …)"

    // ----- parse_operations.cpp
    void operation(Region& region);
    void generic(Operation& operation);
    void custom(Operation& operation);
    void call_or_plain(Operation& operation);
    void reduce(Operation& operation);
    void loop(Operation& operation);
    void ranges(Operation& operation);  // "[0:2, 1:3:2]"
    void signature(Operation& operation);
    void check_operands(const Operation& operation, const std::vector<Type>& types);
    void more_entries(Operation& operation);  // "{…}" joins the attributes
    void end_location(Operation& operation);

    // Nesting is refused beyond a bound, before the stack ends.
    class Deeper {
      public:
        explicit Deeper(Parser& parser);
        ~Deeper() { --parser_.depth_; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;

      private:
        Parser& parser_;
    };

    // How many parts a type or an attribute has, and how deep they lie within one another.
    struct Extent {
        size_t parts = 1;
        int depth = 1;
        void add(const Extent& part);
    };
    static Extent extent_of(const Type& type);
    static Extent extent_of(const Attribute& attribute);
    template <class Meaning>
    struct Alias {
        Meaning meaning;
        size_t parts;
    };
    template <class Meaning>
    using Aliases = std::map<std::string, Alias<Meaning>, std::less<>>;
    // ValueError where it is too large or too deep.
    template <class Meaning>
    void define_alias(Aliases<Meaning>& aliases, const Token& name, Meaning meaning);
    // Whoever uses an alias copies all of it. ValueError where a text copies too much.
    template <class Meaning>
    const Meaning& meaning_of(const Alias<Meaning>& alias, const Place& place);

    Module& module_;
    Lexer lexer_;
    Knows knows_;
    int depth_ = 0;
    size_t copied_ = 0;                                       // parts of aliases
    std::map<std::string, Location, std::less<>> locations_;  // by alias
    std::map<std::string, std::string, std::less<>> lines_;   // of aliases that were asked for
    Aliases<Type> type_aliases_;
    Aliases<Attribute> attribute_aliases_;
    // Of the function that is read.
    Function* function_ = nullptr;
    std::map<std::string, std::vector<Name>, std::less<>> names_;  // inner ones behind outer ones
    std::vector<std::vector<std::string>> scopes_;                 // names that each region defines
};

}  // namespace composit::mlir::syntax

// What names mean where the translation stands: variables, values, objects outside of the text.
#pragma once

#include "composit/knossos/found.h"
#include "composit/knossos/outside.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace composit::knossos {

// A loop whose body is being translated.
struct Loop {
    bool runs_for_ever = false;
    std::optional<int> flag = {};     // the variable that says whether a break has left the loop
    std::optional<Value> trips = {};  // how often it runs, as far as lists ask
    std::vector<NameSet> defined_at_stops = {};
    // What names are parts of, where the loop is left and where it goes on.
    std::vector<State> parts_at_stops = {};
    std::vector<State> parts_at_continues = {};
    std::vector<NameSet> defined_at_continues = {};
};
using LoopRef = std::shared_ptr<Loop>;

// Names that stand for values: of comprehensions, of arguments that do not change.
using Bound = std::shared_ptr<const std::map<std::string, Value>>;
using NamesRef = std::shared_ptr<const NameSet>;

// A function as a value.
class FunctionValue : public Other {
  public:
    std::string text() const override { return "a function"; }
    virtual bool is_same(const FunctionValue& other) const = 0;
};

// One that a kernel defines, and where: its other names mean what they do there when it is called.
class InnerFunction : public FunctionValue {
  public:
    InnerFunction(SourceRef source, NamesRef names, std::vector<Bound> bound)
        : source(std::move(source)), names(std::move(names)), bound(std::move(bound)) {}
    bool is_same(const FunctionValue& other) const override;

    SourceRef source;
    NamesRef names;
    std::vector<Bound> bound;
};

// A function, or another kernel, that was made outside of the kernel.
class OuterFunction : public FunctionValue {
  public:
    explicit OuterFunction(ObjectRef function) : function(std::move(function)) {}
    bool is_same(const FunctionValue& other) const override;

    ObjectRef function;
};

// null for others
const FunctionValue* function_value(const Value& value);
// That of a variable that is a function.
StructureRef function_structure(const Value& function);

// The function whose text is translated, the kernel's or one that becomes part of it.
class Scope {
  public:
    Scope(Code& code, const Outside& outside, SourceRef source, NameSet locals);

    // What the annotation of the result says.
    void declare(StructureRef structure);
    // An error that names the line of a part.
    [[noreturn]] void refuse(const Syntax& part, const std::string& wrong,
                             const std::string& instead,
                             Refusal::Class kind = Refusal::Class::not_supported) const {
        source->refuse(part, wrong, instead, kind);
    }
    bool is_library() const { return is_in_library.back(); }

    // The structure of a variable that has a value here, which else is refused.
    const StructureRef& defined_variable(const Syntax& part, const std::string& name) const;
    Value leaf_or_array(const StructureRef& structure, const std::string& name) const;
    // null for none
    StructureRef structure_named(const std::string& name) const;
    bool is_defined(const std::string& name) const { return defined && defined->contains(name); }
    NameSet defined_names() const { return defined.value_or(NameSet()); }
    // Whether a loop around may have been left already, with the array that a name has now.
    bool is_read_behind_a_break(const std::string& name) const;

    // The object that a name, or a name of a module, means; refused where there is none.
    ObjectRef meaning(const SyntaxRef& part) const;
    ObjectRef meaning_or_none(const SyntaxRef& part) const;
    // What the function that a call names is called in C++ ("enumerate"); "" for other parts.
    std::string name_of_called(const Syntax& call) const;
    bool is_local(const std::string& name) const;
    // Refuses what a module has not.
    void check_module(const Syntax& attribute) const;
    // A number, or a tuple or record of such, that was made outside of the kernel.
    Value from_outside(const Syntax& part, const Other& found) const;

    Code& code;
    const Outside& outside;
    SourceRef source;
    NamesRef locals;  // the names that mean variables or arguments
    std::vector<Bound> bound;
    std::map<std::string, StructureRef> structures;  // of variables
    std::map<std::string, std::string> symbols;      // of extents that annotations name: parameters
    std::optional<NameSet> defined = NameSet();      // nothing: this place is never reached
    // Whether the text that is translated is the library's, of calls from the outermost on.
    std::vector<bool> is_in_library{false};
    NameSet appended;   // the names of lists that grow
    LoopsAround loops;  // within the function
    int nesting = 0;    // how deep branches and loops are nested, in all functions
    StructureRef declared;
    std::optional<std::vector<Kind>> declared_kinds;
};

// While it lives, names mean what they do in another function.
class WithinFunction {
  public:
    WithinFunction(Scope& scope, SourceRef source, NamesRef names, std::vector<Bound> bound);
    ~WithinFunction();
    WithinFunction(const WithinFunction&) = delete;
    WithinFunction& operator=(const WithinFunction&) = delete;

  private:
    Scope& scope_;
    SourceRef source_;
    NamesRef locals_;
    std::vector<Bound> bound_;
    std::optional<NameSet> defined_;
    StructureRef declared_;
    std::optional<std::vector<Kind>> declared_kinds_;
    LoopsAround loops_;
};

}  // namespace composit::knossos

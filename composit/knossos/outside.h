// What a translation asks of the language whose text it translates: what names outside of the text
// mean, whose functions' texts become part of it, and what annotations say.
#pragma once

#include "composit/knossos/structure.h"
#include "composit/knossos/syntax.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {

// Anything that a name outside means.
using ObjectRef = std::shared_ptr<const Other>;

// An error in a text: its class, and its words with the name of the function and the line.
struct Refusal : std::runtime_error {
    enum class Class : uint8_t { not_supported, type, name, value, index };
    Refusal(Class kind, const std::string& words) : std::runtime_error(words), kind(kind) {}
    Class kind;
};

// What the language refuses, of which the translation knows the line.
struct RefusedOutside : std::runtime_error {
    RefusedOutside(Refusal::Class kind, const std::string& wrong, std::string instead)
        : std::runtime_error(wrong), kind(kind), instead(std::move(instead)) {}
    Refusal::Class kind;
    std::string instead;
};

// A function's text, and what its names mean.
class Source {
  public:
    virtual ~Source() = default;
    // null for what means nothing
    virtual ObjectRef meaning(const std::string& name) const = 0;
    // What an annotation says; errors have the name of the function.
    virtual StructureRef structure_of(const Syntax& annotation, const std::string& of) const = 0;
    // Whether an argument takes what it is given: its annotation is no type of kernels.
    virtual bool is_open(const Syntax& annotation) const = 0;
    // Of the arguments.
    virtual std::vector<StructureRef> structures() const = 0;

    std::string name, path, file, documentation;
    int line = 0;
    SyntaxRef tree;
    const void* function = nullptr;                            // what tells it from others
    std::vector<std::pair<std::string, Value>> defaults = {};  // of its last arguments
    bool is_in_library = false;
    std::string called;  // of the library: the name by which it is called

    std::vector<std::string> parameters() const;
    // The arguments by position, and the defaults of those behind, as far as there are.
    std::vector<Value> with_defaults(std::vector<Value> arguments) const;
    // Throws an error that names the line of a part.
    [[noreturn]] void refuse(const Syntax& part, const std::string& wrong,
                             const std::string& instead,
                             Refusal::Class kind = Refusal::Class::not_supported) const;
};
using SourceRef = std::shared_ptr<const Source>;

// A text whose names mean what they do in another one.
class SourceWithin : public Source {
  public:
    // A function that is defined within another one.
    static std::shared_ptr<SourceWithin> inner(SourceRef outer, SyntaxRef tree);
    // A function of the library, all of which stands in the line of the call.
    static std::shared_ptr<SourceWithin> of_library(const SourceRef& text, const Source& around,
                                                    const Syntax& call, std::string called);

    ObjectRef meaning(const std::string& name) const override { return outer_->meaning(name); }
    StructureRef structure_of(const Syntax& annotation, const std::string& of) const override {
        return outer_->structure_of(annotation, of);
    }
    bool is_open(const Syntax& annotation) const override { return outer_->is_open(annotation); }
    std::vector<StructureRef> structures() const override { return outer_->structures(); }

  private:
    SourceRef outer_;
};

// The text of a function of NumPy or math.
struct LibraryText {
    ObjectRef text;
    std::vector<std::optional<int>> axes;  // of its arguments; nothing: any
    bool gives_list = false;
    ObjectRef for_derivatives;  // a text of the same values, of which derivatives are made
};

// What is known of a function, or a class, that is called.
struct Callee {
    ObjectRef object;            // the function itself; NumPy's, where PyTorch's means the same
    std::string name;            // as functions.h knows it: "numpy.sum"; "" for none
    std::string name_in_math;    // of a function of the module math
    std::string instead;         // what to write in place of it; "": it may be called
    bool takes_extents = false;  // one by one: torch.zeros(n, m)
    bool is_text = false;        // a plain function or another kernel
    bool is_kernel = false;
    bool is_of_numpy = false;  // or of PyTorch
    bool is_record = false;    // a class of records
    std::optional<LibraryText> library;
};

// Another kernel that is called.
class CalledKernel {
  public:
    virtual ~CalledKernel() = default;
    virtual std::string name() const = 0;
    virtual SourceRef source() const = 0;     // null: it is derived of another one
    virtual bool has_derivative() const = 0;  // that was given
    virtual bool is_of_arrays() const = 0;
    virtual std::vector<StructureRef> parameters() const = 0;
    // Its results on scalar expressions.
    virtual Value inside(std::vector<Expr> operands, DType dtype) const = 0;
};

class Outside {
  public:
    virtual ~Outside() = default;

    // ----- objects
    virtual ObjectRef part(const Other& holder, const std::string& name) const = 0;  // or null
    virtual bool is_module(const Other& object) const = 0;
    virtual bool is_function(const Other& object) const = 0;  // or a kernel, but no class
    // A number, or a tuple or record of such; RefusedOutside for others. `shown`: what means it.
    virtual Value value_of(const Other& object, const std::string& shown) const = 0;
    // "ValueError", of a class of errors that kernels raise; "" for others.
    virtual std::string error_name(const Other& object) const = 0;
    // nothing for what is no dtype of kernels
    virtual std::optional<Kind> kind_of_dtype(const Other& object) const = 0;
    // float(constant); nothing where it is none
    virtual std::optional<double> float_of(const Other& constant) const = 0;

    // ----- functions
    virtual std::string name_of(const Other& function) const = 0;  // as functions.h knows it
    virtual Callee callee(const ObjectRef& function) const = 0;
    // "numpy.tanh", of a method of arrays that PyTorch has; "" for none.
    virtual std::string elementwise_method(const std::string& name) const = 0;
    virtual bool numpy_has(const std::string& function) const = 0;
    virtual bool library_has(const std::string& function_of_numpy) const = 0;
    // Mismatch where it has none
    virtual Value of_numbers(const Other& function, const std::vector<Value>& numbers) const = 0;
    // A record of arguments and defaults; RefusedOutside where they do not fit.
    virtual Value record(const Other& made_by, const std::vector<Value>& arguments,
                         const Named& named, const std::string& shown) const = 0;

    // ----- texts
    virtual std::shared_ptr<const CalledKernel> kernel(const Other& function) const = 0;
    virtual SourceRef source_of(const Other& function) const = 0;
    // Whether a function has arguments that take what they are given.
    virtual bool becomes_part(const Other& function) const = 0;
    // The plain function that an object is, or the kernel was made of; the object itself.
    virtual ObjectRef plain_function(const ObjectRef& object) const = 0;
    // The text of a plain function; null for others, and where it cannot be read.
    virtual SourceRef text_behind(const Other& function) const = 0;
};

}  // namespace composit::knossos

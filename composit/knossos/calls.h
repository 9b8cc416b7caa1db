// Calls: of functions of numbers and arrays, of methods, of records, of other kernels.
#pragma once

#include "composit/knossos/arguments.h"
#include "composit/knossos/array_methods.h"
#include "composit/knossos/inlining.h"

#include <optional>
#include <string>
#include <vector>

namespace composit::knossos {

// Finds out what a call means.
struct Calls {
    ArrayFunctions& arrays;
    Scope& scope;
    Found& found;
    Expressions& expressions;
    Arguments& arguments;
    ArrayMethods& methods;
    Inlining& inlining;

    Value of_call(const SyntaxRef& call);

  private:
    Value inner_call(const SyntaxRef& call, const InnerFunction& called);
    Value call_of(SyntaxRef call, const ObjectRef& function);
    // Functions whose arguments are no values of their own; nothing for others.
    std::optional<Value> special_call(const Syntax& call, const std::string& name);
    Value call_with(const SyntaxRef& call, const Callee& function, std::vector<Value> given);
    Value other_call(const SyntaxRef& call, const Callee& function, std::vector<Value> given);
    std::optional<Value> array_call(const Syntax& call, const Callee& function,
                                    const std::vector<Value>& given);
    Value text_call(const SyntaxRef& call, const Callee& function, std::vector<Value> given);
    // A function whose text is one of kernels.
    Value library_call(const SyntaxRef& call, const Callee& function, std::vector<Value> given);
    void check_axes(const std::string& name, const Value& argument, int wanted) const;
    // held(x), stand_in(value, other): of numbers, or of elements.
    Value with_derivative_of(bool is_held, const std::vector<Value>& given);
    void require(const Syntax& call);
    Value float_of(const SyntaxRef& constant) const;
    Value einsum(const Syntax& call);
    // array.astype(dtype)
    Value converted(const Syntax& call, const ArrayRef& array);
    // A call of what a value has: arrays have methods, records _replace.
    Value method_call(const SyntaxRef& call, const SyntaxRef& attribute);
    // A record with other values of some fields.
    Value replaced(const Syntax& call, const Record& record, const Named& given) const;
    Value record(const Syntax& call, const Callee& made_by, const std::vector<Value>& given);
    Value kernel_call(const SyntaxRef& call, const CalledKernel& kernel, std::vector<Value> given,
                      const Named& named);
    Expr operand(const Syntax& call, const std::string& of, const Value& leaf, Kind kind) const;
};

}  // namespace composit::knossos

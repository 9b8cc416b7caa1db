// `raise` and `assert` in kernels: assertions, of which the first does not hold and ends a path.
#pragma once

#include "composit/knossos/call_stack.h"
#include "composit/knossos/expressions.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {

// Behind a `raise` stands a return of NaN, or 0, which nobody is to see. What does not check
// assertions, a kernel of numbers and exported code without them, goes on with it.
struct Raising {
    Code& code;
    Operators& operators;
    Scope& scope;
    Found& found;
    CallStack& stack;
    Expressions& expressions;
    std::set<int> wanted = {};  // the calls, or 0 for the kernel, that return so

    void do_assertion(const SyntaxRef& statement);
    void do_raise(const SyntaxRef& statement);
    // Begins the translation again where such a return stands for other results.
    void check(int call, const std::vector<DType>& dtypes);

  private:
    // What the error says: `{}` stand for integers, and braces of the text are taken apart.
    std::pair<std::string, std::vector<Expr>> claim(const Syntax& part);
    Statement end();
};

}  // namespace composit::knossos

// Python's statements: which part translates which kind of them.
#pragma once

#include "composit/knossos/mentions.h"
#include "composit/knossos/scope.h"

#include <functional>
#include <map>

namespace composit::knossos {

// `forms` are the functions of the other parts that translate statements.
struct Statements {
    using OfForm = std::function<void(const SyntaxRef&)>;

    Code& code;
    Scope& scope;
    std::map<Form, OfForm> forms = {};

    // A block of their own. `is_certain`: it runs wherever the one around does.
    BlockRef block(const Body& body, bool is_certain = false);
    // Adds what they mean to the code, up to one that leaves.
    void run(const Body& body);

  private:
    void run_one(const SyntaxRef& statement);
};

// Adds statements to a block.
void extend(Block& block, const std::vector<Statement>& statements);

}  // namespace composit::knossos

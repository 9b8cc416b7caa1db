// Which part translates an expression.
#include "composit/knossos/expressions.h"

#include "composit/knossos/syntax_text.h"

namespace composit::knossos {
namespace {

// While it lives, assertions name another part of the text.
class Naming {
  public:
    Naming(Code& code, SyntaxRef part) : code_(code), around_(code.construct) {
        code.construct = std::move(part);
    }
    ~Naming() { code_.construct = around_; }
    Naming(const Naming&) = delete;
    Naming& operator=(const Naming&) = delete;

  private:
    Code& code_;
    SyntaxRef around_;
};

// What to write in place of an expression that kernels have not.
std::string in_place_of(const Syntax& part) {
    if (part.form == Form::joined_text) return "Kernels compute with numbers: leave it out.";
    static const std::map<std::string, std::string> known{
        {"Dict", "Use variables, a tuple or a NamedTuple."},
        {"Set", "Use variables, or a tuple."},
        {"NamedExpr", "Write the assignment on a line of its own."},
    };
    const auto found = known.find(part.name);
    return found == known.end() || part.form != Form::other
               ? "See docs/knossos.md for what kernels may hold."
               : found->second;
}

}  // namespace

Value Expressions::value(const SyntaxRef& part) {
    const auto form = forms.find(part->form);
    if (form == forms.end())
        scope.refuse(*part, "`" + shown(*part) + "` is not part of kernels", in_place_of(*part));
    const bool is_library = scope.is_library();
    const Naming naming(code, is_library ? code.construct : part);
    try {
        return form->second(part);
    } catch (const Mismatch& error) {
        if (is_library) throw;  // the call is what does not fit
        scope.refuse(*part, error.wrong + ", in `" + shown(*part) + "`", error.instead,
                     Refusal::Class::type);
    }
}

Value Expressions::value_or_function(const SyntaxRef& part) {
    const ObjectRef found = scope.meaning_or_none(part);
    const bool is_bound = part->form == Form::name && scope.is_local(part->name);
    if (found && !is_bound && scope.outside.is_function(*found))
        return std::shared_ptr<const Other>(std::make_shared<OuterFunction>(found));
    return value(part);
}

}  // namespace composit::knossos

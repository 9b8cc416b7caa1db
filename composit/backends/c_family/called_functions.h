// The functions that printed procedures call in place of statements which calls left in them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

namespace composit::c_family {

// Functions of one file: two calls that left the same statements, whatever the names in them, call
// one function.
class CalledFunctions {
  public:
    // `taken`: names of the functions, variables and arrays of the file, which none may have.
    explicit CalledFunctions(std::set<std::string> taken) : taken_(std::move(taken)) {}

    // The name of the function whose text with other names is `key`, and whose parameters have the
    // types: functions of other types may have the same name. `text` writes it under its name.
    std::string name_of(const std::string& wanted, const std::string& types, const std::string& key,
                        const std::function<std::string(const std::string& name)>& text,
                        bool is_of_library);

    // All functions, each before those that call it.
    const std::string& text() const { return text_; }
    // Of them, those whose text users wrote.
    const std::string& text_of_users() const { return text_of_users_; }

  private:
    std::set<std::string> taken_;
    std::map<std::string, std::string> names_;            // by key
    std::map<std::string, std::set<std::string>> types_;  // by name
    std::string text_, text_of_users_;
};

}  // namespace composit::c_family

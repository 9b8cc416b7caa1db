// Names of variables and arrays in C++, which those whose scopes do not meet may share.
#pragma once

#include "composit/backends/c_family/procedure_variables.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/backends/c_family/taken_names.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace composit::c_family {

class ScopedNames {
  public:
    explicit ScopedNames(TakenNames& taken) : taken_(taken) {}

    std::string name(const std::string& wanted, const Scope& scope) {
        for (auto& [name, scopes] : scopes_[wanted]) {
            const bool is_free = std::none_of(scopes.begin(), scopes.end(),
                                              [&](const Scope& own) { return own.meets(scope); });
            if (!is_free) continue;
            scopes.push_back(scope);
            return name;
        }
        const std::string name = unique_name(wanted, taken_, true);
        scopes_[wanted].push_back({name, {scope}});
        return name;
    }

  private:
    TakenNames& taken_;
    std::map<std::string, std::vector<std::pair<std::string, std::vector<Scope>>>> scopes_;
};

}  // namespace composit::c_family

// The names that a scope of printed code may not use anew.
#pragma once

#include <set>
#include <string>
#include <utility>

namespace composit::c_family {

// Names of its own, and those of the scope around it, which outlives it.
class TakenNames {
  public:
    TakenNames(std::set<std::string> names = {}) : own_(std::move(names)) {}
    static TakenNames within(const TakenNames& outer) {
        TakenNames inner;
        inner.outer_ = &outer;
        return inner;
    }

    bool contains(const std::string& name) const {
        for (const TakenNames* scope = this; scope; scope = scope->outer_)
            if (scope->own_.contains(name)) return true;
        return false;
    }
    // False where the name is taken already.
    bool insert(const std::string& name) { return !contains(name) && own_.insert(name).second; }

  private:
    std::set<std::string> own_;
    const TakenNames* outer_ = nullptr;
};

}  // namespace composit::c_family

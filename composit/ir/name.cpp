// The table of names that live.
#include "composit/ir/name.h"

#include <mutex>
#include <unordered_map>

namespace composit::ir {

// A text whose count has come to 0 may still be found here until its release has the lock: whoever
// looks for it then puts a new one in its place.
class Name::Table {
  public:
    Ref<Shared> find_or_add(std::string_view text) {
        const std::lock_guard lock(mutex_);
        const auto place = texts_.find(text);
        if (place != texts_.end()) {
            if (place->second->retain_if_alive()) return Ref<Shared>::adopt(place->second);
            texts_.erase(place);  // its key is the dying one's
        }
        Ref<Shared> added(new Shared(text));
        texts_.emplace(added->text, added.get());
        return added;
    }

    void remove(const Shared* dead) {
        const std::lock_guard lock(mutex_);
        const auto place = texts_.find(dead->text);
        if (place != texts_.end() && place->second == dead) texts_.erase(place);
    }

  private:
    std::mutex mutex_;
    std::unordered_map<std::string_view, const Shared*> texts_;
};

// Never destroyed: threads drop names when they end.
Name::Table& Name::table() {
    static auto& all = *new Table;
    return all;
}

Name::Name(std::string_view text) {
    if (!text.empty()) shared_ = table().find_or_add(text);
}

const std::string& Name::text() const {
    static const std::string& empty = *new std::string;
    return shared_ ? shared_->text : empty;
}

void Name::Shared::release(const Shared* shared) {
    table().remove(shared);
    delete shared;
}

}  // namespace composit::ir

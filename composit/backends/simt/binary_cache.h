// Compiled code of devices in the cache folder, one file an entry: whatever cannot be read is
// built again.
#pragma once

#include "composit/backends/simt/machine.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace composit::simt {

// What decides about the binary: everything that its compiler reads.
struct BinaryKey {
    std::string kind;  // "opencl", the entry's first word
    std::string how;   // device, driver, compiler and its options, in lines
    std::string text;
};

// The entry's binary, if it is whole and of that key. `folder` empty: the default cache folder.
std::optional<std::string> cached_binary(const BinaryKey& key, const std::string& folder);
// Writes the entry under a name of its own and renames it. A folder that cannot be used is warned
// of once; the code is then compiled again by the next process.
void cache_binary(const BinaryKey& key, const std::string& folder, const std::string& binary);

// NotSupported "NAME: the compiler refused function … . COMMAND: log …", the first lines of the
// log, with the name of the file that all of the log and the text were kept in.
[[noreturn]] void fail_build(const BinaryKey& key, const std::string& folder,
                             const std::string& device, const std::string& command,
                             const std::string& log);

// What a machine has loaded, by text, so that no text is built twice, not even by two threads.
class LoadedCode {
  public:
    std::shared_ptr<Code> find_or_build(const std::string& text,
                                        const std::function<std::shared_ptr<Code>()>& build);

  private:
    std::mutex mutex_;
    std::condition_variable finished_;
    std::map<std::string, std::weak_ptr<Code>> loaded_;
    std::set<std::string> being_built_;
};

}  // namespace composit::simt

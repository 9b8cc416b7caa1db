// CompilationUnavailable: a program could not be compiled here, though nothing is wrong with it.
#pragma once

#include "composit/runtime/unavailable.h"

#include <string>
#include <utility>

namespace composit::cpp {

// No compiler, or one that failed, was killed, or found the disk full. Whoever catches it can run
// the program with the interpreter, which returns the same bits.
class CompilationUnavailable : public runtime::Unavailable {
  public:
    CompilationUnavailable(const std::string& reason, std::string command, std::string file)
        : Unavailable(reason), command_(std::move(command)), file_(std::move(file)) {}

    const std::string& command() const { return command_; }  // empty when none could be made
    const std::string& file() const { return file_; }        // the source, kept where it can be

  private:
    std::string command_, file_;
};

}  // namespace composit::cpp

// Several files written into a folder so that a full disk or a crash leaves none half-written.
#pragma once

#include <string>
#include <vector>

namespace composit::cpp_project {

struct File {
    std::string name, content;
};

// Makes `folder` if it is missing, writes and flushes all files under temporary names, then renames
// them. Throws InputOutputError with the system's reason; while writing, that leaves every file as
// it was before.
void write_files(const std::string& folder, const std::vector<File>& files);

}  // namespace composit::cpp_project

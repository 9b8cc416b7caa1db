// All files are written before any of them takes its place.
#include "composit/exporters/cpp_project/write_files.h"

#include "composit/base/error.h"
#include "composit/base/whole_file.h"

#include <filesystem>

namespace composit::cpp_project {

namespace fs = std::filesystem;

void write_files(const std::string& folder, const std::vector<File>& files) {
    std::error_code error;
    fs::create_directories(folder, error);
    user_check<InputOutputError>(!error, "export: the folder '", folder,
                                 "' cannot be made: ", error.message(),
                                 ". A folder that can be written to is required.");
    std::vector<WholeFile> written;
    for (const File& file : files) {
        WholeFile& whole = written.emplace_back("export", fs::path(folder) / file.name);
        whole.write(file.content.data(), file.content.size());
        whole.flush();
    }
    for (WholeFile& file : written) file.rename_to_target();
}

}  // namespace composit::cpp_project

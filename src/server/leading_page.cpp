#include "server/leading_page.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "pliant/reduction/build_reduced.h"

namespace pliant {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPageBegin = "pliant-viewer-", kPageEnd = ".html";
constexpr std::string_view kPage = R"(<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=URL">
<title>Pliant</title>
<a href="URL">Open the viewer</a>
)";

/// Removes pages with tokens of programs that were killed. Each program locks its own, and locks
/// end with their process however that ends.
void remove_left_behind(const fs::path& folder) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with(kPageBegin) || !name.ends_with(kPageEnd)) continue;
        const int file =
            ::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0) continue;
        struct stat info {};
        if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
            ::flock(file, LOCK_EX | LOCK_NB) == 0)
            ::unlink(entry->path().c_str());
        ::close(file);
    }
}

/// A locked file that its user alone can read; less than 0: there is no place for it.
int make_private_file(const fs::path& folder, std::string& path) {
    for (;;) {
        path = (folder / (std::string(kPageBegin) + "XXXXXX" + std::string(kPageEnd))).string();
        const int file = ::mkostemps(path.data(), kPageEnd.size(), O_CLOEXEC);  // mode 0600
        if (file < 0) return file;
        ::flock(file, LOCK_EX);
        // another start may have taken it for left behind before it was locked: once more
        struct stat info {};
        if (::fstat(file, &info) != 0 || info.st_nlink > 0) return file;
        ::close(file);
    }
}

/// Less than 0: it could not be written.
int write_private_file(const fs::path& folder, std::string_view content, std::string& path) {
    const int file = make_private_file(folder, path);
    if (file < 0 ||
        ::write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()))
        return file;
    ::unlink(path.c_str());
    ::close(file);
    return -1;
}

}  // namespace

LeadingPage::LeadingPage(const std::string& url) {
    // tokens are letters and digits: nothing in the address needs an escape
    std::string content(kPage);
    for (std::size_t at = 0; (at = content.find("URL", at)) != std::string::npos; at += url.size())
        content.replace(at, 3, url);
    const char* const variable = std::getenv("XDG_RUNTIME_DIR");
    const fs::path runtime = variable != nullptr && *variable == '/' ? variable : "";
    const fs::path cache = default_cache_folder();
    for (const fs::path& folder : {runtime, cache})
        if (!folder.empty()) remove_left_behind(folder);
    for (const fs::path& folder : {runtime, cache}) {
        if (folder.empty()) continue;
        std::error_code ignored;
        if (folder == cache) fs::create_directories(cache, ignored);
        if (file_ = write_private_file(folder, content, path_); file_ >= 0) return;
    }
    path_.clear();
}

LeadingPage::~LeadingPage() {
    if (file_ < 0) return;
    ::unlink(path_.c_str());
    ::close(file_);
}

}  // namespace pliant

#include "server/leading_page.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "pliant/reduction/build_reduced.h"

namespace pliant {
namespace {

constexpr std::string_view kPage = R"(<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=URL">
<title>Pliant</title>
<a href="URL">Open the viewer</a>
)";

/// Empty: it could not be written.
std::string private_file(const std::filesystem::path& folder, std::string_view content) {
    std::string path = folder / "pliant-XXXXXX.html";
    const int file = ::mkostemps(path.data(), 5, O_CLOEXEC);  // mode 0600
    if (file < 0) return {};
    const bool is_whole =
        ::write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size());
    ::close(file);
    if (is_whole) return path;
    ::unlink(path.c_str());
    return {};
}

}  // namespace

LeadingPage::LeadingPage(const std::string& url) {
    // tokens are letters and digits: nothing in the address needs an escape
    std::string content(kPage);
    for (std::size_t at = 0; (at = content.find("URL", at)) != std::string::npos; at += url.size())
        content.replace(at, 3, url);
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    if (runtime != nullptr && *runtime == '/') path_ = private_file(runtime, content);
    const std::filesystem::path cache = default_cache_folder();
    if (!path_.empty() || cache.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(cache, ignored);
    path_ = private_file(cache, content);
}

LeadingPage::~LeadingPage() {
    if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace pliant

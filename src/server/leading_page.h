#pragma once

#include <string>

namespace pliant {

/// A page on the disk that leads a browser to an address with a token, until it is destroyed. The
/// words of a running program can be read by everybody on the machine, and whatever opens a browser
/// passes them on; this file can be read by its user alone. Pages that killed programs left are
/// removed by the next one.
class LeadingPage {
public:
    /// In the user's folder for running programs (XDG_RUNTIME_DIR), or else in the cache folder.
    explicit LeadingPage(const std::string& url);
    ~LeadingPage();
    LeadingPage(const LeadingPage&) = delete;
    LeadingPage& operator=(const LeadingPage&) = delete;
    /// Empty: there is no place for it.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
    int file_ = -1;  // locked while this program lives
};

}  // namespace pliant

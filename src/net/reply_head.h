#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pliant {

/// What the head of an HTTP reply says.
struct ReplyHead {
    int status = 200;
    std::string_view content_type;
    std::size_t content_length = 0;
    bool keeps_alive = true;
    bool is_stored = false;  ///< by the browser, which asks before each use
    std::string_view host;   ///< of this server, as the browser names it
};

/// The text up to the empty line, with the headers that keep a page to its own server.
[[nodiscard]] std::string reply_head(const ReplyHead& head);

}  // namespace pliant

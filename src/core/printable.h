#pragma once

#include <string>
#include <string_view>

namespace pliant {

/// A text as a terminal may show it: control characters, which names out of files may have and
/// which a terminal obeys, as '?'. `kept` are those that stay, such as "\n".
[[nodiscard]] inline std::string printable(std::string_view text, std::string_view kept = {}) {
    std::string shown;
    shown.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
        // U+0080 to U+009F in UTF-8: one of them begins what ESC [ begins
        const bool is_pair = byte == 0xc2 && next >= 0x80 && next <= 0x9f;
        const bool is_control = is_pair || byte < 0x20 || byte == 0x7f;
        shown += is_control && kept.find(text[i]) == kept.npos ? '?' : text[i];
        i += is_pair ? 1 : 0;
    }
    return shown;
}

}  // namespace pliant

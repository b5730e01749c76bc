#pragma once

#include "core/embedded_files.h"
#include "pliant/net/web_server.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pliant {

[[nodiscard]] SharedBytes shared_text(std::string text);
[[nodiscard]] HttpReply not_found();
/// A file of the bundle, read from where it is; "/" is index.html. Without a bundle "/" says how to
/// get the viewer. Nothing: there is no such file. No file holds a secret: no token is needed.
[[nodiscard]] std::optional<HttpReply> page_reply(std::span<const EmbeddedFile> files,
                                                  std::string_view path);

}  // namespace pliant

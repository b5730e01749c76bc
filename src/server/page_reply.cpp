#include "server/page_reply.h"

#include <algorithm>
#include <utility>

namespace pliant {
namespace {

constexpr std::string_view kNoBundle = R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Pliant</title>
<body style="font: 16px/1.5 system-ui, sans-serif; max-width: 40em; margin: 3em auto">
<h1>The viewer is not part of this build</h1>
<p>The simulation is running, but npm was not found when Pliant was built, and the page needs it.</p>
<p>Install it (on Debian and Ubuntu: <code>sudo apt install npm</code>), then configure and build
again; <code>./demo</code> does all of it.</p>
<p>Without the page: <code>pliant run SCENE --headless --duration 10 --record run.pliantrec</code>,
and <code>pliant replay run.pliantrec --csv</code>.</p>
</body>
</html>
)";

std::string content_type(std::string_view name) {
    constexpr std::pair<std::string_view, const char*> kTypes[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".map", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".woff2", "font/woff2"},
        {".txt", "text/plain; charset=utf-8"},
    };
    for (const auto& [extension, type] : kTypes)
        if (name.ends_with(extension)) return type;
    return "application/octet-stream";
}

}  // namespace

SharedBytes shared_text(std::string text) {
    return std::make_shared<const std::string>(std::move(text));
}

HttpReply not_found() { return {.status = 404, .body = shared_text("There is nothing here.\n")}; }

std::optional<HttpReply> page_reply(std::span<const EmbeddedFile> files, std::string_view path) {
    if (path == "/" && files.empty())
        return HttpReply{.status = 200,
                         .content_type = content_type(".html"),
                         .body = shared_text(std::string(kNoBundle))};
    const std::string_view name =
        path == "/" ? "index.html" : path.substr(std::min<std::size_t>(1, path.size()));
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&](const EmbeddedFile& f) { return f.name == name; });
    if (file == files.end()) return std::nullopt;
    // everybody may ask: a copy for each who takes it slowly would add up
    const auto read = [content = file->content](std::uint64_t offset, std::span<char> piece) {
        return content.copy(piece.data(), piece.size(), offset);
    };
    return HttpReply{.status = 200,
                     .content_type = content_type(name),
                     .body = nullptr,
                     .streamed = StreamedBody{file->content.size(), read}};
}

}  // namespace pliant

#include "server/page_reply.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

/// Type and content, in pieces of two bytes.
std::string served(std::span<const EmbeddedFile> files, std::string_view path) {
    const std::optional<HttpReply> reply = page_reply(files, path);
    if (!reply || reply->status != 200 || !reply->streamed) return "none";
    std::string text;
    for (std::string piece(2, '-'); text.size() < reply->streamed->size;)
        text += piece.substr(0, reply->streamed->read(text.size(), piece));
    return reply->content_type + ": " + text;
}

TEST(PageReply, ServesTheBundle) {
    const EmbeddedFile files[] = {{"index.html", "<html>"}, {"app.js", "let a"}};
    EXPECT_EQ(served(files, "/"), "text/html; charset=utf-8: <html>");
    EXPECT_EQ(served(files, "/app.js"), "text/javascript; charset=utf-8: let a");
    for (const char* path : {"", "/app", "//app.js", "/../app.js", "app.js/", "/index.html/"})
        EXPECT_FALSE(page_reply(files, path)) << path;
}

TEST(PageReply, BuildWithoutAPageSaysHowToGetIt) {
    const std::optional<HttpReply> reply = page_reply({}, "/");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->content_type, "text/html; charset=utf-8");
    EXPECT_NE(reply->body->find("apt install npm"), std::string::npos);
    EXPECT_FALSE(page_reply({}, "/app.js"));
}

}  // namespace
}  // namespace pliant

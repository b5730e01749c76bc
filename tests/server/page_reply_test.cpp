#include "server/page_reply.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

TEST(PageReply, ServesTheBundle) {
    const EmbeddedFile files[] = {{"index.html", "<html>"}, {"app.js", "let a"}};
    EXPECT_EQ(*page_reply(files, "/").body, "<html>");
    EXPECT_EQ(page_reply(files, "/").content_type, "text/html; charset=utf-8");
    EXPECT_EQ(*page_reply(files, "/app.js").body, "let a");
    EXPECT_EQ(page_reply(files, "/app.js").content_type, "text/javascript; charset=utf-8");
    for (const char* path : {"", "/app", "//app.js", "/../app.js", "app.js/", "/index.html/"})
        EXPECT_EQ(page_reply(files, path).status, 404) << path;
}

TEST(PageReply, BuildWithoutAPageSaysHowToGetIt) {
    const HttpReply reply = page_reply({}, "/");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.content_type, "text/html; charset=utf-8");
    EXPECT_NE(reply.body->find("apt install npm"), std::string::npos);
    EXPECT_EQ(page_reply({}, "/app.js").status, 404);
}

}  // namespace
}  // namespace pliant

#include "net/access.h"

#include "net/interface_addresses.h"
#include "net/reply_head.h"
#include "pliant/net/web_server.h"

#include <gtest/gtest.h>

#include <set>

namespace pliant {
namespace {

using namespace std::chrono_literals;

TEST(OwnHost, LoopbackIsItsAddressOrLocalhostWithThePort) {
    const ServedAddress served{"127.0.0.1", 8080};
    EXPECT_TRUE(is_own_host("127.0.0.1:8080", served));
    EXPECT_TRUE(is_own_host("localhost:8080", served));
    EXPECT_TRUE(is_own_host("LocalHost:8080", served));
    for (const char* foreign :
         {"", "127.0.0.1", "127.0.0.1:8081", "127.0.0.2:8080", "evil.example:8080",
          "127.0.0.1.evil.example:8080", "localhost.evil.example:8080", "127.0.0.1:8080:8080",
          "127.0.0.1:8080 ", "127.0.0.1:", "127.0.0.1:+8080", "[::1]:8080", "[localhost]:8080",
          "[127.0.0.1]:8080", "[", "[]:8080", ":8080", "192.168.1.2:8080", "a@127.0.0.1:8080"})
        EXPECT_FALSE(is_own_host(foreign, served)) << foreign;
    EXPECT_FALSE(is_own_host(std::string_view("127.0.0.1\0x:8080", 16), served));
}

TEST(OwnHost, PortEightyNeedNotBeNamed) {
    EXPECT_TRUE(is_own_host("127.0.0.1", {"127.0.0.1", 80}));
    EXPECT_TRUE(is_own_host("127.0.0.1:80", {"127.0.0.1", 80}));
    EXPECT_FALSE(is_own_host("127.0.0.1", {"127.0.0.1", 8080}));
}

TEST(OwnHost, SixthVersionIsWrittenInBracketsInAnySpelling) {
    const ServedAddress served{"::1", 8080};
    EXPECT_TRUE(is_own_host("[::1]:8080", served));
    EXPECT_TRUE(is_own_host("[0:0:0:0:0:0:0:1]:8080", served));
    EXPECT_TRUE(is_own_host("localhost:8080", served));
    EXPECT_FALSE(is_own_host("::1:8080", served));
    EXPECT_FALSE(is_own_host("[::2]:8080", served));
    EXPECT_FALSE(is_own_host("127.0.0.1:8080", served));
}

TEST(OwnHost, ServerOfOneNetworkAddressAnswersThatAlone) {
    const ServedAddress served{"192.168.1.2", 8080};
    EXPECT_TRUE(is_own_host("192.168.1.2:8080", served));
    EXPECT_FALSE(is_own_host("localhost:8080", served));
    EXPECT_FALSE(is_own_host("192.168.1.3:8080", served));
}

TEST(OwnHost, ServerOfAllAddressesAnswersNumbersButNoNames) {
    for (const char* all : {"0.0.0.0", "::"}) {
        const ServedAddress served{all, 8080};
        EXPECT_TRUE(is_own_host("192.168.1.2:8080", served));
        EXPECT_TRUE(is_own_host("[fe80::1]:8080", served));
        EXPECT_TRUE(is_own_host("localhost:8080", served));
        EXPECT_FALSE(is_own_host("192.168.1.2:80", served));
        EXPECT_FALSE(is_own_host("evil.example:8080", served));
    }
}

TEST(HostText, NamesAnAddressThatABrowserCanOpen) {
    EXPECT_EQ(host_text({"127.0.0.1", 8080}), "127.0.0.1:8080");
    EXPECT_EQ(host_text({"192.168.1.2", 1}), "192.168.1.2:1");
    EXPECT_EQ(host_text({"::1", 8080}), "[::1]:8080");
    EXPECT_EQ(host_text({"0.0.0.0", 8080}), "127.0.0.1:8080");
    EXPECT_EQ(host_text({"::", 8080}), "[::1]:8080");
}

TEST(NetworkHosts, AreTheAddressesByWhichOtherMachinesComeIn) {
    const std::vector<std::string> interfaces{"127.0.0.1", "192.168.1.2", "10.0.0.7", "2001:db8::5",
                                              "::1"};
    EXPECT_EQ(network_hosts({"0.0.0.0", 8080}, interfaces),
              (std::vector<std::string>{"192.168.1.2:8080", "10.0.0.7:8080"}));
    EXPECT_EQ(
        network_hosts({"::", 8080}, interfaces),
        (std::vector<std::string>{"192.168.1.2:8080", "10.0.0.7:8080", "[2001:db8::5]:8080"}));
    EXPECT_EQ(network_hosts({"10.0.0.7", 80}, interfaces),
              (std::vector<std::string>{"10.0.0.7:80"}));
    for (const char* loopback : {"127.0.0.1", "127.0.0.2", "::1"})
        EXPECT_TRUE(network_hosts({loopback, 8080}, interfaces).empty()) << loopback;
    // each of them is answered
    for (const char* all : {"0.0.0.0", "::"})
        for (const std::string& host : network_hosts({all, 8080}, interfaces))
            EXPECT_TRUE(is_own_host(host, {all, 8080})) << host;
}

TEST(NetworkHosts, OnlyTheLoopbackIsClosedToThem) {
    for (const char* closed : {"127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"})
        EXPECT_TRUE(is_loopback_address(closed)) << closed;
    for (const char* open : {"0.0.0.0", "::", "192.168.1.2", "2001:db8::5", "fe80::1"})
        EXPECT_FALSE(is_loopback_address(open)) << open;
}

TEST(InterfaceAddresses, AreThoseOfANetworkThatABrowserCanName) {
    for (const std::string& address : interface_addresses()) {
        EXPECT_FALSE(is_loopback_address(address)) << address;
        EXPECT_FALSE(address.starts_with("fe80:")) << address;
        EXPECT_TRUE(is_own_host(host_text({address, 8080}), {"::", 8080})) << address;
    }
}

TEST(OwnOrigin, IsThePageThatHostNames) {
    EXPECT_TRUE(is_own_origin("http://127.0.0.1:8080", "127.0.0.1:8080"));
    EXPECT_TRUE(is_own_origin("http://localhost:8080", "LOCALHOST:8080"));
    for (const char* foreign : {"", "null", "https://127.0.0.1:8080", "http://127.0.0.1:8081",
                                "http://localhost:8080", "http://127.0.0.1:8080/", "http://evil"})
        EXPECT_FALSE(is_own_origin(foreign, "127.0.0.1:8080")) << foreign;
}

TEST(DecodedPath, LosesItsQueryAndItsEscapes) {
    EXPECT_EQ(decoded_path("/"), "/");
    EXPECT_EQ(decoded_path("/a/b.js?t=1&x=/2"), "/a/b.js");
    EXPECT_EQ(decoded_path("/api/recording/my%20bridge%2B%c3%A9"), "/api/recording/my bridge+é");
    EXPECT_EQ(decoded_path("/x#part"), "/x");
    for (const char* wrong :
         {"", "a", "*", "http://127.0.0.1/", "/%", "/%4", "/%4g", "/%00", "/a%0d%0ab", "?t=1"})
        EXPECT_FALSE(decoded_path(wrong)) << wrong;
}

TEST(QueryValue, IsTheFirstOfItsName) {
    EXPECT_EQ(query_value("/?t=abc", "t"), "abc");
    EXPECT_EQ(query_value("/x?a=1&t=abc&t=d", "t"), "abc");
    EXPECT_EQ(query_value("/x?at=1&t=", "t"), "");
    EXPECT_EQ(query_value("/x?t", "t"), "");
    EXPECT_EQ(query_value("/t=abc", "t"), "");
    EXPECT_EQ(query_value("/?t=abc#t=d", "t"), "abc");
    EXPECT_EQ(query_value("/?&&=&x=1&t=a=b&", "t"), "a=b");
    EXPECT_EQ(query_value("", "t"), "");
}

TEST(SameSecret, TakesTheWholeSecretOnly) {
    EXPECT_TRUE(is_same_secret("abcd", "abcd"));
    for (const char* wrong : {"", "abc", "abcde", "abce", "abcdabcd", "Abcd"})
        EXPECT_FALSE(is_same_secret(wrong, "abcd")) << wrong;
    EXPECT_FALSE(is_same_secret("a", ""));
}

TEST(RateLimit, PassesABurstAndThenItsRate) {
    const RateLimit::Time start{};
    RateLimit limit(100, start);
    int passed = 0;
    for (int i = 0; i < 1000; ++i) passed += limit.take(start) ? 1 : 0;
    EXPECT_EQ(passed, 100);
    // 10 s in steps of 1 ms: 1000 of 10000, give or take the rounding of the allowance
    passed = 0;
    for (int i = 1; i <= 10000; ++i) passed += limit.take(start + i * 1ms) ? 1 : 0;
    EXPECT_NEAR(passed, 1000, 1);
    // a long pause saves up no more than one second
    passed = 0;
    for (int i = 0; i < 1000; ++i) passed += limit.take(start + 1h) ? 1 : 0;
    EXPECT_EQ(passed, 100);
}

TEST(RateLimit, RatesBelowOneStillPassSome) {
    const RateLimit::Time start{};
    RateLimit limit(0.5, start);
    EXPECT_TRUE(limit.take(start));
    EXPECT_FALSE(limit.take(start + 1s));
    EXPECT_TRUE(limit.take(start + 2s));
}

TEST(ReplyHead, KeepsThePageToItsOwnServer) {
    const std::string text = reply_head({.status = 200,
                                         .content_type = "text/html",
                                         .content_length = 12,
                                         .keeps_alive = true,
                                         .is_stored = false,
                                         .host = "127.0.0.1:8080"});
    EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_TRUE(text.ends_with("\r\n\r\n"));
    for (const char* part :
         {"Content-Type: text/html\r\n", "Content-Length: 12\r\n", "Cache-Control: no-store\r\n",
          "X-Content-Type-Options: nosniff\r\n", "Referrer-Policy: no-referrer\r\n",
          "default-src 'self';", "style-src 'self' 'unsafe-inline';", "img-src 'self' blob: data:;",
          "connect-src 'self' ws://127.0.0.1:8080;", "frame-ancestors 'none'"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
    // which browsers would show to every other port of this computer
    EXPECT_EQ(text.find("Set-Cookie"), std::string::npos) << text;
}

TEST(RandomToken, Is128DifferentBitsEachTime) {
    std::set<std::string> tokens;
    for (int i = 0; i < 100; ++i) {
        const std::string token = random_token();
        EXPECT_EQ(token.size(), 32u);
        EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
        tokens.insert(token);
    }
    EXPECT_EQ(tokens.size(), 100u);
}

}  // namespace
}  // namespace pliant

#include "net/reply_head.h"

namespace pliant {
namespace {

const char* reason(int status) {
    switch (status) {
        case 200: return "OK";
        case 400: return "Bad Request";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 413: return "Payload Too Large";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 503: return "Service Unavailable";
        default: return "";  // allowed by RFC 9112
    }
}

}  // namespace

std::string reply_head(const ReplyHead& head) {
    std::string text = "HTTP/1.1 " + std::to_string(head.status) + " " + reason(head.status);
    const auto add = [&text](std::string_view name, std::string_view value) {
        text.append("\r\n").append(name).append(": ").append(value);
    };
    add("Content-Type", head.content_type);
    add("Content-Length", std::to_string(head.content_length));
    add("Connection", head.keeps_alive ? "keep-alive" : "close");
    add("Cache-Control", head.is_stored ? "no-cache" : "no-store");
    add("X-Content-Type-Options", "nosniff");
    // the address holds the token: no other server may learn it
    add("Referrer-Policy", "no-referrer");
    add("Cross-Origin-Resource-Policy", "same-origin");
    // 'self' includes WebSockets in newer browsers only
    add("Content-Security-Policy",
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; "
        "connect-src 'self' ws://" +
            std::string(head.host) +
            "; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    if (head.status == 405) add("Allow", "GET, HEAD");
    return text + "\r\n\r\n";
}

}  // namespace pliant

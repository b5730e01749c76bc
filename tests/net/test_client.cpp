#include "net/test_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <thread>

namespace pliant::test {
namespace {

using Clock = std::chrono::steady_clock;

/// The example key of RFC 6455 §1.3 and its answer.
constexpr const char* kKey = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr const char* kKeyAnswer = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

bool wait_for(int descriptor, short events, Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd item{.fd = descriptor, .events = events, .revents = 0};
    return ::poll(&item, 1, static_cast<int>(std::max<long>(left.count(), 0))) == 1;
}

std::string lower_case(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

}  // namespace

TestClient::TestClient(int port, int receive_buffer, const std::string& address) {
    const bool is_v6 = address.find(':') != std::string::npos;
    host_ = (is_v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
    sockaddr_storage storage{};
    socklen_t size = sizeof(sockaddr_in);
    if (is_v6) {
        auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(static_cast<std::uint16_t>(port));
        ::inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr);
        size = sizeof(sockaddr_in6);
    } else {
        auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
        v4->sin_family = AF_INET;
        v4->sin_port = htons(static_cast<std::uint16_t>(port));
        ::inet_pton(AF_INET, address.c_str(), &v4->sin_addr);
    }
    descriptor_ = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer > 0)
        ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    const int at_once = 1;
    ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&storage), size) != 0) close();
}

TestClient::~TestClient() { close(); }

void TestClient::close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

void TestClient::close_abruptly() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
}

bool TestClient::send_raw(std::string_view bytes) {
    const auto deadline = Clock::now() + 5s;
    while (!bytes.empty()) {
        if (!wait_for(descriptor_, POLLOUT, deadline)) return false;
        const ssize_t sent =
            ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::string TestClient::receive_raw(std::size_t most, std::chrono::milliseconds limit) {
    if (received_.empty() && !fill(1, Clock::now() + limit)) return {};
    const std::string bytes = received_.substr(0, most);
    received_.erase(0, bytes.size());
    return bytes;
}

bool TestClient::is_closed_within(std::chrono::milliseconds limit) {
    const auto deadline = Clock::now() + limit;
    while (!has_ended_ && Clock::now() < deadline) {
        received_.clear();
        fill(1, deadline);
    }
    return has_ended_;
}

/// Reads until `size` bytes are there.
bool TestClient::fill(std::size_t size, Clock::time_point deadline) {
    char block[1 << 14];
    while (received_.size() < size) {
        if (has_ended_ || descriptor_ < 0 || !wait_for(descriptor_, POLLIN, deadline)) return false;
        const ssize_t got = ::recv(descriptor_, block, sizeof block, 0);
        if (got <= 0) has_ended_ = true;
        if (got > 0) received_.append(block, static_cast<std::size_t>(got));
    }
    return true;
}

TestClient::Reply TestClient::http_get(const std::string& path, const Headers& headers) {
    return request("GET", path, headers);
}

TestClient::Reply TestClient::request(const std::string& method, const std::string& path,
                                      const Headers& headers) {
    std::string text = method + " " + path + " HTTP/1.1\r\n";
    const auto is_host = [](const auto& header) { return lower_case(header.first) == "host"; };
    if (std::none_of(headers.begin(), headers.end(), is_host)) text += "Host: " + host_ + "\r\n";
    for (const auto& [name, value] : headers) {
        text += name;
        text += ": " + value + "\r\n";
    }
    send_raw(text + "\r\n");
    return read_reply(method != "HEAD");
}

TestClient::Reply TestClient::read_reply(bool has_body) {
    const auto deadline = Clock::now() + 5s;
    Reply reply;
    std::size_t end = 0;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos)
        if (!fill(received_.size() + 1, deadline)) return reply;
    const std::string head = received_.substr(0, end + 2);
    received_.erase(0, end + 4);
    if (!head.starts_with("HTTP/1.1 ")) return reply;
    reply.status = std::atoi(head.c_str() + 9);
    for (std::size_t line = head.find("\r\n") + 2; line < head.size();) {
        const std::size_t stop = head.find("\r\n", line);
        const std::size_t colon = head.find(": ", line);
        if (colon < stop)
            reply.headers[lower_case(head.substr(line, colon - line))] =
                head.substr(colon + 2, stop - colon - 2);
        line = stop + 2;
    }
    const auto length = reply.headers.find("content-length");
    if (!has_body || length == reply.headers.end()) return reply;
    const auto size = static_cast<std::size_t>(std::atoll(length->second.c_str()));
    fill(size, deadline);
    reply.body = received_.substr(0, size);
    received_.erase(0, reply.body.size());
    return reply;
}

int TestClient::open_websocket(const std::string& path, const Headers& headers) {
    Headers all = {{"Upgrade", "websocket"},
                   {"Connection", "Upgrade"},
                   {"Sec-WebSocket-Version", "13"},
                   {"Sec-WebSocket-Key", kKey}};
    all.insert(all.end(), headers.begin(), headers.end());
    const Reply reply = request("GET", path, all);
    if (reply.status != 101) return reply.status;
    const auto answer = reply.headers.find("sec-websocket-accept");
    return answer != reply.headers.end() && answer->second == kKeyAnswer ? 101 : 0;
}

bool TestClient::send_frame(int opcode, std::string_view payload, bool is_last) {
    std::string frame;
    frame += static_cast<char>((is_last ? 0x80 : 0) | opcode);
    const std::size_t size = payload.size();
    const int num_length_bytes = size < 126 ? 0 : size < 65536 ? 2 : 8;
    frame += static_cast<char>(0x80 | (num_length_bytes == 0   ? static_cast<int>(size)
                                       : num_length_bytes == 2 ? 126
                                                               : 127));
    for (int i = num_length_bytes - 1; i >= 0; --i) frame += static_cast<char>(size >> (8 * i));
    // clients must mask; any key will do
    constexpr char kMask[4] = {0x12, 0x34, 0x56, 0x78};
    frame.append(kMask, 4);
    for (std::size_t i = 0; i < size; ++i) frame += static_cast<char>(payload[i] ^ kMask[i % 4]);
    return send_raw(frame);
}

TestClient::Message TestClient::receive(std::chrono::milliseconds limit) {
    const auto deadline = Clock::now() + limit;
    Message message;
    for (;;) {
        if (!fill(2, deadline)) return {};
        const auto byte = [this](std::size_t i) {
            return static_cast<unsigned char>(received_[i]);
        };
        const int opcode = byte(0) & 15;
        std::size_t size = byte(1) & 127, head = 2;
        const std::size_t num_length_bytes = size == 126 ? 2 : size == 127 ? 8 : 0;
        if (!fill(head + num_length_bytes, deadline)) return {};
        if (num_length_bytes > 0) size = 0;
        for (std::size_t i = 0; i < num_length_bytes; ++i) size = size << 8 | byte(head + i);
        head += num_length_bytes;
        if (!fill(head + size, deadline)) return {};
        const bool is_last = (byte(0) & 0x80) != 0;
        const std::string payload = received_.substr(head, size);
        received_.erase(0, head + size);
        if (opcode == 8) {
            Message end{.kind = Kind::Close, .data = payload, .num_frames = 1};
            if (size >= 2)
                end.close_code = static_cast<unsigned char>(payload[0]) << 8 |
                                 static_cast<unsigned char>(payload[1]);
            return end;
        }
        if (opcode > 8) return {opcode == 9 ? Kind::Ping : Kind::Pong, payload, 0, 1};
        if (opcode == 1) message.kind = Kind::Text;
        if (opcode == 2) message.kind = Kind::Binary;
        message.data += payload;
        ++message.num_frames;
        if (is_last) return message;
    }
}

TestClient::Message TestClient::receive_data(std::chrono::milliseconds limit) {
    const auto deadline = Clock::now() + limit;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        const Message message = receive(left);
        if (message.kind == Kind::Text || message.kind == Kind::Binary) return message;
        if (message.kind == Kind::Close || message.kind == Kind::None) return {};
        if (message.kind == Kind::Ping) send_frame(10, message.data);
    }
}

bool wait_a_moment(Clock::time_point deadline) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(1ms);
    return true;
}

}  // namespace pliant::test

// With web_socket_client.cpp the only file that sees Boost: it takes long to compile.
#include "pliant/net/web_server.h"

#include "net/access.h"
#include "net/asio_setup.h"
#include "net/interface_addresses.h"
#include "net/listening_socket.h"
#include "net/reply_head.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace pliant {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
// the executor's own type instead of asio's type-erased one: less to compile and to call
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;
using Request = http::request<http::empty_body>;

constexpr std::uint32_t kMaxHeaderBytes = 16 * 1024;
constexpr std::size_t kMaxDrainedBytes = std::size_t{1} << 20;
constexpr std::uint64_t kPieceBytes = std::uint64_t{64} << 10;  // of a streamed body, in memory
constexpr int kMissedPings = 3;
constexpr std::chrono::seconds kClosingLimit{1};
constexpr std::chrono::milliseconds kDeadlineCheck{200};

constexpr const char* kWrongToken =
    "Pliant: this needs the access token.\n\n"
    "Please use the address printed in the terminal where Pliant was started; it ends in ?t=…\n";
constexpr const char* kWrongHost =
    "Pliant: this request came by another name or from another page.\n\n"
    "Please use the address printed in the terminal where Pliant was started.\n";

HttpReply text_reply(int status, std::string text) {
    return {.status = status, .body = std::make_shared<const std::string>(std::move(text))};
}

/// Whose connections count together: an address of version 4, the half of one of version 6 that a
/// provider gives away.
using Network = std::array<unsigned char, 8>;

Network network_of(const asio::ip::tcp::endpoint& endpoint) {
    Network network{};
    const asio::ip::address address = endpoint.address();
    const auto copy = [&](const auto& bytes, std::size_t from) {
        std::copy_n(bytes.begin() + from, std::min(network.size(), bytes.size() - from),
                    network.begin());
    };
    if (address.is_v4()) copy(address.to_v4().to_bytes(), 0);
    // version 4 through a socket of version 6 has its number behind the first half
    if (address.is_v6()) copy(address.to_v6().to_bytes(), address.to_v6().is_v4_mapped() ? 8 : 0);
    return network;
}

}  // namespace

struct WebServer::Impl {
    class Connection;

    struct Counters {
        std::atomic<std::uint64_t> requests{0}, refused{0}, messages{0}, dropped_messages{0};
        std::atomic<std::uint64_t> opened{0}, closed{0}, bytes_sent{0}, bytes_received{0};
    };

    Impl(const WebServerOptions& given, Handlers functions);
    ~Impl();
    void run();
    void accept();
    void take_connection(Socket socket);
    void make_room();
    void schedule_tick();
    void schedule_deadline_check();
    void stop();
    /// Calls a handler unless there is none or the server stops; counts what it throws.
    template <class... Parameters, class... Arguments>
    void call(const std::function<void(Parameters...)>& handler, Arguments... arguments);
    [[nodiscard]] Connection* find(Client client);
    [[nodiscard]] std::string url(const std::string& host) const {
        return "http://" + host + "/" + (options.token.empty() ? "" : "?t=" + options.token);
    }

    WebServerOptions options;
    Handlers handlers;
    ServedAddress served;
    Counters counters;
    asio::io_context context{1};
    Acceptor acceptor{context};
    Timer tick_timer{context}, deadline_timer{context};
    // by number: all connections, those that are WebSockets
    std::map<std::uint64_t, std::shared_ptr<Connection>> connections;
    std::map<Client, Connection*> clients;
    std::uint64_t last_number = 0;
    bool accept_failed = false, is_stopping = false;
    std::thread thread;
};

/// One TCP connection: requests one after the other, then perhaps a WebSocket. Every pending
/// operation holds a reference. Whatever waits for the client to speak has a deadline.
class WebServer::Impl::Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(Impl& server, Socket socket, std::uint64_t number, const Network& network,
               bool is_over_limit)
        : server_(server),
          stream_(std::move(socket)),
          number_(number),
          network_(network),
          is_over_limit_(is_over_limit),
          rate_(server.options.max_messages_per_second, Clock::now()) {}

    void read_request();
    bool send(SharedBytes message, bool is_text, std::size_t limit);
    void close();
    /// Ends the connection at once, whatever is pending.
    void finish();
    [[nodiscard]] std::size_t unsent_bytes() const { return unsent_; }
    [[nodiscard]] bool is_overdue(Clock::time_point now);
    /// Pings a client when it is time, and says so when it does not answer; true when it has not
    /// for too long.
    [[nodiscard]] bool is_silent(Clock::time_point now);
    /// How readily it is given up for a new one: 2 before it has shown the token, 1 between two
    /// requests, 0 never.
    [[nodiscard]] int spareness() const;
    [[nodiscard]] const Network& network() const { return network_; }

private:
    struct Message {
        SharedBytes bytes;
        bool is_text;
    };

    void expire_in(std::chrono::milliseconds time) { deadline_ = Clock::now() + time; }
    void on_request(error_code error, std::size_t bytes);
    [[nodiscard]] std::optional<HttpReply> refusal(const Request& request) const;
    [[nodiscard]] bool shows_token(const Request& request) const;
    void answer();
    void reply(HttpReply reply, bool keep_alive);
    /// Replies, and ends the connection.
    void end_with(int status, const char* text) { reply(text_reply(status, text), false); }
    void write_reply();
    void write_piece();
    void drain();
    void upgrade();
    void read_message();
    void on_message(error_code error, std::size_t bytes);
    void write_message();

    Impl& server_;
    // HTTP uses the layer below
    websocket::stream<Socket, false> stream_;
    const std::uint64_t number_;
    const Network network_;
    const bool is_over_limit_;
    bool is_client_ = false, is_finished_ = false, is_closing_ = false, is_writing_ = false;
    bool is_admitted_ = false, waits_for_request_ = false;
    Clock::time_point deadline_ = Clock::time_point::max();
    beast::flat_buffer buffer_;

    std::optional<http::request_parser<http::empty_body>> parser_;
    std::string head_;
    SharedBytes body_;         // of a streamed one, the piece that is on its way
    std::size_t written_ = 0;  // of head_ and body_
    std::optional<StreamedBody> streamed_;
    std::uint64_t streamed_bytes_ = 0;  // that were read
    bool keep_alive_ = false;

    RateLimit rate_;
    std::deque<Message> queue_;
    std::size_t unsent_ = 0;

    void heard();
    Clock::time_point next_ping_, heard_;
    int unanswered_pings_ = 0;
    bool is_pinging_ = false, is_told_silent_ = false;
    int in_system_ = 0;  // bytes that the client's machine has not taken, when they were looked at
};

// ---------------------------------------------------------------- HTTP

void WebServer::Impl::Connection::read_request() {
    expire_in(server_.options.request_limit);
    waits_for_request_ = true;
    parser_.emplace();
    parser_->header_limit(kMaxHeaderBytes);
    // bodies are refused by what the header says; none, Beast 1.74 takes for a limit of nothing
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
    http::async_read_header(stream_.next_layer(), buffer_, *parser_,
                            [self = shared_from_this()](error_code error, std::size_t bytes) {
                                self->on_request(error, bytes);
                            });
}

void WebServer::Impl::Connection::on_request(error_code error, std::size_t bytes) {
    if (is_finished_) return;
    waits_for_request_ = false;
    server_.counters.bytes_received += bytes;
    if (!error) return answer();
    // wrong syntax gets an answer; a connection that ended or broke gets none
    if (error.category() != http::make_error_code(http::error::bad_method).category() ||
        error == http::error::end_of_stream || error == http::error::partial_message)
        return finish();
    ++server_.counters.requests;
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
        return end_with(431, "The request's header is too long.\n");
    end_with(400, "This is not a valid HTTP request.\n");
}

std::optional<HttpReply> WebServer::Impl::Connection::refusal(const Request& request) const {
    if (request.method() != http::verb::get && request.method() != http::verb::head)
        return text_reply(405, "Only GET and HEAD are answered.\n");
    // foreign pages in the same browser
    const std::string_view host = request[http::field::host];
    if (request.count(http::field::host) != 1 || !is_own_host(host, server_.served))
        return text_reply(403, kWrongHost);
    const auto num_origins = request.count(http::field::origin);
    if (num_origins > 1 || (num_origins == 1 && !is_own_origin(request[http::field::origin], host)))
        return text_reply(403, kWrongHost);
    return std::nullopt;
}

/// In the address alone: a cookie would go to every other port of this computer as well.
bool WebServer::Impl::Connection::shows_token(const Request& request) const {
    const std::string& token = server_.options.token;
    return token.empty() || is_same_secret(query_value(request.target(), "t"), token);
}

void WebServer::Impl::Connection::answer() {
    const Request& request = parser_->get();
    ++server_.counters.requests;
    if (is_over_limit_)
        return end_with(503, "Too many connections; close a page and reload this one.\n");
    // a body would be the next request: refuse it, and end the connection
    const bool has_body = parser_->chunked() || parser_->content_length().value_or(0) > 0;
    const bool keep_alive = request.keep_alive() && !has_body;
    if (auto refused = refusal(request)) {
        ++server_.counters.refused;
        return reply(std::move(*refused), keep_alive);
    }
    const auto path = decoded_path(request.target());
    const auto ask = [&path](const auto& handler) -> std::optional<HttpReply> {
        try {
            if (path && handler) return handler(*path);
        } catch (...) {
            return text_reply(500, "Pliant could not answer this request.\n");
        }
        return std::nullopt;
    };
    const bool is_upgrade = websocket::is_upgrade(request), has_token = shows_token(request);
    if (has_token) is_admitted_ = true;
    // what is public needs no token, everything else does, mistakes too
    std::optional<HttpReply> found;
    if (!is_upgrade && !has_body) found = ask(server_.handlers.get_public);
    if (!found && !has_token) {
        ++server_.counters.refused;
        return reply(text_reply(403, kWrongToken), keep_alive);
    }
    if (has_body) return end_with(413, "No body is expected.\n");
    if (!path) return end_with(400, "This is not a path.\n");
    if (is_upgrade) return upgrade();
    if (!found) found = ask(server_.handlers.get);
    if (!found) found = text_reply(404, "There is no such page.\n");
    reply(std::move(*found), keep_alive);
}

void WebServer::Impl::Connection::reply(HttpReply reply, bool keep_alive) {
    // after wrong syntax, what there is of the request
    const Request& request = parser_->get();
    const bool is_stored = reply.status == 200 && !reply.content_type.starts_with("text/html") &&
                           !request.target().starts_with("/api");
    const std::string_view host = request[http::field::host];
    const bool is_own = is_own_host(host, server_.served);
    body_ = reply.body ? std::move(reply.body) : std::make_shared<const std::string>();
    streamed_ = std::move(reply.streamed);
    streamed_bytes_ = 0;
    head_ = reply_head({.status = reply.status,
                        .content_type = reply.content_type,
                        .content_length = streamed_ ? streamed_->size : body_->size(),
                        .keeps_alive = keep_alive,
                        .is_stored = is_stored,
                        .host = is_own ? std::string(host) : host_text(server_.served)});
    if (request.method() == http::verb::head) {
        body_ = std::make_shared<const std::string>();
        streamed_.reset();
    }
    keep_alive_ = keep_alive;
    written_ = 0;
    write_reply();
}

void WebServer::Impl::Connection::write_reply() {
    // what remains of head and body
    const std::size_t of_head = std::min(written_, head_.size());
    const std::size_t of_body = written_ - of_head;
    const std::array<asio::const_buffer, 2> rest = {asio::buffer(head_) + of_head,
                                                    asio::buffer(*body_) + of_body};
    deadline_ = Clock::time_point::max();
    stream_.next_layer().async_write_some(
        rest, [self = shared_from_this()](error_code error, std::size_t bytes) {
            Connection& my = *self;
            if (my.is_finished_) return;
            if (error) return my.finish();
            my.server_.counters.bytes_sent += bytes;
            my.written_ += bytes;
            if (my.written_ < my.head_.size() + my.body_->size()) return my.write_reply();
            my.body_.reset();
            if (my.streamed_ && my.streamed_bytes_ < my.streamed_->size) return my.write_piece();
            my.streamed_.reset();
            if (my.keep_alive_) return my.read_request();
            // unread bytes would reset the connection before the answer is read
            error_code ignored;
            my.stream_.next_layer().shutdown(Socket::shutdown_send, ignored);
            my.expire_in(kClosingLimit);
            my.written_ = 0;
            my.drain();
        });
}

void WebServer::Impl::Connection::write_piece() {
    std::string piece(std::min(kPieceBytes, streamed_->size - streamed_bytes_), '\0');
    std::size_t found = 0;
    try {
        found = streamed_->read(streamed_bytes_, piece);
    } catch (...) {
        // as if nothing were there
    }
    // what was promised is no longer there: only the end of the connection says so now
    if (found != piece.size()) return finish();
    streamed_bytes_ += found;
    head_.clear();
    written_ = 0;
    body_ = std::make_shared<const std::string>(std::move(piece));
    write_reply();
}

void WebServer::Impl::Connection::drain() {
    buffer_.clear();
    stream_.next_layer().async_read_some(
        buffer_.prepare(4096), [self = shared_from_this()](error_code error, std::size_t bytes) {
            self->written_ += bytes;
            if (error || self->is_finished_ || self->written_ > kMaxDrainedBytes)
                return self->finish();
            self->drain();
        });
}

// ---------------------------------------------------------------- WebSocket

void WebServer::Impl::Connection::upgrade() {
    // nothing may follow the request before its answer
    if (buffer_.size() > 0) return end_with(400, "Messages came before the handshake.\n");
    expire_in(server_.options.request_limit);
    stream_.read_message_max(server_.options.max_message_bytes);
    stream_.auto_fragment(false);
    stream_.control_callback([this](websocket::frame_type, std::string_view) { heard(); });
    stream_.async_accept(parser_->get(), [self = shared_from_this()](error_code error) {
        Connection& my = *self;
        if (error || my.is_finished_) return my.finish();
        my.parser_.reset();
        my.deadline_ = Clock::time_point::max();
        my.is_client_ = true;
        my.heard();
        my.server_.clients.emplace(my.number_, self.get());
        ++my.server_.counters.opened;
        my.server_.call(my.server_.handlers.opened, my.number_);
        my.read_message();
    });
}

void WebServer::Impl::Connection::read_message() {
    buffer_.clear();
    stream_.async_read(buffer_, [self = shared_from_this()](error_code error, std::size_t bytes) {
        self->on_message(error, bytes);
    });
}

void WebServer::Impl::Connection::on_message(error_code error, std::size_t bytes) {
    if (is_finished_) return;
    server_.counters.bytes_received += bytes;
    // closed, broken, too large or no text: Beast has told the client
    if (error) return finish();
    heard();
    if (!is_closing_) {
        if (rate_.take(Clock::now())) {
            const auto data = buffer_.cdata();
            const std::span<const std::byte> message(static_cast<const std::byte*>(data.data()),
                                                     data.size());
            ++server_.counters.messages;
            server_.call(server_.handlers.received, number_, message, stream_.got_text());
        } else {
            ++server_.counters.dropped_messages;
        }
    }
    read_message();
}

bool WebServer::Impl::Connection::send(SharedBytes message, bool is_text, std::size_t limit) {
    if (is_closing_ || is_finished_ || unsent_ > limit) return false;
    unsent_ += message->size();
    queue_.push_back({std::move(message), is_text});
    if (!is_writing_) write_message();
    return true;
}

void WebServer::Impl::Connection::write_message() {
    is_writing_ = true;
    const Message& message = queue_.front();
    stream_.text(message.is_text);
    stream_.async_write(asio::buffer(*message.bytes),
                        [self = shared_from_this()](error_code error, std::size_t bytes) {
                            Connection& my = *self;
                            // the read that is always pending ends with the connection
                            if (error || my.is_finished_) return;
                            my.is_writing_ = false;
                            my.server_.counters.bytes_sent += bytes;
                            my.unsent_ -= bytes;
                            my.queue_.pop_front();
                            if (my.is_closing_) return my.close();
                            if (!my.queue_.empty()) my.write_message();
                        });
}

bool WebServer::Impl::Connection::is_overdue(Clock::time_point now) {
    // Beast closes by itself after errors of the client, and then waits for its answer
    if (is_client_ && !stream_.is_open() && deadline_ == Clock::time_point::max())
        expire_in(kClosingLimit);
    return now > deadline_;
}

bool WebServer::Impl::Connection::is_silent(Clock::time_point now) {
    if (!is_client_ || is_closing_ || now < next_ping_) return false;
    next_ping_ = now + server_.options.ping_interval;
    const int before = in_system_;
    if (::ioctl(stream_.next_layer().native_handle(), SIOCOUTQ, &in_system_) != 0) in_system_ = 0;
    // a ping waits behind a message that is on its way: who goes on taking that is not silent
    if (is_pinging_ && in_system_ != before) heard();
    if (unanswered_pings_ > kMissedPings && now - heard_ > server_.options.stall_limit) {
        // nothing waits for it any longer: should it come back, it is told at once
        error_code ignored;
        stream_.next_layer().set_option(asio::socket_base::linger(true, 0), ignored);
        return true;
    }
    if (unanswered_pings_++ == kMissedPings) {
        is_told_silent_ = true;
        server_.call(server_.handlers.silent, number_);
    }
    if (is_pinging_) return false;
    is_pinging_ = true;
    stream_.async_ping({}, [self = shared_from_this()](error_code) { self->is_pinging_ = false; });
    return false;
}

void WebServer::Impl::Connection::heard() {
    unanswered_pings_ = 0;
    heard_ = Clock::now();
    if (std::exchange(is_told_silent_, false)) server_.call(server_.handlers.heard, number_);
}

int WebServer::Impl::Connection::spareness() const {
    if (is_over_limit_) return 0;
    if (!is_admitted_) return 2;
    return waits_for_request_ ? 1 : 0;
}

void WebServer::Impl::Connection::close() {
    is_closing_ = true;
    server_.clients.erase(number_);
    if (is_writing_) {
        // the message that is on its way is completed
        queue_.resize(1);
        return expire_in(server_.options.stall_limit);
    }
    expire_in(kClosingLimit);
    stream_.async_close(websocket::close_code::going_away,
                        [self = shared_from_this()](error_code) { self->finish(); });
}

void WebServer::Impl::Connection::finish() {
    if (std::exchange(is_finished_, true)) return;
    error_code ignored;
    stream_.next_layer().close(ignored);
    const auto self = shared_from_this();
    server_.connections.erase(number_);
    if (!is_client_) return;
    server_.clients.erase(number_);
    ++server_.counters.closed;
    server_.call(server_.handlers.closed, number_);
}

// ---------------------------------------------------------------- server

WebServer::Impl::Impl(const WebServerOptions& given, Handlers functions)
    : options(given), handlers(std::move(functions)) {
    const ListeningSocket socket = listen_on(options.address, options.port);
    acceptor.assign(socket.is_v6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), socket.descriptor);
    served = socket.served;
    accept();
    schedule_deadline_check();
    if (handlers.tick) {
        tick_timer.expires_at(Clock::now());
        schedule_tick();
    }
    thread = std::thread([this] { run(); });
}

WebServer::Impl::~Impl() {
    asio::post(context, [this] { stop(); });
    thread.join();
}

void WebServer::Impl::run() {
    for (;;) {
        try {
            context.run();
            return;
        } catch (...) {
            // out of memory, for one request or message: that one is lost
            ++counters.dropped_messages;
        }
    }
}

template <class... Parameters, class... Arguments>
void WebServer::Impl::call(const std::function<void(Parameters...)>& handler,
                           Arguments... arguments) {
    if (is_stopping || !handler) return;
    try {
        handler(arguments...);
    } catch (...) {
        ++counters.dropped_messages;
    }
}

void WebServer::Impl::accept() {
    acceptor.async_accept([this](error_code error, Socket socket) {
        if (is_stopping) return;
        // too many open files, no memory: the next check of deadlines tries again
        accept_failed = true;
        if (!error) take_connection(std::move(socket));
        if (error && error != asio::error::connection_aborted) return;
        accept_failed = false;
        accept();
    });
}

void WebServer::Impl::take_connection(Socket socket) {
    // those above the limit are told so, unless even they are too many
    const auto limit = static_cast<std::size_t>(std::max(options.max_connections, 1));
    if (connections.size() >= limit) make_room();
    if (connections.size() >= 2 * limit) return;
    error_code ignored;
    // not for programs that are started later
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    // the system ends connections that take nothing: it alone sees what is still in its buffer, and
    // tells slow from stalled by the byte
    const auto patience =
        static_cast<unsigned>(std::chrono::milliseconds(options.stall_limit).count());
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
    const auto endpoint = socket.remote_endpoint(ignored);
    const auto number = ++last_number;
    const auto connection = std::make_shared<Connection>(
        *this, std::move(socket), number, network_of(endpoint), connections.size() >= limit);
    connections.emplace(number, connection);
    connection->read_request();
}

/// Ends the oldest connection of the network that has the most of those that can be spared.
void WebServer::Impl::make_room() {
    int most_spare = 1;
    for (const auto& [number, connection] : connections)
        most_spare = std::max(most_spare, connection->spareness());
    std::map<Network, std::vector<Connection*>> spare;
    for (const auto& [number, connection] : connections)
        if (connection->spareness() == most_spare)
            spare[connection->network()].push_back(connection.get());
    const auto largest = std::max_element(spare.begin(), spare.end(), [](auto& a, auto& b) {
        return a.second.size() < b.second.size();
    });
    if (largest != spare.end()) largest->second.front()->finish();
}

void WebServer::Impl::schedule_tick() {
    tick_timer.async_wait([this](error_code error) {
        if (error || is_stopping) return;
        call(handlers.tick);
        // a late tick is not made up for
        tick_timer.expires_at(std::max(tick_timer.expiry() + handlers.interval, Clock::now()));
        schedule_tick();
    });
}

void WebServer::Impl::schedule_deadline_check() {
    deadline_timer.expires_after(kDeadlineCheck);
    deadline_timer.async_wait([this](error_code error) {
        if (error || is_stopping) return;
        const auto now = Clock::now();
        std::vector<std::shared_ptr<Connection>> overdue;
        for (const auto& [number, connection] : connections)
            if (connection->is_overdue(now) || connection->is_silent(now))
                overdue.push_back(connection);
        for (const auto& connection : overdue) connection->finish();
        if (std::exchange(accept_failed, false)) accept();
        schedule_deadline_check();
    });
}

void WebServer::Impl::stop() {
    is_stopping = true;
    error_code ignored;
    acceptor.close(ignored);
    tick_timer.cancel();
    deadline_timer.cancel();
    while (!connections.empty()) {
        const auto connection = connections.begin()->second;
        connection->finish();
    }
}

WebServer::Impl::Connection* WebServer::Impl::find(Client client) {
    assert(context.get_executor().running_in_this_thread());
    const auto found = clients.find(client);
    return found == clients.end() ? nullptr : found->second;
}

WebServer::WebServer(const WebServerOptions& options, Handlers handlers)
    : impl_(std::make_unique<Impl>(options, std::move(handlers))) {}

WebServer::~WebServer() = default;

int WebServer::port() const noexcept { return impl_->served.port; }

std::string WebServer::url() const { return impl_->url(host_text(impl_->served)); }

std::vector<std::string> WebServer::network_urls() const {
    std::vector<std::string> urls = network_hosts(impl_->served, interface_addresses());
    for (std::string& host : urls) host = impl_->url(host);
    return urls;
}

bool WebServer::is_open_to_network() const noexcept {
    return !is_loopback_address(impl_->served.address);
}

WebServerCounts WebServer::counts() const noexcept {
    const Impl::Counters& c = impl_->counters;
    const std::uint64_t closed =
        c.closed;  // before opened: a snapshot never closes more than it opened
    return {.requests = c.requests,
            .refused = c.refused,
            .messages = c.messages,
            .dropped_messages = c.dropped_messages,
            .opened = c.opened,
            .closed = closed,
            .bytes_sent = c.bytes_sent,
            .bytes_received = c.bytes_received};
}

bool WebServer::send(Client client, SharedBytes message, bool is_text, std::size_t limit) {
    assert(message);
    Impl::Connection* connection = impl_->find(client);
    return connection && connection->send(std::move(message), is_text, limit);
}

std::size_t WebServer::unsent_bytes(Client client) const {
    const Impl::Connection* connection = impl_->find(client);
    return connection ? connection->unsent_bytes() : 0;
}

void WebServer::close(Client client) {
    if (Impl::Connection* connection = impl_->find(client)) connection->close();
}

}  // namespace pliant

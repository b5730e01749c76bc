// With web_server.cpp the only file that sees Boost: it takes long to compile.
#include "pliant/net/web_socket_client.h"

#include "net/asio_setup.h"
#include "net/web_socket_url.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <fcntl.h>
#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace pliant {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

constexpr std::chrono::milliseconds kIdleTurn{20};  // while there is no connection

}  // namespace

struct WebSocketClient::Impl {
    class Connection;

    Impl(const WebSocketClientOptions& given, Handlers functions)
        : options(given),
          url(parse_web_socket_url(given.url)),
          endpoint(asio::ip::make_address(url.address), static_cast<unsigned short>(url.port)),
          handlers(std::move(functions)) {
        timer.expires_at(Clock::now());
        schedule_turn();
        thread = std::thread([this] { run(); });
    }
    ~Impl() {
        asio::post(context, [this] { stop(); });
        thread.join();
    }
    void run();
    void stop();
    void schedule_turn();
    void turn();
    void on_end(bool was_open);
    /// What a handler throws ends the connection.
    template <class... Parameters, class... Arguments>
    void call(const std::function<void(Parameters...)>& handler, Arguments... arguments);

    WebSocketClientOptions options;
    WebSocketUrl url;
    asio::ip::tcp::endpoint endpoint;
    Handlers handlers;
    asio::io_context context{1};
    Timer timer{context};
    std::shared_ptr<Connection> connection;
    Clock::time_point next_try{};
    std::atomic<bool> is_open{false};
    bool is_stopping = false;
    std::thread thread;
};

/// One try, and perhaps the connection it became. Every pending operation holds a reference.
class WebSocketClient::Impl::Connection : public std::enable_shared_from_this<Connection> {
public:
    explicit Connection(Impl& client)
        : client_(client),
          stream_(client.context),
          deadline_(Clock::now() + client.options.connect_limit) {}

    void start() {
        stream_.next_layer().async_connect(client_.endpoint,
                                           [self = shared_from_this()](error_code error) {
                                               if (!self->is_finished_)
                                                   error ? self->finish() : self->shake_hands();
                                           });
    }
    bool send(std::string message, bool is_text) {
        if (!is_open_ || is_finished_ || is_writing_) return false;
        is_writing_ = true;
        message_ = std::move(message);
        stream_.text(is_text);
        stream_.async_write(asio::buffer(message_),
                            [self = shared_from_this()](error_code error, std::size_t) {
                                self->is_writing_ = false;
                                if (error) self->finish();
                            });
        return true;
    }
    void finish() {
        if (std::exchange(is_finished_, true)) return;
        error_code ignored;
        stream_.next_layer().close(ignored);
        client_.on_end(is_open_);
    }
    [[nodiscard]] bool is_overdue(Clock::time_point now) const {
        return !is_open_ && now > deadline_;
    }

private:
    void shake_hands() {
        error_code ignored;
        Socket& socket = stream_.next_layer();
        ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
        socket.set_option(asio::ip::tcp::no_delay(true), ignored);
        stream_.read_message_max(client_.options.max_message_bytes);
        stream_.async_handshake(client_.url.host, client_.url.target,
                                [self = shared_from_this()](error_code error) {
                                    Connection& my = *self;
                                    if (my.is_finished_) return;
                                    if (error) return my.finish();
                                    my.is_open_ = true;
                                    my.client_.is_open = true;
                                    my.client_.call(my.client_.handlers.opened);
                                    my.read();
                                });
    }
    void read() {
        if (is_finished_) return;
        buffer_.clear();
        stream_.async_read(buffer_, [self = shared_from_this()](error_code error, std::size_t) {
            Connection& my = *self;
            if (my.is_finished_) return;
            if (error) return my.finish();
            const auto data = my.buffer_.cdata();
            const std::span<const std::byte> message(static_cast<const std::byte*>(data.data()),
                                                     data.size());
            my.client_.call(my.client_.handlers.received, message, my.stream_.got_text());
            my.read();
        });
    }

    Impl& client_;
    websocket::stream<Socket, false> stream_;
    Clock::time_point deadline_;
    beast::flat_buffer buffer_;
    std::string message_;
    bool is_open_ = false, is_writing_ = false, is_finished_ = false;
};

void WebSocketClient::Impl::run() {
    for (;;) {
        try {
            context.run();
            return;
        } catch (...) {
            // out of memory for one message: the connection begins anew
            if (connection) connection->finish();
        }
    }
}

void WebSocketClient::Impl::stop() {
    is_stopping = true;
    timer.cancel();
    if (connection) connection->finish();
}

template <class... Parameters, class... Arguments>
void WebSocketClient::Impl::call(const std::function<void(Parameters...)>& handler,
                                 Arguments... arguments) {
    if (is_stopping || !handler) return;
    try {
        handler(arguments...);
    } catch (...) {
        if (connection) connection->finish();
    }
}

void WebSocketClient::Impl::on_end(bool was_open) {
    connection.reset();
    is_open = false;
    next_try = Clock::now() + options.retry;
    if (was_open) call(handlers.closed);
}

void WebSocketClient::Impl::schedule_turn() {
    timer.async_wait([this](error_code error) {
        if (error || is_stopping) return;
        turn();
        const auto pause = is_open ? Clock::duration(handlers.interval) : kIdleTurn;
        // a late turn is not made up for
        timer.expires_at(std::max(timer.expiry() + pause, Clock::now()));
        schedule_turn();
    });
}

void WebSocketClient::Impl::turn() {
    const auto now = Clock::now();
    if (is_open) return call(handlers.tick);
    if (connection && connection->is_overdue(now)) {
        // it may delete itself
        const auto overdue = connection;
        overdue->finish();
    }
    if (!connection && now >= next_try) {
        connection = std::make_shared<Connection>(*this);
        connection->start();
    }
}

WebSocketClient::WebSocketClient(const WebSocketClientOptions& options, Handlers handlers)
    : impl_(std::make_unique<Impl>(options, std::move(handlers))) {}
WebSocketClient::~WebSocketClient() = default;

bool WebSocketClient::is_open() const noexcept { return impl_->is_open; }

bool WebSocketClient::send(std::string message, bool is_text) {
    return impl_->connection && impl_->connection->send(std::move(message), is_text);
}

void WebSocketClient::reconnect() {
    if (const auto ended = impl_->connection) ended->finish();
}

}  // namespace pliant

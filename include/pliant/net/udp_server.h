#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pliant {

/// Datagrams on one port and one thread of its own; each may be answered at once.
class UdpServer {
public:
    static constexpr std::size_t kMaxBytes = 1472;  ///< of a datagram; longer ones are dropped
    /// Datagrams that are taken in a second: of the favoured peer, whose address others may forge,
    /// and of all others together. When both had theirs the thread sleeps until the next interval,
    /// and the system drops what finds no room.
    static constexpr int kMaxOfFavoured = 100'000, kMaxOfOthers = 20'000;

    /// Called on the server's thread, perhaps before the constructor has returned. They must
    /// return soon and not throw.
    struct Handlers {
        /// `peer` stands for the sender's address and port. The answer must stay until the next
        /// call; empty: none.
        std::function<std::string_view(std::string_view peer, std::span<const std::byte> bytes)>
            received = {};
        /// About every `interval`.
        std::function<void()> tick = {};
        std::chrono::milliseconds interval{10};
    };

    /// Throws InputError when the port is taken or the address is none of this machine's.
    UdpServer(const std::string& address, int port, Handlers handlers);
    ~UdpServer();  ///< Joins the thread.
    UdpServer(const UdpServer&) = delete;
    UdpServer& operator=(const UdpServer&) = delete;

    [[nodiscard]] int port() const noexcept;  ///< that was found when 0 was asked for

    /// From handlers only. Datagrams of this peer get a queue and a limit of their own and are
    /// taken before each of the others', so that nobody drowns them. One peer at a time; empty, or
    /// nobody that can send datagrams: none.
    void favour(std::string_view peer);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant

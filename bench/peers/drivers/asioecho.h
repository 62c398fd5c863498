// The echo server of Boost.Asio: an io_context that accepts, and one for each processor,
// each with one thread, which get the connections in turn.
#ifndef PEERS_ASIOECHO_H
#define PEERS_ASIOECHO_H

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <memory>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

using boost::asio::ip::tcp;

struct EchoSession;

// EchoLoop is an io_context and its connections, which only its thread touches.
struct EchoLoop {
  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard = boost::asio::make_work_guard(io);
  std::unordered_set<std::shared_ptr<EchoSession>> sessions;
  std::thread thread{[this] { io.run(); }};
};

struct EchoSession : std::enable_shared_from_this<EchoSession> {
  EchoLoop &loop;
  tcp::socket socket;
  std::array<char, 4096> bytes;

  EchoSession(EchoLoop &l, tcp::socket s) : loop(l), socket(std::move(s)) {}

  void read() {
    socket.async_read_some(boost::asio::buffer(bytes), [self = shared_from_this()](const boost::system::error_code &e, size_t n) {
      if (e) return self->end();
      self->write(n);
    });
  }

  void write(size_t n) {
    boost::asio::async_write(socket, boost::asio::buffer(bytes, n), [self = shared_from_this()](const boost::system::error_code &e, size_t) {
      if (e) return self->end();
      self->read();
    });
  }

  void end() { loop.sessions.erase(shared_from_this()); }
};

class EchoServer {
 public:
  explicit EchoServer(int spinning) {
    unsigned processors = std::max(1u, std::thread::hardware_concurrency());
    for (unsigned i = 0; i < processors; i++) loops_.push_back(std::make_unique<EchoLoop>());
    acceptor_.listen(4096);
    boost::asio::post(boss_.io, [this] { accept(0); });
    for (int i = 0; i < spinning; i++) {
      spinning_.emplace_back([this] {
        while (spin_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }

  int port() const { return acceptor_.local_endpoint().port(); }

  void stop_spinning() {
    spin_ = false;
    for (auto &t : spinning_) t.join();
  }

  void stop() {
    boost::asio::post(boss_.io, [this] { acceptor_.close(); });
    end(boss_);
    for (auto &l : loops_) {
      boost::asio::post(l->io, [&l] {
        for (auto &s : l->sessions) s->socket.close(); // their handlers hear of it later
      });
    }
    for (auto &l : loops_) end(*l);
  }

 private:
  static void end(EchoLoop &l) {
    l.guard.reset();
    l.thread.join();
  }

  void accept(size_t next) {
    EchoLoop &l = *loops_[next];
    acceptor_.async_accept(l.io, [this, next, &l](const boost::system::error_code &e, tcp::socket s) {
      if (e) return;
      boost::asio::post(l.io, [&l, s = std::move(s)]() mutable {
        boost::system::error_code ignored;
        s.set_option(tcp::no_delay(true), ignored);
        auto session = std::make_shared<EchoSession>(l, std::move(s));
        l.sessions.insert(session);
        session->read();
      });
      accept((next + 1) % loops_.size());
    });
  }

  EchoLoop boss_;
  std::vector<std::unique_ptr<EchoLoop>> loops_;
  tcp::acceptor acceptor_{boss_.io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)};
  std::vector<std::thread> spinning_;
  std::atomic<bool> spin_{true};
};

#endif

// The driver of Boost.Asio: an io_context with one thread.
#include <utility>

#include <atomic>
#include <boost/asio.hpp>
#include <boost/version.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <semaphore.h>
#include <string>
#include <thread>
#include <vector>

#include "asioecho.h"
#include "wire.h"

namespace asio = boost::asio;

namespace {

struct Peer {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard = asio::make_work_guard(io);
  sem_t answer;
  std::thread thread;

  Peer() : thread([this] { io.run(); }) {
    sem_init(&answer, 0, 0);
    trip();
  }

  void wait() {
    while (sem_wait(&answer) != 0) {
    }
  }

  void trip() {
    asio::post(io, [this] { sem_post(&answer); });
    wait();
  }

  // stop lets what was posted run.
  void stop() {
    guard.reset();
    thread.join();
  }
};

void roundtrips(int64_t pause, int n) {
  Peer p;
  std::vector<int64_t> v;
  for (int i = 0; i < n; i++) {
    linger(pause);
    int64_t began = now_ns();
    p.trip();
    v.push_back(now_ns() - began);
  }
  p.stop();
  say_samples(v.data(), n);
}

void execute(int producers, int n) {
  Peer p;
  const int share = std::max(1, n / producers), total = share * producers;
  int ran = 0;
  std::promise<void> go;
  std::shared_future<void> start = go.get_future().share();
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < producers; i++) {
    threads.emplace_back([&] {
      ready++;
      start.wait();
      for (int k = 0; k < share; k++) {
        asio::post(p.io, [&ran, total, &p] {
          if (++ran == total) sem_post(&p.answer);
        });
      }
    });
  }
  while (ready < producers) std::this_thread::yield();
  int64_t began = now_ns();
  go.set_value();
  p.wait();
  int64_t elapsed = now_ns() - began;
  for (auto &t : threads) t.join();
  p.stop();
  say_ops(total, elapsed);
}

constexpr int kBatch = 64, kPending = 1000;

void in_loop(int n) {
  Peer p;
  int turns = std::max(1, n / (kBatch + 1)), left = turns;
  std::function<void()> turn = [&] {
    if (--left < 0) {
      sem_post(&p.answer);
      return;
    }
    for (int i = 0; i < kBatch; i++) asio::post(p.io, [] {});
    asio::post(p.io, [&] { turn(); });
  };
  int64_t began = now_ns();
  asio::post(p.io, [&] { turn(); });
  p.wait();
  int64_t elapsed = now_ns() - began;
  p.stop();
  say_ops(int64_t(turns) * (kBatch + 1), elapsed);
}

// stamps submits n tasks at rate per second, or with 0 as fast as it can. As in Offer of
// package bench a latency counts from when the task is due.
void stamps(Peer &p, int64_t rate, std::vector<int64_t> &due, std::vector<int64_t> &begun) {
  const int n = int(due.size());
  int next = 0;
  int64_t began = now_ns();
  for (int i = 0; i < n; i++) {
    if (rate > 0) {
      due[i] = began + int64_t(i) * 1000000000 / rate;
      while (now_ns() < due[i]) std::this_thread::yield();
    } else {
      due[i] = now_ns();
    }
    asio::post(p.io, [&next, &begun, n, &p] {
      begun[next] = now_ns();
      if (++next == n) sem_post(&p.answer);
    });
  }
  p.wait();
}

void peak(int n) {
  Peer p;
  std::vector<int64_t> due(n), begun(n);
  int64_t began = now_ns();
  stamps(p, 0, due, begun);
  int64_t elapsed = now_ns() - began;
  p.stop();
  say_ops(n, elapsed);
}

// latency measures n tasks that follow warm others.
void latency(int64_t rate, int warm, int n) {
  Peer p;
  std::vector<int64_t> due(warm + n), begun(warm + n);
  stamps(p, rate, due, begun);
  p.stop();
  for (int i = 0; i < n; i++) begun[i] = begun[warm + i] - due[warm + i];
  say_samples(begun.data(), n);
}

// A timer of Asio may be touched by one thread at a time, so they are the loop's.
void schedule_cancel(int n) {
  Peer p;
  std::mt19937_64 random(1);
  auto far = [&] { return std::chrono::nanoseconds(3600000000000LL + int64_t(random() % 3600000000000ULL)); };
  std::vector<std::unique_ptr<asio::steady_timer>> others, fresh;
  int batches = std::max(1, n / kBatch);
  int64_t elapsed = 0;
  asio::post(p.io, [&] {
    for (int i = 0; i < kPending; i++) {
      others.push_back(std::make_unique<asio::steady_timer>(p.io, far()));
      others.back()->async_wait([](const boost::system::error_code &) {});
    }
    for (int i = 0; i < kBatch; i++) fresh.push_back(std::make_unique<asio::steady_timer>(p.io));
    sem_post(&p.answer);
  });
  p.wait();
  int left = batches;
  std::function<void()> turn = [&] {
    if (--left < 0) {
      sem_post(&p.answer);
      return;
    }
    for (auto &t : fresh) {
      t->expires_after(far());
      t->async_wait([](const boost::system::error_code &) {});
    }
    for (auto &t : fresh) t->cancel();
    asio::post(p.io, [&] { turn(); });
  };
  int64_t began = now_ns();
  asio::post(p.io, [&] { turn(); });
  p.wait();
  elapsed = now_ns() - began;
  asio::post(p.io, [&] {
    others.clear();
    fresh.clear();
  });
  p.stop();
  say_ops(int64_t(batches) * kBatch, elapsed);
}

void lateness(int n) {
  Peer p;
  std::vector<int64_t> late(n);
  std::vector<std::unique_ptr<asio::steady_timer>> timers;
  int left = n;
  asio::post(p.io, [&] {
    for (int i = 0; i < n; i++) {
      int64_t delay = 1000000LL * (1 + i % 20) + 7000LL * (i % 100), due = now_ns() + delay;
      timers.push_back(std::make_unique<asio::steady_timer>(p.io, std::chrono::nanoseconds(delay)));
      timers.back()->async_wait([&, i, due](const boost::system::error_code &) {
        late[i] = now_ns() - due;
        if (--left == 0) sem_post(&p.answer);
      });
    }
  });
  p.wait();
  p.stop();
  say_samples(late.data(), n);
}

void shutdowns(int n) {
  std::vector<int64_t> v;
  for (int i = 0; i < n; i++) {
    Peer p;
    linger(200000);
    int64_t began = now_ns();
    p.stop();
    v.push_back(now_ns() - began);
  }
  say_samples(v.data(), n);
}

void backlog(int tasks) {
  Peer p;
  std::promise<void> hold, held;
  asio::post(p.io, [&] {
    held.set_value();
    hold.get_future().wait();
  });
  held.get_future().wait();
  std::atomic<int64_t> ran{0};
  for (int i = 0; i < tasks; i++) asio::post(p.io, [&] { ran++; });
  int64_t began = now_ns();
  hold.set_value();
  p.stop();
  printf("ok ops=1 elapsed=%lld lost=%lld\n", (long long)(now_ns() - began), (long long)(tasks - ran));
}

std::unique_ptr<EchoServer> server;

void echo_start(int spinning) {
  server = std::make_unique<EchoServer>(spinning);
  printf("ok port=%d\n", server->port());
}

void echo_stop() {
  server->stop_spinning();
  int64_t began = now_ns();
  server->stop();
  say_ops(1, now_ns() - began);
  server.reset();
}

bool is(const char *line, const char *word) { return word_is(line, word); }

}  // namespace

int main() {
  char line[4096];
  as_many_descriptors_as_allowed();
  one_arena();
  while (fgets(line, sizeof line, stdin) != nullptr) {
    if (is(line, "about")) printf("ok version=%d.%d\n", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000);
    else if (is(line, "execute")) execute(int(arg(line, "producers")), int(arg(line, "n")));
    else if (is(line, "inloop")) in_loop(int(arg(line, "n")));
    else if (is(line, "roundtrip")) roundtrips(arg(line, "pause"), int(arg(line, "n")));
    else if (is(line, "peak")) peak(int(arg(line, "n")));
    else if (is(line, "latency")) latency(arg(line, "rate"), int(arg(line, "warm")), int(arg(line, "n")));
    else if (is(line, "schedulecancel") && strstr(line, "where=loop")) schedule_cancel(int(arg(line, "n")));
    else if (is(line, "schedulecancel")) printf("none a timer of Asio may be used by one thread at a time\n");
    else if (is(line, "lateness")) lateness(int(arg(line, "n")));
    else if (is(line, "shutdown")) shutdowns(int(arg(line, "n")));
    else if (is(line, "backlog")) backlog(int(arg(line, "tasks")));
    else if (is(line, "overshoot")) printf("none Asio has no quiet period\n");
    else if (is(line, "echo-start")) echo_start(int(option(line, "burn")));
    else if (is(line, "echo-stop")) echo_stop();
    else if (is(line, "memory")) say_memory();
    else printf("error \"unknown request\"\n");
    fflush(stdout);
  }
}

#include "io/worker_pool.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/sanitized.h"

namespace msdump {
namespace {

using std::chrono::microseconds;

TEST_CASE("a loop runs each index once whatever the number of jobs") {
  for (const unsigned jobs : {0U, 1U, 2U, 3U, 8U}) {
    CAPTURE(jobs);
    WorkerPool pool(jobs);
    CHECK(pool.jobs() == std::max(jobs, 1U));
    for (const int64_t count : {-1, 0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> runs(1000);
      pool.parallel_for(count, [&](int64_t i) { ++runs[static_cast<size_t>(i)]; });
      for (size_t i = 0; i < runs.size(); ++i) CHECK(runs[i] == (static_cast<int64_t>(i) < count ? 1 : 0));
    }
  }
}

TEST_CASE("no more than the number of jobs run at a time") {
  WorkerPool pool(3);
  std::atomic<int> running = 0, most = 0;
  pool.parallel_for(60, [&](int64_t) {
    const int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(microseconds(200));
    --running;
  });
  CHECK(most <= 3);
}

TEST_CASE("loops nest in loops") {
  WorkerPool pool(4);
  std::atomic<int64_t> sum = 0;
  pool.parallel_for(8, [&](int64_t i) {
    pool.parallel_for(8, [&](int64_t j) { pool.parallel_for(8, [&](int64_t k) { sum += i * 64 + j * 8 + k; }); });
  });
  CHECK(sum == 511 * 512 / 2);
}

TEST_CASE("an exception of a body stops the loop and comes out of it") {
  for (const unsigned jobs : {1U, 4U}) {
    WorkerPool pool(jobs);
    std::atomic<int> runs = 0;
    const auto loop = [&] {
      pool.parallel_for(100000, [&](int64_t i) {
        ++runs;
        if (i == 3) throw std::runtime_error("three");
      });
    };
    CHECK_THROWS_WITH(loop(), "three");
    CHECK(runs < 100000);
    // The pool is as good as new.
    std::atomic<int> after = 0;
    pool.parallel_for(10, [&](int64_t) { ++after; });
    CHECK(after == 10);
  }
}

TEST_CASE("an exception of an inner loop ends the outer one") {
  WorkerPool pool(3);
  const auto loop = [&] {
    pool.parallel_for(5, [&](int64_t i) {
      pool.parallel_for(5, [&](int64_t j) {
        if (i == 2 && j == 2) throw std::runtime_error("inner");
      });
    });
  };
  CHECK_THROWS_WITH(loop(), "inner");
}

TEST_CASE("results are collected in order whatever finishes first") {
  for (const unsigned jobs : {1U, 2U, 5U}) {
    for (const int64_t window : {int64_t{1}, int64_t{2}, int64_t{4096}}) {
      CAPTURE(jobs, window);
      WorkerPool pool(jobs);
      std::vector<int64_t> order;
      pool.ordered_for(
          200,
          [](int64_t i) {
            if (i % 7 == 0) std::this_thread::sleep_for(microseconds(100));
            return std::make_unique<int64_t>(i * i);
          },
          [&](int64_t i, std::unique_ptr<int64_t>&& square) {
            CHECK(*square == i * i);
            order.push_back(i);
          },
          window);
      REQUIRE(order.size() == 200);
      CHECK(std::is_sorted(order.begin(), order.end()));
    }
  }
}

TEST_CASE("no worker starts further ahead of the first result not collected than the window") {
  WorkerPool pool(4);
  std::atomic<int64_t> collected = 0, furthest = 0;
  pool.ordered_for(
      100,
      [&](int64_t i) {
        const int64_t ahead = i - collected;
        for (int64_t seen = furthest; seen < ahead && !furthest.compare_exchange_weak(seen, ahead);) {
        }
        if (i % 10 == 0) std::this_thread::sleep_for(microseconds(500));
        return i;
      },
      [&](int64_t i, int64_t&&) { collected = i + 1; }, 3);
  CHECK(collected == 100);
  CHECK(furthest <= 3);
}

TEST_CASE("exceptions of work and of collecting come out of an ordered loop") {
  for (const unsigned jobs : {1U, 4U}) {
    CAPTURE(jobs);
    WorkerPool pool(jobs);
    std::vector<int64_t> collected;
    const auto work_fails = [&] {
      pool.ordered_for(
          500,
          [](int64_t i) {
            if (i == 20) throw std::runtime_error("work");
            return i;
          },
          [&](int64_t i, int64_t&&) { collected.push_back(i); }, 2);
    };
    CHECK_THROWS_WITH(work_fails(), "work");
    CHECK(collected.size() <= 20);
    CHECK(std::is_sorted(collected.begin(), collected.end()));
    const auto collect_fails = [&] {
      pool.ordered_for(
          500, [](int64_t i) { return i; },
          [&](int64_t i, int64_t&&) {
            if (i == 20) throw std::runtime_error("collect");
          },
          2);
    };
    CHECK_THROWS_WITH(collect_fails(), "collect");
  }
}

TEST_CASE("ordered loops nest in ordered loops") {
  WorkerPool pool(3);
  std::string text;
  pool.ordered_for(
      10,
      [&](int64_t i) {
        std::string line;
        pool.ordered_for(
            10, [&](int64_t j) { return std::to_string(i * 10 + j) + ' '; },
            [&](int64_t, std::string&& word) { line += word; }, 2);
        return line;
      },
      [&](int64_t, std::string&& line) { text += line; }, 2);
  std::string expected;
  for (int i = 0; i < 100; ++i) expected += std::to_string(i) + ' ';
  CHECK(text == expected);
}

TEST_CASE("loops of several threads share a pool") {
  WorkerPool pool(3);
  std::atomic<int64_t> runs = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int loop = 0; loop < 50; ++loop) pool.parallel_for(20, [&](int64_t) { ++runs; });
      });
    }
  }
  CHECK(runs == 4 * 50 * 20);
}

TEST_CASE("pools come and go") {
  for (int i = 0; i < 100; ++i) {
    WorkerPool pool(4);
    if (i % 2 == 0) pool.parallel_for(4, [](int64_t) {});
  }
}

#ifndef MSDUMP_UNDER_SANITIZER
TEST_CASE("a pool makes do with the threads the system gives") {
  // In a process of its own that may not map the stacks of 2000 threads; 0 says that the loop has run.
  constexpr int kNoLimit = 2;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);
    const struct rlimit limit = {rlim_t{1} << 30, rlim_t{1} << 30};
    ::setrlimit(RLIMIT_AS, &limit);
    const void* const more =
        ::mmap(nullptr, size_t{2} << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (more != MAP_FAILED) ::_exit(kNoLimit);
    WorkerPool pool(2000);
    std::atomic<int> runs = 0;
    pool.parallel_for(100, [&](int64_t) { ++runs; });
    ::_exit(runs == 100 && pool.jobs() < 2000 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoLimit) {
    WARN("not tried: memory cannot be limited here (qemu-user)");
    return;
  }
  CHECK(status == 0);
}
#endif

}  // namespace
}  // namespace msdump

// One stream of chance for a random network: each seed gives one network.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>

namespace msdump::test {

class NetRandom {
 public:
  explicit NetRandom(uint64_t seed) : engine_(seed) {}

  [[nodiscard]] std::mt19937_64& engine() { return engine_; }
  uint64_t number() { return engine_(); }
  double uniform() { return std::uniform_real_distribution<>(0, 1)(engine_); }
  bool chance(double share) { return uniform() < share; }
  float normal() { return std::normal_distribution<float>(0, 1)(engine_); }
  template <class Items>
  const auto& one_of(const Items& items) {
    return items[engine_() % items.size()];
  }
  int64_t pick(std::initializer_list<int64_t> items) { return *(items.begin() + engine_() % items.size()); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace msdump::test

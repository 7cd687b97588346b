// What the operators of a kind have of an error is the most that they add of their own. Some add less than others, as one
// that multiplies by a power of two: not the smallest error bounds the kind, but a low share of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace msdump {

class NoiseBounds {
 public:
  explicit NoiseBounds(size_t kinds) : kinds_(kinds) {}
  void add(uint32_t kind, uint32_t op, double error) { kinds_[kind].push_back({error, op}); }
  void sort();  // once all are added
  // Of the operators of the kind other than `op`; infinite without any.
  [[nodiscard]] double without(uint32_t kind, uint32_t op) const;

 private:
  struct Bound {
    double error;
    uint32_t op;
    bool operator<(const Bound& other) const { return error < other.error; }
  };
  std::vector<std::vector<Bound>> kinds_;
};

}  // namespace msdump

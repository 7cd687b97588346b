// A list that keeps its first items and counts all: what is wrong with an input, which may be as much as it has lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.h"

namespace msdump {

template <class T>
class CappedList {
 public:
  static constexpr size_t kMost = 20;

  void add(T item) {
    ++count_;
    if (!is_full()) first_.push_back(std::move(item));
  }
  void add(CappedList more) {
    count_ += more.count_;
    for (T& item : more.first_) {
      if (!is_full()) first_.push_back(std::move(item));
    }
  }
  void count_more(uint64_t count) { count_ += count; }
  void clear() { *this = {}; }

  [[nodiscard]] bool is_full() const { return first_.size() == kMost; }
  [[nodiscard]] uint64_t count() const { return count_; }  // also of those that were not kept
  [[nodiscard]] const std::vector<T>& first() const { return first_; }

  // Of the first items.
  [[nodiscard]] size_t size() const { return first_.size(); }
  [[nodiscard]] bool empty() const { return first_.empty(); }
  [[nodiscard]] const T& operator[](size_t i) const { return first_[i]; }
  [[nodiscard]] auto begin() const { return first_.begin(); }
  [[nodiscard]] auto end() const { return first_.end(); }
  [[nodiscard]] auto begin() { return first_.begin(); }
  [[nodiscard]] auto end() { return first_.end(); }

 private:
  std::vector<T> first_;
  uint64_t count_ = 0;
};

using ProblemList = CappedList<Error>;

// The first `most` problems; if there are more, also one that counts them: "12 more like these".
[[nodiscard]] std::vector<Error> errors_of(const ProblemList& problems, size_t most = ProblemList::kMost);

}  // namespace msdump

// Index<Tag>: the position of one kind of thing (a tensor, an operator, a file) in its list. Indices of different kinds do
// not convert to each other or to numbers, so none is taken for another.
//
//   using TensorId = Index<struct TensorTag>;
//   IndexVector<TensorId, TensorFacts> facts(tensors);
//   for (const TensorId tensor : facts.ids()) use(facts[tensor]);
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace msdump {

template <class Tag>
class Index {
 public:
  constexpr Index() = default;  // none
  template <std::integral T>
  constexpr explicit Index(T value) : value_(static_cast<uint32_t>(value)) {}

  [[nodiscard]] constexpr bool is_none() const { return value_ == kNone; }
  [[nodiscard]] constexpr uint32_t value() const { return value_; }
  constexpr auto operator<=>(const Index&) const = default;  // none comes last
  constexpr Index& operator++() {
    ++value_;
    return *this;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t value_ = kNone;
};

// The indices from 0 on, as a range for loops.
template <class Id>
class IndexRange {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(Id at) : at_(at) {}
    constexpr Id operator*() const { return at_; }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    constexpr bool operator==(const Iterator&) const = default;

   private:
    Id at_;
  };

  constexpr explicit IndexRange(size_t count) : count_(count) {}
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(Id(size_t{0})); }
  [[nodiscard]] constexpr Iterator end() const { return Iterator(Id(count_)); }

 private:
  size_t count_;
};

// A vector whose elements are found by one kind of index.
template <class Id, class T>
class IndexVector {
 public:
  IndexVector() = default;
  explicit IndexVector(size_t count, const T& value = {}) : items_(count, value) {}
  explicit IndexVector(std::vector<T> items) : items_(std::move(items)) {}

  [[nodiscard]] decltype(auto) operator[](Id id) { return items_[id.value()]; }
  [[nodiscard]] decltype(auto) operator[](Id id) const { return items_[id.value()]; }
  Id push_back(T item) {
    items_.push_back(std::move(item));
    return Id(items_.size() - 1);
  }
  void assign(size_t count, const T& value) { items_.assign(count, value); }
  void resize(size_t count, const T& value = {}) { items_.resize(count, value); }
  void reserve(size_t count) { items_.reserve(count); }
  void clear() { items_.clear(); }

  [[nodiscard]] size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] IndexRange<Id> ids() const { return IndexRange<Id>(items_.size()); }
  [[nodiscard]] auto begin() { return items_.begin(); }
  [[nodiscard]] auto end() { return items_.end(); }
  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.end(); }
  [[nodiscard]] const std::vector<T>& items() const { return items_; }

 private:
  std::vector<T> items_;
};

}  // namespace msdump

template <class Tag>
struct std::hash<msdump::Index<Tag>> {
  [[nodiscard]] size_t operator()(msdump::Index<Tag> id) const noexcept { return std::hash<uint32_t>()(id.value()); }
};

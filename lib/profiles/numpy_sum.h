// The sum of an array, equal to numpy's to the bit, for tools that print such sums: np.sum, np.mean and np.linalg.norm
// along an axis of contiguous numbers.
//
//   1. chunks of 8192 numbers from the first on (numpy's buffer, np.getbufsize()), added to the total in order
//   2. a chunk of more than 128 numbers is two halves, the first rounded down to a multiple of 8, each summed likewise
//   3. up to 128 numbers are added to eight sums, the i-th to sum i mod 8, and these as a tree; numbers beyond a multiple
//      of 8 come last. Fewer than 8 are added in order
//
// Source: numpy 1.24, read and run. numpy 2 adds in the same order.
#pragma once

#include <cstdint>

namespace msdump {

inline constexpr int64_t kNumpyChunk = 8192;

// T is float or double.
template <class T>
class NumpySum {
 public:
  // The next chunk: kNumpyChunk numbers; the last one has the rest.
  void add(const T* numbers, int64_t count);
  [[nodiscard]] T total() const { return total_; }
  // As np.mean: divided as doubles, then rounded to T.
  [[nodiscard]] T mean(int64_t count) const {
    return static_cast<T>(static_cast<double>(total_) / static_cast<double>(count));
  }

 private:
  T total_ = 0;
};

extern template class NumpySum<float>;
extern template class NumpySum<double>;

}  // namespace msdump

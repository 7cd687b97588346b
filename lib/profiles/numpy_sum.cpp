#include "profiles/numpy_sum.h"

#include <cassert>

namespace msdump {
namespace {

constexpr int64_t kLeaf = 128, kSums = 8;

template <class T>
T leaf_sum(const T* numbers, int64_t count) {
  if (count < kSums) {
    T sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += numbers[i];
    return sum;
  }
  T sums[kSums];
  for (int64_t j = 0; j < kSums; ++j) sums[j] = numbers[j];
  const int64_t whole = count - count % kSums;
  for (int64_t i = kSums; i < whole; i += kSums) {
    for (int64_t j = 0; j < kSums; ++j) sums[j] += numbers[i + j];
  }
  T sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  for (int64_t i = whole; i < count; ++i) sum += numbers[i];
  return sum;
}

// At most log2(kNumpyChunk / 64) deep.
template <class T>
T tree_sum(const T* numbers, int64_t count) {
  if (count <= kLeaf) return leaf_sum(numbers, count);
  const int64_t half = count / 2 - count / 2 % kSums;
  return tree_sum(numbers, half) + tree_sum(numbers + half, count - half);
}

}  // namespace

template <class T>
void NumpySum<T>::add(const T* numbers, int64_t count) {
  assert(count <= kNumpyChunk);
  total_ += tree_sum(numbers, count);
}

template class NumpySum<float>;
template class NumpySum<double>;

}  // namespace msdump

// The promise: how much memory a command may use at most. Every bound that the tests check stands here.
#pragma once

#include <cstdint>

namespace msdump::limits {

// `base` for the program and its buffers, and `per_unit` for each unit of the input: a tensor, an operator, a byte.
struct Bound {
  int64_t base;     // MiB
  double per_unit;  // bytes
};

// The size of a tensor does not count: slabs do, per thread. -j says how many; these are for -j2 unless they say
// otherwise.
inline constexpr Bound kOfTensorSize{64, 0};

// Files that are read piece by piece.
inline constexpr Bound kOfStream{32, 0};

inline constexpr Bound kOfHeaderMiB{64, 2 << 20};
inline constexpr Bound kOfTensor{48, 1024};
inline constexpr Bound kOfRow{48, 2048};
inline constexpr Bound kOfCall{48, 8192};
inline constexpr Bound kOfJsonByte{48, 24};
inline constexpr Bound kOfComparedTensor{48, 3072};
inline constexpr Bound kOfPickleValue{48, 200};
// A list on standard input: four million entries at most, with their text.
inline constexpr Bound kOfList{192, 1};
// A file that cannot be read: its error, with path, message and hint, in the report and on stderr.
inline constexpr Bound kOfFailure{48, 6144};
// A file without a byte: its error and the finding about it.
inline constexpr Bound kOfEmptyFile{48, 2048};
inline constexpr Bound kOfStep{48, 64 << 10};
inline constexpr Bound kOfManyThreads{256, 0};
inline constexpr Bound kOfOperator{48, 8192};
inline constexpr Bound kOfDrawing{192, 8192};
inline constexpr Bound kOfIrByte{48, 16};

}  // namespace msdump::limits

// Bounds of work that a file could make large. What lies beyond is tried less thoroughly; where that may change an answer, a
// ReachedLimit says so.
#pragma once

#include <cstddef>

namespace msdump {

inline constexpr size_t kMostTried = 64;     // partners, places, neighbours or inputs of one thing
inline constexpr size_t kMostRounds = 32;    // passes over everything, each of which may find more
inline constexpr size_t kLongestName = 512;  // of two that are compared part by part; longer ones are equal or not
inline constexpr size_t kNamedInText = 3;    // of a list, in a sentence

}  // namespace msdump

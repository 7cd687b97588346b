// Bounds of work that a file could make large. What lies beyond is tried less thoroughly; where that may change an answer, a
// ReachedLimit says so.
#pragma once

#include <cstddef>

namespace msdump {

inline constexpr size_t kFewTried = 8;          // where each costs a search, or a comparison of tensors
inline constexpr size_t kMostTried = 64;        // partners, places, neighbours, levels or inputs of one thing
inline constexpr size_t kMostAxes = 4;          // that are permuted, or sharded one by one
inline constexpr size_t kMostFollowed = 1024;   // operators, tensors or placements that lie between two things
inline constexpr size_t kMostRounds = 32;       // passes over everything, each of which may find more
inline constexpr size_t kMostStated = 100'000;  // entries of a list that a user's file states or an option asks for
inline constexpr size_t kLongestName = 512;     // of two that are compared part by part; longer ones are equal or not
inline constexpr size_t kNamedInText = 3;       // of a list, in a sentence

}  // namespace msdump

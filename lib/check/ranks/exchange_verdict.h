// What can be said of an exchange of values between ranks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "check/rules/finding.h"

namespace msdump::check {

struct ExchangeVerdict {
  enum class Kind : uint8_t {
    kUnknown,
    kFits,   // what came out is proven by what went in
    kApart,  // ranks got different results
    kWrong,  // what came out is not what went in
  };
  // What is in the way of a verdict, the least first.
  enum class Obstacle : uint8_t {
    kConstant,    // nothing: what came out fits, but many other values would, zeros for example
    kValues,      // they are not known, or tell nothing
    kEarly,       // it may not have ended when it was dumped
    kOtherAxis,   // parts are cut along a dimension other than the first
    kIncomplete,  // ranks of the group are not in the dump
    kShared,      // what went in shows what came out
    kUnsaid,      // which rank, or which reduction, is not said or not known
  };
  Kind kind = Kind::kUnknown;
  Obstacle obstacle = Obstacle::kValues;  // of kUnknown
  bool proven = false;                    // also if the group is a guess
  bool only_rounding = false;             // kApart
  std::vector<int64_t> odd;               // the ranks that it lies on; empty: nobody can tell
  uint32_t tensor = kNone;                // that shows it
  double value = 0;                       // the largest error
  std::string message;
};

[[nodiscard]] inline ExchangeVerdict unknown_verdict(ExchangeVerdict::Obstacle obstacle) {
  ExchangeVerdict verdict;
  verdict.obstacle = obstacle;
  return verdict;
}

// What came out is what went in; `telling`: and hardly anything else would be.
[[nodiscard]] inline ExchangeVerdict fitting_verdict(bool telling) {
  ExchangeVerdict verdict;
  verdict.kind = telling ? ExchangeVerdict::Kind::kFits : ExchangeVerdict::Kind::kUnknown;
  verdict.obstacle = ExchangeVerdict::Obstacle::kConstant;
  return verdict;
}

// Of the parts of an exchange the one that tells more, and the worse.
[[nodiscard]] inline ExchangeVerdict worse(ExchangeVerdict a, ExchangeVerdict b) {
  return std::pair(b.kind, b.obstacle) > std::pair(a.kind, a.obstacle) ? std::move(b) : std::move(a);
}

}  // namespace msdump::check

#include "history/account.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace msdump::history {
namespace {

constexpr size_t kMostNightsBack = 400;
constexpr size_t kEnoughNights = 3;
constexpr double kTwice = 2, kTenTimes = 10, kRounding = 0.02;

bool is_below(double before, double now, double times = kTwice) {
  return std::isinf(now) ? !std::isinf(before) : times * before <= now;
}

// The largest finite error; of NaN and other shapes alone, 0.
double largest_error(const Night& night) {
  double largest = 0;
  for (const ScopeError& one : night.scopes) {
    if (!std::isinf(one.error)) largest = std::max(largest, one.error);
  }
  return largest;
}

// Null if the night has no such layer. `likely`: its place, if the nights have the same layers.
const ScopeError* find_scope(const Night& night, std::string_view scope, size_t likely) {
  if (likely < night.scopes.size() && night.scopes[likely].scope == scope) return &night.scopes[likely];
  for (const ScopeError& one : night.scopes) {
    if (one.scope == scope) return &one;
  }
  return nullptr;
}

// `judged`: nights that were judged, of which the last is tonight's.
std::optional<Movement> movement_of(const std::vector<Night>& nights, const std::vector<size_t>& judged,
                                    size_t number) {
  const ScopeError& tonight = nights[judged.back()].scopes[number];
  const auto scope_at = [&](size_t i) { return find_scope(nights[judged[i]], tonight.scope, number); };
  const size_t oldest = judged.size() - std::min(judged.size(), kMostNightsBack);
  if (tonight.accepted > 0 && !is_below(tonight.accepted, tonight.error)) return std::nullopt;
  std::optional<size_t> quiet;  // the last night before it grew
  for (size_t i = judged.size() - 1; i-- > oldest && !quiet;) {
    const ScopeError* const then = scope_at(i);
    if (then == nullptr) continue;
    if (is_below(then->error, tonight.error)) quiet = i;
    const bool accepted = nights[judged[i]].outcome == Outcome::kGreen && then->accepted > 0;
    if (accepted && !is_below(then->accepted, tonight.error)) return std::nullopt;
  }
  if (!quiet) return std::nullopt;
  Movement movement{tonight.scope, judged[*quiet + 1], tonight.error, scope_at(*quiet)->error};
  size_t green = 0;
  for (size_t i = oldest; i <= *quiet; ++i) {
    const ScopeError* const then = scope_at(i);
    if (then == nullptr || nights[judged[i]].outcome != Outcome::kGreen) continue;
    if (!is_below(then->error, tonight.error)) return std::nullopt;
    movement.before = std::max(movement.before, then->error);
    ++green;
  }
  if (green < kEnoughNights && !is_below(movement.before, tonight.error, kTenTimes)) return std::nullopt;
  return movement;
}

}  // namespace

Account account_of(const std::vector<Night>& nights) {
  Account account;
  account.nights = nights.size();
  std::vector<size_t> judged;
  for (size_t i = 0; i < nights.size(); ++i) {
    account.green += nights[i].outcome == Outcome::kGreen ? 1U : 0U;
    account.red += nights[i].outcome == Outcome::kRed ? 1U : 0U;
    if (nights[i].outcome != Outcome::kNotJudged) judged.push_back(i);
  }
  if (judged.empty()) return account;
  const Night& last = nights[judged.back()];
  const std::string root = last.root ? last.root->op_name : std::string();
  for (size_t i = judged.size(); i-- > 0 && nights[judged[i]].outcome == last.outcome;) {
    ++account.in_a_row;
    account.since = judged[i];
    const Night& night = nights[judged[i]];
    if (last.outcome == Outcome::kRed && !account.root_before && (night.root ? night.root->op_name : "") != root)
      account.root_before = judged[i];
  }
  if (judged.back() + 1 != nights.size()) return account;  // nothing is known of tonight
  const double least = kRounding * largest_error(last);
  int64_t first_row = 0;  // of account.moved
  for (size_t i = 0; i < last.scopes.size(); ++i) {
    if (last.scopes[i].error <= 0 || last.scopes[i].error < least) continue;
    std::optional<Movement> moved = movement_of(nights, judged, i);
    if (!moved) continue;
    const auto is_before = [&](const Movement& other, int64_t row) {
      return other.night < moved->night || (other.night == moved->night && row <= last.scopes[i].first);
    };
    if (account.moved && is_before(*account.moved, first_row)) continue;
    first_row = last.scopes[i].first;
    account.moved = std::move(moved);
  }
  return account;
}

}  // namespace msdump::history

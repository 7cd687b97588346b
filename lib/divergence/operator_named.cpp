#include "divergence/operator_named.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {
namespace {

constexpr size_t kNamed = 3;

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('/') + 1); }

// The names of a pair on both sides, where they have it.
std::vector<std::string_view> names_of(const Pairing& pairing, const OpPair& pair) {
  std::vector<std::string_view> names;
  if (pair.a != kNoOperator) names.emplace_back(pairing.a[pair.a].name);
  if (pair.b != kNoOperator) names.emplace_back(pairing.b[pair.b].name);
  return names;
}

template <class Matches>
std::vector<uint32_t> pairs_where(const Pairing& pairing, const Matches& matches) {
  std::vector<uint32_t> found;
  for (uint32_t op = 0; op < pairing.operators.size(); ++op) {
    const auto names = names_of(pairing, pairing.operators[op]);
    if (std::any_of(names.begin(), names.end(), matches)) found.push_back(op);
  }
  return found;
}

std::string nearest_name(const Pairing& pairing, std::string_view wanted) {
  std::vector<std::string> names;
  for (const OpPair& pair : pairing.operators) {
    for (const std::string_view name : names_of(pairing, pair)) {
      names.emplace_back(wanted.find('/') == std::string_view::npos ? last_part(name) : name);
    }
  }
  const auto near = closest_match(wanted, names);
  return near ? fmt::format("did you mean '{}'?", escape_for_terminal(*near)) : "msdump ls lists all operators";
}

}  // namespace

Result<std::vector<uint32_t>> operators_named(const Pairing& pairing, std::string_view wanted) {
  std::vector<uint32_t> found = pairs_where(pairing, [&](std::string_view name) { return name == wanted; });
  // Operators of the two sides may have each other's names: that of the candidate, which is in doubt, comes first.
  const auto is_of_candidate = [&](uint32_t op) {
    const OpPair& pair = pairing.operators[op];
    return pair.a != kNoOperator && pairing.a[pair.a].name == wanted;
  };
  if (std::any_of(found.begin(), found.end(), is_of_candidate))
    std::erase_if(found, [&](uint32_t op) { return !is_of_candidate(op); });
  if (found.empty()) {
    found = pairs_where(pairing, [&](std::string_view name) {
      return glob_match(wanted, name) || glob_match(wanted, last_part(name));
    });
  }
  if (found.empty()) {
    return fail(make_error(ErrorCode::kUsage, "no operator is named '{}'", excerpt(wanted))
                    .with_hint(nearest_name(pairing, wanted)));
  }
  std::vector<std::string_view> names;
  for (const uint32_t op : found) names.emplace_back(pairing.op_name(op));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() == 1) return found;
  std::string some;
  for (size_t i = 0; i < names.size() && i < kNamed; ++i) some += (i == 0 ? "" : ", ") + escape_for_terminal(names[i]);
  if (names.size() > kNamed) some += ", ...";
  return fail(make_error(ErrorCode::kUsage, "'{}' names {}", excerpt(wanted), plural(names.size(), "operator"))
                  .with_hint("name one: " + some));
}

}  // namespace msdump

#include "divergence/root_places.h"

#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace msdump {
namespace {

// What alike alarms have in common.
using Alarm = std::tuple<SourceLine, std::string_view, DivergenceKind, bool, std::set<std::string_view>>;

Alarm alarm_of(const RunView& view, const Root& root, const SourceLine& line) {
  const Divergence& divergence = root.divergence;
  std::set<std::string_view> slots;
  for (const uint32_t output : divergence.outputs) slots.insert(view.slot(output));
  return {line, view.op(root.run).type, divergence.kind, divergence.score.has_value(), std::move(slots)};
}

}  // namespace

void join_places(const RunView& view, std::vector<Root>& roots) {
  std::map<Alarm, size_t> by_line;
  std::map<uint32_t, size_t> by_name;  // the same operator on other ranks and in other steps
  std::vector<Root> joined;
  for (Root& root : roots) {
    if (enters(root.divergence)) {
      joined.push_back(std::move(root));
      continue;
    }
    const uint32_t name = view.name_number(root.run);
    size_t first = by_name.try_emplace(name, joined.size()).first->second;
    if (const auto line = view.line(root.run)) {
      const size_t of_line = by_line.try_emplace(alarm_of(view, root, *line), first).first->second;
      if (first == joined.size()) by_name[name] = first = of_line;
    }
    if (first == joined.size()) {
      joined.push_back(std::move(root));
    } else {
      Divergence& one = root.divergence;
      joined[first].divergence.places.push_back({one.op, one.run, one.place, std::move(one.outputs)});
    }
  }
  roots = std::move(joined);
}

}  // namespace msdump

#include "check/ranks/collective_call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/containers.h"
#include "base/text.h"
#include "dump/layouts/family.h"
#include "graph/flow/communication.h"
#include "ir/text/attributes.h"

namespace msdump::check {
namespace {

using RankNumber = std::optional<int64_t>;

// Signature of a call: the slots of inputs and outputs, and the argument that names the root. "1*" also means "1.0",
// "1.1" and so on, the elements of a list.
struct Form {
  std::string_view api;
  CollectiveKind kind;
  std::string_view sent, input_keyword, received;
  std::string_view root = {}, root_place = {}, root_keyword = {}, root_place_keyword = {};
};

constexpr std::array kForms = {
    Form{"all_reduce", CollectiveKind::kAllReduce, "0", "tensor", "0"},
    Form{"reduce", CollectiveKind::kReduce, "0", "tensor", "0", "1", {}, "dst", "group_dst"},
    Form{"all_gather", CollectiveKind::kAllGather, "1", "tensor", "0*"},
    Form{"all_gather_into_tensor", CollectiveKind::kAllGather, "1", "input_tensor", "0"},
    Form{"_all_gather_base", CollectiveKind::kAllGather, "1", "input_tensor", "0"},
    Form{"gather", CollectiveKind::kGather, "0", "tensor", "1*", "2", {}, "dst", "group_dst"},
    Form{"reduce_scatter", CollectiveKind::kReduceScatter, "1*", "input_list", "0"},
    Form{"reduce_scatter_tensor", CollectiveKind::kReduceScatter, "1", "input", "0"},
    Form{"_reduce_scatter_base", CollectiveKind::kReduceScatter, "1", "input", "0"},
    Form{"scatter", CollectiveKind::kScatter, "1*", "scatter_list", "0", "2", {}, "src", "group_src"},
    Form{"broadcast", CollectiveKind::kBroadcast, "0", "tensor", "0", "1", {}, "src", "group_src"},
    Form{"all_to_all_single", CollectiveKind::kAllToAll, "1", "input", "0"},
    Form{"all_to_all", CollectiveKind::kAllToAll, "1*", "input_tensor_list", "0*"},
    Form{"send", CollectiveKind::kSend, "0", "tensor", {}, "1", {}, "dst", "group_dst"},
    Form{"isend", CollectiveKind::kSend, "0", "tensor", {}, "1", {}, "dst", "group_dst"},
    Form{"recv", CollectiveKind::kReceive, {}, {}, "0", "1", {}, "src", "group_src"},
    Form{"irecv", CollectiveKind::kReceive, {}, {}, "0", "1", {}, "src", "group_src"},
};

constexpr std::array kOperators = {
    Form{"AllReduce", CollectiveKind::kAllReduce, "*", {}, "*"},
    Form{"Reduce", CollectiveKind::kReduce, "0", {}, "0", {}, "dest_rank"},
    Form{"AllGather", CollectiveKind::kAllGather, "0", {}, "0"},
    Form{"ReduceScatter", CollectiveKind::kReduceScatter, "0", {}, "0"},
    Form{"Broadcast", CollectiveKind::kBroadcast, "0", {}, "0", {}, "root_rank"},
    Form{"AlltoAll", CollectiveKind::kAllToAll, "0", {}, "0"},
    Form{"AllToAll", CollectiveKind::kAllToAll, "0", {}, "0"},
    Form{"Send", CollectiveKind::kSend, "0", {}, {}, {}, "dest_rank"},
    Form{"Receive", CollectiveKind::kReceive, {}, {}, "0", {}, "src_rank"},
};

template <class Forms>
const Form* form_named(const Forms& forms, std::string_view name) {
  const auto found = std::find_if(forms.begin(), forms.end(), [&](const Form& form) { return form.api == name; });
  return found == forms.end() ? nullptr : &*found;
}

RankNumber number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "I64(3)", "Bool(1)", "3"
RankNumber number_of_attribute(std::string_view text) {
  if (text.ends_with(')')) {
    const size_t open = text.find('(');
    text = open == std::string_view::npos ? text : text.substr(open + 1, text.size() - open - 2);
  }
  return number_in(text);
}

// "RedOpType.MAX", "sum", "ReduceOp.SUM"
std::optional<Reduction> reduction_in(std::string_view text) {
  const std::string word = to_lower(text.substr(text.rfind('.') + 1));
  if (word == "sum") return Reduction::kSum;
  if (word == "avg" || word == "mean") return Reduction::kMean;
  if (word == "max") return Reduction::kMax;
  if (word == "min") return Reduction::kMin;
  if (word == "prod" || word == "product") return Reduction::kProduct;
  return std::nullopt;
}

bool names_reduction(const CallArgument& argument) {
  if (argument.value.kind != CallValue::Kind::kText) return false;
  return argument.slot == "op" || argument.value.text.find("OpType.") != std::string_view::npos;
}

// "Distributed.all_reduce.3.forward": the prefix is the name of a library of collectives.
struct CountedName {
  std::string_view api;
  uint64_t number = 0;
};
std::optional<CountedName> counted_name(std::string_view name) {
  const auto parts = split(name, '.');
  if (parts.size() != 4 || !parts[0].ends_with("Distributed") || parts[3] != "forward") return std::nullopt;
  const RankNumber number = number_in(parts[2]);
  if (!number || *number < 0) return std::nullopt;
  return CountedName{parts[1], static_cast<uint64_t>(*number)};
}

// Null for any other operator.
const Form* form_of(std::string_view name, std::string_view type) {
  const auto counted = counted_name(name);
  return counted ? form_named(kForms, counted->api) : form_named(kOperators, type);
}

// True if a slot fits that of a form: "1" is itself, "1*" the elements of a list, "*" any slot.
bool fits(std::string_view form, std::string_view slot) {
  if (form.empty()) return false;
  if (form == "*") return true;
  if (!form.ends_with('*')) return slot == form;
  form.remove_suffix(1);
  return slot.starts_with(form) && slot.size() > form.size() && slot[form.size()] == '.';
}

class Collector {
 public:
  explicit Collector(const CheckedDump& dump) : dump_(dump) {}

  std::vector<CollectiveCall> run() {
    for (OperatorId op{0}; op < dump_.operators().size(); ++op) {
      const SequencedOp& known = dump_.operators()[op];
      const Form* const form = form_of(known.name, known.type);
      if (form != nullptr) add_calls(op, *form, counted_name(known.name));
    }
    if (!calls_.empty() && dump_.dump().arguments != nullptr) read_arguments();
    std::erase_if(calls_, [](const CollectiveCall& call) { return call.sent.empty() && call.received.empty(); });
    return std::move(calls_);
  }

 private:
  using Place = std::tuple<RankNumber, RankNumber, uint32_t>;      // rank, step, occurrence
  using Name = std::tuple<std::string_view, int64_t, RankNumber>;  // of a call in dump.json: rank, step
  using Tensors = std::vector<std::pair<std::string, TensorId>>;   // by slot, "00001.00002"

  struct Parts {
    Tensors sent, received;
  };

  void add_calls(OperatorId op, const Form& form, const std::optional<CountedName>& counted) {
    std::map<Place, Parts> places;
    for (const RecordId record : dump_.operators()[op].tensors) {
      const TensorId tensor = tensor_of(record);
      const NameFacts& name = dump_.record(tensor).name;
      const FolderIdentity folder = place_of(dump_.index(), dump_.record(tensor));
      Parts& parts = places[{folder.rank, folder.step, dump_.record(tensor).occurrence}];
      const std::string_view slot = name.slot;
      const bool by_keyword = !form.input_keyword.empty() && (slot == form.input_keyword || fits_keyword(form, slot));
      if (name.io == Io::kInput && (fits(form.sent, slot) || by_keyword))
        parts.sent.emplace_back(sortable(slot), tensor);
      if (name.io == Io::kOutput && fits(form.received, slot)) parts.received.emplace_back(sortable(slot), tensor);
    }
    for (auto& [place, parts] : places) {
      if (!std::get<0>(place)) continue;
      CollectiveCall call;
      call.kind = form.kind;
      call.op = op;
      call.rank = *std::get<0>(place);
      call.step = std::get<1>(place);
      call.graph = dump_.operators()[op].graph;
      call.occurrence = std::get<2>(place);
      call.counted = counted.has_value();
      call.name = std::string(counted ? counted->api : dump_.operators()[op].name);
      if (counted) call.number = counted->number;
      if (counted) call.may_be_early = counted->api == "irecv";
      call.sent = in_order(parts.sent);
      call.received = in_order(parts.received);
      if (!counted) read_attributes(form, call);
      if (counted) by_name_[{dump_.operators()[op].name, call.rank, call.step}] = {calls_.size(), &form};
      calls_.push_back(std::move(call));
    }
  }

  static bool fits_keyword(const Form& form, std::string_view slot) {
    return form.sent.ends_with('*') && slot.starts_with(form.input_keyword) &&
           slot.size() > form.input_keyword.size() && slot[form.input_keyword.size()] == '.';
  }

  // "1.10" after "1.9"
  static std::string sortable(std::string_view slot) {
    std::string text;
    for (const std::string_view part : split(slot, '.')) {
      text += number_in(part) ? std::string(12 - std::min<size_t>(12, part.size()), '0') : std::string();
      text += part;
      text += '.';
    }
    return text;
  }

  static std::vector<TensorId> in_order(Tensors& tensors) {
    std::sort(tensors.begin(), tensors.end());
    std::vector<TensorId> plain;
    for (const auto& [slot, tensor] : tensors) plain.push_back(tensor);
    return plain;
  }

  void read_attributes(const Form& form, CollectiveCall& call) const {
    const OpId node = dump_.operators()[call.op].op;
    if (node == kNoId || dump_.graph() == nullptr) return;
    const std::string_view text = dump_.graph()->ir(node).text(dump_.graph()->node(node).attributes);
    call.group = group_of(text, call.rank);
    if (attribute_value(text, "group").ends_with("world_group"))
      call.world = number_of_attribute(attribute_value(text, "rank_size"));
    if (const std::string_view op = attribute_value(text, "op"); !op.empty())
      call.reduction = reduction_in(op).value_or(Reduction::kOther);
    if (!form.root_place.empty()) call.root_place = number_of_attribute(attribute_value(text, form.root_place));
    call.tag = number_of_attribute(attribute_value(text, "sr_tag")).value_or(0);
    for (const std::string_view key : {"split_dim", "concat_dim"}) {
      if (number_of_attribute(attribute_value(text, key)).value_or(0) != 0) call.flat = false;
    }
  }

  void read_arguments() {
    for (const CallArgument& argument : *dump_.dump().arguments) {
      const FolderIdentity& folder = dump_.index().folders()[dump_.index().files()[argument.table].folder].identity;
      if (!folder.rank) continue;
      const auto found = by_name_.find({argument.op_name, *folder.rank, folder.step});
      if (found != by_name_.end()) read_argument(argument, *found->second.second, calls_[found->second.first]);
    }
  }

  static void read_argument(const CallArgument& argument, const Form& form, CollectiveCall& call) {
    using ValueKind = CallValue::Kind;
    const std::string_view slot = argument.slot, text = argument.value.text;
    if (argument.value.kind == ValueKind::kGroup) {
      call.group = group_of_ranks(text, call.rank);
    } else if (names_reduction(argument)) {
      call.reduction = reduction_in(text).value_or(Reduction::kOther);
    } else if (argument.value.kind == ValueKind::kText && slot == "group") {
      call.group = text;
    } else if (argument.value.kind == ValueKind::kBool) {
      call.may_be_early = call.may_be_early || text == "true";
    } else if (argument.value.kind == ValueKind::kNumber) {
      read_number(slot, number_in(text), form, call);
    }
  }

  static void read_number(std::string_view slot, const RankNumber& number, const Form& form, CollectiveCall& call) {
    if (!number) return;
    if (!form.root.empty() && (slot == form.root || slot == form.root_keyword)) call.root = number;
    if (!form.root_place_keyword.empty() && slot == form.root_place_keyword) call.root_place = number;
    if (slot == "tag") call.tag = *number;
    if (call.kind != CollectiveKind::kAllToAll) return;
    // The list of splits comes in its order.
    if (fits("2*", slot) || fits("output_split_sizes*", slot)) call.receive_splits.push_back(*number);
    if (fits("3*", slot) || fits("input_split_sizes*", slot)) call.send_splits.push_back(*number);
  }

  const CheckedDump& dump_;
  std::vector<CollectiveCall> calls_;
  std::map<Name, std::pair<size_t, const Form*>> by_name_;
};

}  // namespace

std::string_view name_of(Reduction reduction) {
  static constexpr auto kNames =
      enum_table<Reduction, std::string_view>("sum", "mean", "maximum", "minimum", "product", "reduction");
  return kNames[reduction];
}

bool is_unread_collective(std::string_view name, std::string_view type) {
  if (form_of(name, type) != nullptr || to_lower(type).find("barrier") != std::string::npos) return false;
  return is_communication(type) || counted_name(name);
}

std::vector<CollectiveCall> collective_calls(const CheckedDump& dump) { return Collector(dump).run(); }

namespace {

using StepKey = std::pair<bool, int64_t>;  // known_first()

bool is_pairwise(CollectiveKind kind) { return kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive; }

class Joiner {
 public:
  explicit Joiner(const std::vector<CollectiveCall>& calls) : calls_(calls) {}

  std::vector<Exchange> run() {
    std::map<Family, std::map<int64_t, std::vector<size_t>>> families;  // then by rank
    std::map<Link, std::pair<std::vector<size_t>, std::vector<size_t>>> links;
    for (size_t i = 0; i < calls_.size(); ++i) {
      const CollectiveCall& call = calls_[i];
      if (is_pairwise(call.kind)) {
        add_to_link(i, links);
      } else {
        families[family_of(call)][call.rank].push_back(i);
      }
    }
    for (auto& [family, ranks] : families) join(ranks);
    for (auto& [link, sides] : links) join_pairs(sides.first, sides.second);
    return std::move(exchanges_);
  }

 private:
  // Step, kind, group, then the name of calls that are joined by it; the API of others, as each has its own counter.
  using Family = std::tuple<StepKey, CollectiveKind, std::string, std::string, uint32_t>;
  using Link = std::tuple<StepKey, int64_t, int64_t, int64_t, std::string>;  // from, to, tag, group

  Family family_of(const CollectiveCall& call) const {
    return {known_first(call.step), call.kind, call.group, call.name, call.counted ? 0 : call.occurrence};
  }

  void in_order(std::vector<size_t>& of_rank) const {
    std::sort(of_rank.begin(), of_rank.end(),
              [&](size_t a, size_t b) { return std::pair(calls_[a].number, a) < std::pair(calls_[b].number, b); });
  }

  void join(std::map<int64_t, std::vector<size_t>>& by_rank) {
    if (by_rank.size() < 2) return;
    const size_t count = by_rank.begin()->second.size();
    for (auto& [rank, calls] : by_rank) {
      if (calls.size() != count) return;  // nobody can tell which belong together
      in_order(calls);
    }
    const CollectiveCall& any = calls_[by_rank.begin()->second.front()];
    std::vector<int64_t> group = ranks_of_group(any.group);
    // The group is all ranks, and most of them are there. A number far beyond would cost as much memory as it says.
    if (group.empty() && any.world && *any.world > 0 && static_cast<size_t>(*any.world) <= 2 * by_rank.size()) {
      group.resize(static_cast<size_t>(*any.world));
      std::iota(group.begin(), group.end(), int64_t{0});
    }
    const bool stated = !group.empty();
    if (std::set<int64_t>(group.begin(), group.end()).size() != group.size()) return;
    if (!stated) {
      for (const auto& [rank, calls] : by_rank) group.push_back(rank);
    }
    for (size_t i = 0; i < count; ++i) {
      Exchange exchange;
      exchange.kind = any.kind;
      exchange.stated = stated;
      for (const int64_t rank : group) {
        const auto found = by_rank.find(rank);
        if (found == by_rank.end()) {
          exchange.missing.push_back(rank);
          continue;
        }
        exchange.members.push_back(found->second[i]);
        exchange.ranks.push_back(rank);
      }
      exchanges_.push_back(std::move(exchange));
    }
  }

  void add_to_link(size_t index, std::map<Link, std::pair<std::vector<size_t>, std::vector<size_t>>>& links) const {
    const CollectiveCall& call = calls_[index];
    std::optional<int64_t> other = call.root;
    const std::vector<int64_t> group = ranks_of_group(call.group);
    if (!other && call.root_place && *call.root_place >= 0 && group.empty()) other = call.root_place;
    if (!other && call.root_place && *call.root_place >= 0 && static_cast<size_t>(*call.root_place) < group.size())
      other = group[static_cast<size_t>(*call.root_place)];
    if (!other) return;
    const bool sends = call.kind == CollectiveKind::kSend;
    auto& [from, to] =
        links[{known_first(call.step), sends ? call.rank : *other, sends ? *other : call.rank, call.tag, call.group}];
    (sends ? from : to).push_back(index);
  }

  void join_pairs(std::vector<size_t>& from, std::vector<size_t>& to) {
    // Each API has its own counter, so the order of their calls is unknown.
    const auto mixed = [&](const std::vector<size_t>& side) {
      return std::any_of(side.begin(), side.end(),
                         [&](size_t i) { return calls_[i].counted && calls_[i].name != calls_[side.front()].name; });
    };
    if (from.size() != to.size() || mixed(from) || mixed(to)) return;
    in_order(from);
    in_order(to);
    for (size_t i = 0; i < from.size(); ++i) {
      Exchange exchange;
      exchange.kind = CollectiveKind::kSend;
      exchange.stated = true;
      exchange.members = {from[i], to[i]};
      exchange.ranks = {calls_[from[i]].rank, calls_[to[i]].rank};
      exchanges_.push_back(std::move(exchange));
    }
  }

  const std::vector<CollectiveCall>& calls_;
  std::vector<Exchange> exchanges_;
};

}  // namespace

std::vector<Exchange> join_calls(const std::vector<CollectiveCall>& calls) { return Joiner(calls).run(); }

std::vector<TensorId> JoinedCalls::tensors_of(const Exchange& exchange) const {
  std::vector<TensorId> tensors;
  for (const size_t member : exchange.members) {
    tensors.insert(tensors.end(), calls[member].sent.begin(), calls[member].sent.end());
    tensors.insert(tensors.end(), calls[member].received.begin(), calls[member].received.end());
  }
  return tensors;
}

namespace {

constexpr size_t kRanksApart = 64;
constexpr int64_t kMostRanks = 100'000;

// A number far off is a name of another kind.
int64_t end_of_numbers(const std::set<int64_t>& there) {
  const int64_t last = *there.rbegin();
  return static_cast<size_t>(last) < 2 * there.size() + kRanksApart ? last : 0;
}

}  // namespace

KnownRanks known_ranks(const CheckedDump& dump) {
  KnownRanks ranks;
  for (const IndexedFolder& folder : dump.index().folders()) {
    if (folder.identity.rank && *folder.identity.rank >= 0) ranks.there.insert(*folder.identity.rank);
  }
  if (ranks.there.size() < 2) return ranks;
  const int64_t end = end_of_numbers(ranks.there);
  for (int64_t rank = 0; rank < end; ++rank) {
    if (!ranks.there.contains(rank)) ranks.holes.insert(rank);
  }
  std::set<std::string> groups;
  int64_t world = 0;
  for (const CollectiveCall& call : collective_calls(dump)) {
    groups.insert(call.group);
    if (call.world.value_or(0) <= kMostRanks) world = std::max(world, call.world.value_or(0));
  }
  const auto note = [&](int64_t rank) {
    if (rank >= 0 && !ranks.there.contains(rank) && !ranks.holes.contains(rank)) ranks.named.insert(rank);
  };
  for (const std::string& group : groups) {
    for (const int64_t rank : ranks_of_group(group)) note(rank);
  }
  for (int64_t rank = 0; rank < world; ++rank) note(rank);
  return ranks;
}

}  // namespace msdump::check

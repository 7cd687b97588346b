#include "compare/match/parameters/same_parameters.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "compare/limits.h"
#include "compare/match/parameters/parameter_views.h"
#include "compare/sample/best_pairs.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

constexpr size_t kMostClassPairs = size_t{1} << 21;  // pairs of classes
constexpr size_t kMostPairs = size_t{1} << 18;       // pairs of parameters of one shape

constexpr ReachedLimit kClassPairsLimit = {
    "parameter_classes", kMostClassPairs,
    "there are too many names without a partner to match them by values or shapes"};
constexpr ReachedLimit kPairsLimit = {"parameters_of_a_shape", kMostPairs,
                                      "there are too many parameters of one shape to match each by its values"};
constexpr ReachedLimit kViewsLimit = {"parameter_views", kMostViews,
                                      "not all parameters were looked for transposed or with rows in another order"};

// The items by their names. A name that occurs twice has kNoItem.
template <class Name>
std::unordered_map<std::string, uint32_t> free_names(const ParameterSide& side, const Name& name) {
  std::unordered_map<std::string, uint32_t> names;
  for (uint32_t i = 0; i < side.size(); ++i) {
    if (!side.is_free(i)) continue;
    const auto [known, added] = names.try_emplace(name(i), i);
    if (!added) known->second = kNoItem;
  }
  return names;
}

// The begin of each component of a name.
std::vector<size_t> components_of(std::string_view pattern) {
  std::vector<size_t> begins = {0};
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '.') begins.push_back(i + 1);
  }
  return begins;
}

Shape sorted(Shape shape) {
  std::sort(shape.begin(), shape.end());
  return shape;
}

// True if the shapes differ only in the number of rows, by less than a factor of 2.
bool has_more_rows(const Shape& a, const Shape& b) {
  if (a.size() != b.size() || a.size() < 2 || !std::equal(a.begin() + 1, a.end(), b.begin() + 1)) return false;
  return a[0] != b[0] && a[0] < 2 * b[0] && b[0] < 2 * a[0];
}

}  // namespace

// ---- by name

void SameParameters::by_map(const NameMap& map) {
  if (map.renames()) return;
  const auto names_b = free_names(b_, [&](uint32_t i) { return normalised_op_name(b_.name(i)); });
  for (uint32_t i = 0; i < a_.size(); ++i) {
    const auto reference = map.reference_of(a_.name(i));
    if (!reference) continue;
    const auto found = names_b.find(normalised_op_name(*reference));
    const uint32_t partner = found == names_b.end() ? kNoItem : found->second;
    if (partner != kNoItem && b_.is_free(partner)) link(i, partner, PairedBy::kUser, {});
  }
}

void SameParameters::by_name() {
  // A single rank on each side is compared whatever its number is.
  const auto has_several_ranks = [](const ParameterSide& side) {
    for (uint32_t i = 1; i < side.size(); ++i) {
      if (side.place(i).rank != side.place(0).rank) return true;
    }
    return false;
  };
  const bool ranked = has_several_ranks(a_) || has_several_ranks(b_);
  const auto by = [&](const std::function<std::string(const ParameterSide&, uint32_t)>& name) {
    const auto full = [&](const ParameterSide& side) {
      return [&](uint32_t i) {
        const auto rank = ranked ? side.place(i).rank : std::nullopt;
        return rank ? fmt::format("{} {}", *rank, name(side, i)) : name(side, i);
      };
    };
    const auto names_a = free_names(a_, full(a_)), names_b = free_names(b_, full(b_));
    for (uint32_t i = 0; i < a_.size(); ++i) {
      const std::string own = full(a_)(i);
      const auto found = names_b.find(own);
      if (a_.is_free(i) && found != names_b.end() && found->second != kNoItem && names_a.at(own) == i)
        link(i, found->second, PairedBy::kName, {});
    }
  };
  by([](const ParameterSide& side, uint32_t i) { return side.name(i); });
  by([](const ParameterSide& side, uint32_t i) { return normalised_op_name(side.name(i)); });
  by([](const ParameterSide& side, uint32_t i) { return side.parsed(i).text; });
}

void SameParameters::by_wrapper() {
  for (;;) {
    const std::vector<uint32_t> free_a = a_.free_classes(), free_b = b_.free_classes();
    if (free_a.empty() || free_b.empty()) return;
    std::unordered_map<std::string_view, uint32_t> ends;  // classes of b, by what they end with; kNoItem: several
    for (const uint32_t b : free_b) {
      const std::string_view pattern = b_.classes()[b].pattern;
      for (const size_t begin : components_of(pattern)) {
        const auto [known, added] = ends.try_emplace(pattern.substr(begin), b);
        if (!added) known->second = kNoItem;
      }
    }
    std::map<std::pair<std::string_view, std::string_view>, std::vector<std::pair<uint32_t, uint32_t>>> rules;
    for (const uint32_t a : free_a) {
      const std::string_view pattern = a_.classes()[a].pattern;
      const std::vector<size_t> begins = components_of(pattern);
      for (size_t i = 0; i < begins.size(); ++i) {
        const auto found = ends.find(pattern.substr(begins[i]));
        if (found == ends.end() || found->second == kNoItem) continue;
        const std::string_view other = b_.classes()[found->second].pattern;
        // A single common component proves nothing, unless it is all of a name.
        if (i + 1 == begins.size() && i > 0 && other.find('.') != std::string_view::npos) break;
        rules[{pattern.substr(0, begins[i]), other.substr(0, other.size() - (pattern.size() - begins[i]))}]
            .emplace_back(a, found->second);
        break;
      }
    }
    const auto best = std::max_element(rules.begin(), rules.end(), [](const auto& one, const auto& other) {
      return one.second.size() < other.second.size();
    });
    const size_t fewer = std::min(free_a.size(), free_b.size());
    if (best == rules.end() || best->second.size() * 5 < fewer * 4) return;
    const size_t before = links_.all().size();
    for (const auto& [a, b] : best->second) link_classes(a, b, PairedBy::kRenamed, {});
    if (links_.all().size() == before) return;
  }
}

void SameParameters::by_module() {
  std::map<std::string_view, std::string_view> modules;
  for (const ParameterLink& one : links_.all()) {
    if (one.is_pair() && one.part == 0)
      modules.try_emplace(parts_of(a_.pattern(one.items.a)).module, parts_of(b_.pattern(one.items.b)).module);
  }
  std::map<std::pair<std::string_view, std::string_view>, uint32_t> free_b;
  for (const uint32_t b : b_.free_classes()) {
    const ParameterParts parts = parts_of(b_.classes()[b].pattern);
    free_b.try_emplace({parts.module, parts.leaf}, b);
  }
  for (const uint32_t a : a_.free_classes()) {
    const ParameterParts parts = parts_of(a_.classes()[a].pattern);
    const auto module = modules.find(parts.module);
    if (module == modules.end()) continue;
    const auto b = free_b.find({module->second, parts.leaf});
    if (b != free_b.end()) link_classes(a, b->second, PairedBy::kRenamed, {});
  }
}

// ---- by values

double SameParameters::likeness_of_values(uint32_t a, uint32_t b) {
  if (is_constant(a_.values(a))) return 0;
  return likeness(a_.sampled(a), b_.sampled(b)).value_or(0);
}

std::optional<SameParameters::Relation> SameParameters::relation_of_views(uint32_t a, uint32_t b,
                                                                          const std::vector<NamedView>& views) {
  views_left_ -= std::min(views_left_, views.size() + 1);
  if (views_left_ == 0) links_.limits.insert(kViewsLimit);
  const auto found = nearest_view(a_.sampled(a), b_.sampled(b), views);
  return found ? std::optional(Relation{found->likeness, views[found->place].text}) : std::nullopt;
}

std::optional<SameParameters::Relation> SameParameters::relation(uint32_t a, uint32_t b, bool regrouped) {
  const Shape *const shape_a = a_.shape(a), *const shape_b = b_.shape(b);
  if (shape_a == nullptr || shape_b == nullptr || is_constant(a_.values(a)) || is_constant(b_.values(b)))
    return std::nullopt;
  if (regrouped && views_left_ == 0) return std::nullopt;
  if (regrouped) return relation_of_views(a, b, regrouped_views(*shape_a, *shape_b));
  if (without_ones(*shape_a) == without_ones(*shape_b)) {
    const double plain = likeness_of_values(a, b);
    if (plain >= kAlike) return Relation{plain, {}};
  }
  if (views_left_ > 0) {
    if (auto turned = relation_of_views(a, b, permuted_views(*shape_a, *shape_b))) return turned;
  }
  if (!has_more_rows(*shape_a, *shape_b)) return std::nullopt;
  const int64_t rows = std::min(shape_a->front(), shape_b->front());
  const auto values_a = a_.samples().of(a_.tensor(a), first_rows(*shape_a, 0, rows));
  const auto values_b = b_.samples().of(b_.tensor(b), first_rows(*shape_b, 0, rows));
  const double alike = is_constant(values_a) ? 0 : likeness(values_a, values_b).value_or(0);
  return alike >= kAlike ? std::optional(Relation{alike, {}}) : std::nullopt;
}

bool SameParameters::may_belong(uint32_t a, uint32_t b, bool regrouped) const {
  const Shape *const shape_a = a_.shape(a), *const shape_b = b_.shape(b);
  if (shape_a == nullptr || shape_b == nullptr) return false;
  return sorted(without_ones(*shape_a)) == sorted(without_ones(*shape_b)) ||
         (!regrouped && has_more_rows(*shape_a, *shape_b));
}

std::vector<SameParameters::Items> SameParameters::common(const std::vector<uint32_t>& of_a, uint32_t b) const {
  std::vector<Items> all;
  for (const uint32_t item : of_a) {
    const uint32_t other = b_.free_member(b, a_.parsed(item).numbers);
    if (other != kNoItem && links_.may_link(item, other)) all.emplace_back(item, other);
  }
  return all;
}

double SameParameters::likeness_of_names(uint32_t class_a, uint32_t class_b) const {
  return name_likeness(a_.classes()[class_a].pattern, b_.classes()[class_b].pattern);
}

bool SameParameters::may_compare(size_t a, size_t b, const ReachedLimit& limit) {
  if (a * b <= limit.limit) return true;
  links_.limits.insert(limit);
  return false;
}

void SameParameters::by_values(bool regrouped) {
  const std::vector<uint32_t> free_a = a_.free_classes(), free_b = b_.free_classes();
  if (!may_compare(free_a.size(), free_b.size(), kClassPairsLimit)) return;
  std::vector<RatedPair> candidates;
  std::vector<std::string> texts;
  for (const uint32_t a : free_a) {
    const std::vector<uint32_t> members = spread(a_.free_members(a));
    for (const uint32_t b : free_b) {
      double least = 1;
      std::optional<std::string> text;
      for (const auto& [one, other] : spread(common(members, b))) {
        if (!may_belong(one, other, regrouped)) break;
        auto found = relation(one, other, regrouped);
        // A member that differs in this layer says nothing about the others.
        if (!found || (text && *text != found->text)) continue;
        least = std::min(least, found->likeness);
        text = std::move(found->text);
      }
      if (!text) continue;
      candidates.push_back({least, a, b, likeness_of_names(a, b), static_cast<uint32_t>(texts.size())});
      texts.push_back(std::move(*text));
    }
  }
  for (const RatedPair& one : best_pairs(std::move(candidates), true))
    link_classes(one.a, one.b, PairedBy::kValues, texts[one.tag]);
}

void SameParameters::one_by_one() {
  std::map<Shape, Sides<std::vector<uint32_t>>> by_size;
  for (const Side side : kBothSides) {
    const ParameterSide& own = links_.of(side);
    for (uint32_t i = 0; i < own.size(); ++i) {
      if (own.is_free(i) && own.shape(i) != nullptr) by_size[sorted(without_ones(*own.shape(i)))][side].push_back(i);
    }
  }
  for (const auto& [shape, items] : by_size) {
    if (!may_compare(items.a.size(), items.b.size(), kPairsLimit)) continue;
    std::vector<RatedPair> candidates;
    std::vector<std::string> texts;
    for (const uint32_t a : items.a) {
      for (const uint32_t b : items.b) {
        auto found = links_.may_link(a, b) ? relation(a, b, false) : std::nullopt;
        if (!found) continue;
        candidates.push_back({found->likeness, a, b, likeness_of_names(a_.class_of(a), b_.class_of(b)),
                              static_cast<uint32_t>(texts.size())});
        texts.push_back(std::move(found->text));
      }
    }
    for (const RatedPair& one : best_pairs(std::move(candidates), true))
      link(one.a, one.b, PairedBy::kValues, texts[one.tag]);
  }
}

// ---- without values

void SameParameters::by_shape() {
  constexpr double kSimilar = 0.5;  // of names
  const std::vector<uint32_t> free_a = a_.free_classes(), free_b = b_.free_classes();
  if (!may_compare(free_a.size(), free_b.size(), kClassPairsLimit)) return;
  std::vector<RatedPair> candidates;
  std::unordered_map<uint32_t, size_t> of_a, of_b;  // partners by shape
  for (const uint32_t a : free_a) {
    const std::vector<uint32_t> members = spread(a_.free_members(a));
    for (const uint32_t b : free_b) {
      const std::vector<Items> items = spread(common(members, b));
      const bool fits = !items.empty() && std::all_of(items.begin(), items.end(), [&](const Items& one) {
        return a_.shape(one.first) != nullptr && b_.shape(one.second) != nullptr &&
               without_ones(*a_.shape(one.first)) == without_ones(*b_.shape(one.second));
      });
      if (!fits) continue;
      ++of_a[a];
      ++of_b[b];
      const bool constant = std::all_of(items.begin(), items.end(), [&](const Items& one) {
        const std::vector<double>&values_a = a_.values(one.first), &values_b = b_.values(one.second);
        return !values_a.empty() && !values_b.empty() && is_constant(values_a) && is_constant(values_b) &&
               values_a.front() == values_b.front();
      });
      candidates.push_back({constant ? 1.0 : 0.0, a, b, likeness_of_names(a, b), 0});
    }
  }
  std::erase_if(candidates, [&](const RatedPair& one) {
    return one.likeness < 1 && (of_a[one.a] > 1 || of_b[one.b] > 1 || one.of_names < kSimilar);
  });
  for (const RatedPair& one : best_pairs(std::move(candidates), true))
    link_classes(one.a, one.b, PairedBy::kLeftName, {});
}

// ---- links

void SameParameters::take_view(ParameterLink& link, const std::string& text) {
  if (text.empty()) return;
  const auto [a, b] = link.items;
  for (const auto views : {&permuted_views, &regrouped_views}) {
    for (NamedView& one : views(*a_.shape(a), *b_.shape(b))) {
      if (one.text != text) continue;
      link.views.a = std::move(one.view);
      link.note = text;
      links_.tell("transposed", fmt::format("{}: {}", a_.pattern(a), text));
      return;
    }
  }
}

void SameParameters::link(uint32_t a, uint32_t b, PairedBy how, const std::string& text) {
  std::string relation_text = text;
  const Shape *const shape_a = a_.shape(a), *const shape_b = b_.shape(b);
  const bool known = shape_a != nullptr && shape_b != nullptr;
  if (text.empty() && known && without_ones(*shape_a) != without_ones(*shape_b)) {
    if (const auto found = relation_of_views(a, b, permuted_views(*shape_a, *shape_b))) relation_text = found->text;
  }
  ParameterLink link{{a, b}, how};
  if (known) take_view(link, relation_text);
  if (how != PairedBy::kName && how != PairedBy::kUser)
    links_.tell("renamed", fmt::format("{} = {}", a_.pattern(a), b_.pattern(b)));
  links_.add(std::move(link));
}

void SameParameters::link_classes(uint32_t a, uint32_t b, PairedBy how, const std::string& relation_text) {
  for (const auto& [one, other] : common(a_.free_members(a), b)) link(one, other, how, relation_text);
}

void SameParameters::turn_squares() {
  std::vector<ParameterLink>& all = links_.all();
  const bool any = std::any_of(all.begin(), all.end(), [](const ParameterLink& one) {
    return one.views.a && one.part == 0 && one.note.starts_with("transposed");
  });
  if (!any) return;
  for (ParameterLink& one : all) {
    if (!one.is_pair() || one.views.a || one.views.b) continue;
    const auto [a, b] = one.items;
    const Shape *const shape_a = a_.shape(a), *const shape_b = b_.shape(b);
    if (shape_a == nullptr || shape_b == nullptr || without_ones(*shape_a) != without_ones(*shape_b)) continue;
    const auto views = permuted_views(*shape_a, *shape_b);
    if (views.empty() || is_constant(a_.values(a)) || likeness_of_values(a, b) >= kAlike) continue;
    if (const auto found = relation_of_views(a, b, views)) take_view(one, found->text);
  }
}

}  // namespace msdump

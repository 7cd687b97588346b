// SameParameters: pairs one parameter with one parameter.
//
//   by_name       the same name; else the same but for separators and words of frameworks (parameter_names.h)
//   by_wrapper    the same names but for a prefix that all have on one side: "module.", "network.backbone."
//   by_values     names with the same numbers, whose values are those of no others: equal, near (after training, or in
//                 another precision), transposed, with rows regrouped, or with rows appended
//   by_module     weight and bias of modules that are partners
//   one_by_one    as by_values, for parameters whose numbers differ
//   by_shape      constants of the same value, and a shape that occurs once on each side, with a similar name
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/limits.h"
#include "compare/match/parameters/parameter_side.h"

namespace msdump {

// Up to kFewTried of the items, from all parts of the list.
template <class Item>
[[nodiscard]] std::vector<Item> spread(const std::vector<Item>& all) {
  if (all.size() <= kFewTried) return all;
  std::vector<Item> some;
  for (size_t i = 0; i < kFewTried; ++i) some.push_back(all[i * (all.size() - 1) / (kFewTried - 1)]);
  return some;
}

inline constexpr size_t kMostViews = size_t{1} << 19;  // views that may be tried: some seconds

class SameParameters {
 public:
  explicit SameParameters(ParameterLinks& links)
      : links_(links), a_(links.of(Side::kCandidate)), b_(links.of(Side::kReference)) {}

  void by_map(const NameMap& map);
  void by_name();
  void by_wrapper();
  void by_values(bool regrouped);
  void by_module();
  void one_by_one();
  void by_shape();
  // Transposes square matrices, too, if others are transposed: their shapes do not show it.
  void turn_squares();

 private:
  // How the values of one parameter are those of another. An empty text: as they are.
  struct Relation {
    double likeness = 0;
    std::string text;
  };
  [[nodiscard]] std::optional<Relation> relation(uint32_t a, uint32_t b, bool regrouped);
  [[nodiscard]] std::optional<Relation> relation_of_views(uint32_t a, uint32_t b, const std::vector<NamedView>& views);
  // 0 if the values prove nothing.
  [[nodiscard]] double likeness_of_values(uint32_t a, uint32_t b);
  // Gives the link the view with this text, if there is one.
  void take_view(ParameterLink& link, const std::string& text);

  using Items = std::pair<uint32_t, uint32_t>;
  // These items, and the free members of a class with the same numbers.
  [[nodiscard]] std::vector<Items> common(const std::vector<uint32_t>& of_a, uint32_t b) const;
  [[nodiscard]] bool may_belong(uint32_t a, uint32_t b, bool regrouped) const;  // by shape
  void link(uint32_t a, uint32_t b, PairedBy how, const std::string& relation);
  void link_classes(uint32_t a, uint32_t b, PairedBy how, const std::string& relation);
  // False if there are more pairs than the limit, which is then noted.
  [[nodiscard]] bool may_compare(size_t a, size_t b, const ReachedLimit& limit);
  [[nodiscard]] double likeness_of_names(uint32_t class_a, uint32_t class_b) const;

  ParameterLinks& links_;
  ParameterSide &a_, &b_;
  size_t views_left_ = kMostViews;
};

}  // namespace msdump

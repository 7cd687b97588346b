// Parameters of one side that are one parameter of the other: queries, keys and values; gate and up; the experts of a
// layer. Found by their values: each part lies somewhere in the whole, on one axis, as a run or in as many equal groups
// as the others, and together they are all of it. A part whose values prove nothing takes what the others leave.
//
// What is found of weights holds for the biases of the same modules. Parts may lie transposed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/match/parameters/parameter_links.h"

namespace msdump {

inline constexpr size_t kMostJoinedViews = size_t{1} << 19;  // that may be tried: some seconds

class JoinedParameters {
 public:
  // The whole is of the candidate, or of the reference.
  JoinedParameters(ParameterLinks& links, bool whole_in_a)
      : links_(links),
        whole_in_a_(whole_in_a),
        whole_(whole_in_a ? links.a() : links.b()),
        parts_(whole_in_a ? links.b() : links.a()) {}

  void run();

 private:
  struct Part {
    uint32_t item = kNoItem;
    JoinedPart place;
    double distance = 0;
  };
  using Parts = std::vector<Part>;
  using Numbers = std::vector<int64_t>;
  struct Joined {
    Parts parts;
    std::optional<size_t> extra = {};  // which of a part's numbers the whole does not have
  };

  [[nodiscard]] std::optional<Part> find_part(uint32_t whole, uint32_t item, const std::vector<uint32_t>& others);
  [[nodiscard]] std::optional<double> distance(uint32_t whole, uint32_t item, const JoinedPart& place);
  [[nodiscard]] std::optional<Parts> tiled(uint32_t whole, Parts found, const std::vector<uint32_t>& blind) const;
  [[nodiscard]] std::optional<Joined> concatenated(uint32_t whole, const Numbers& numbers);
  [[nodiscard]] std::optional<Joined> stacked(uint32_t whole, const Numbers& numbers);
  [[nodiscard]] std::vector<uint32_t> members_with(const Numbers& numbers) const;

  void join(uint32_t of_class, uint32_t example, const Joined& found);
  void join_biases(uint32_t of_class, const Parts& found);
  void link(uint32_t whole, const Parts& parts);
  [[nodiscard]] std::vector<uint32_t> free_members(uint32_t of_class) const;

  ParameterLinks& links_;
  const bool whole_in_a_;
  ParameterSide &whole_, &parts_;
  size_t views_left_ = kMostJoinedViews;
};

}  // namespace msdump

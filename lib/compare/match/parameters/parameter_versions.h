// ParameterVersions: which of several versions of a checkpoint each parameter of a candidate is of, such as after an update of
// weights that did not reach a layer.
//
// A parameter may be of each version that it agrees with, of which the nearest one counts. The version that is the nearest one
// of most parameters has all that it agrees with, unless another version is nearer by more than a factor of two: rounding to the
// candidate's dtype leaves about the same error against versions that differ by less.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace msdump {

// A parameter of the candidate and the one of a version that it was compared with.
struct ComparedParameter {
  std::string name;
  bool agrees = false;                                     // equal, or within the tolerance
  double error = std::numeric_limits<double>::infinity();  // relative; 0: equal
};

class ParameterVersions {
 public:
  // Adds the next version, with all parameters of the candidate that it has.
  void add(const std::vector<ComparedParameter>& compared);

  // The version that most parameters are nearest to; of several the last. There must be one.
  [[nodiscard]] size_t most() const;

  // Parameters of another version than most().
  struct Group {
    std::string names;  // "model.layers.3.*" if all parameters that begin so are in the group, else a name
    uint64_t parameters = 0;
    std::optional<size_t> version;  // none: they agree with no version
    bool equal = false;             // to the version, bit for bit
  };
  // In the order of names, numbers as numbers.
  [[nodiscard]] std::vector<Group> others() const;
  // The parameters of each version.
  [[nodiscard]] std::vector<uint64_t> counts() const;
  [[nodiscard]] uint64_t parameters() const { return parameters_.size(); }

 private:
  using ByVersion = std::vector<ComparedParameter>;
  [[nodiscard]] static std::optional<size_t> nearest(const ByVersion& found);
  [[nodiscard]] static std::optional<size_t> version_of(const ByVersion& found, size_t most);

  size_t size_ = 0;
  std::map<std::string, ByVersion> parameters_;
};

}  // namespace msdump

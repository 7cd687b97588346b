#include "base/capped_list.h"

#include <algorithm>

namespace msdump {

std::vector<Error> errors_of(const ProblemList& problems, size_t most) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(most, problems.size()));
  std::vector<Error> errors(problems.begin(), problems.begin() + shown);
  const uint64_t more = problems.count() - errors.size();
  if (more == 0 || errors.empty()) return errors;
  errors.push_back(make_error(errors.back().code, "{} more like these", more).with_path(errors.back().path));
  return errors;
}

}  // namespace msdump

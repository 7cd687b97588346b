#include "report/page/page_sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace msdump::report {
namespace {

constexpr size_t kSampleParts = 2000;

class Sampler {
 public:
  Sampler(const std::vector<PagePoint>& points, size_t most) : points_(points), most_(most), taken_(points.size()) {}

  std::vector<size_t> run() {
    take_where(most_ / 2, &PagePoint::marked);
    const size_t parts = std::min(kSampleParts, std::max<size_t>(most_ / 50, 1));
    for (size_t part = 0; part < parts; ++part)
      take_extremes(points_.size() * part / parts, points_.size() * (part + 1) / parts);
    take_where(most_, &PagePoint::differs);
    std::vector<size_t> rows;
    rows.reserve(count_);
    for (size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i]) rows.push_back(i);
    }
    return rows;
  }

 private:
  void take(size_t point) {
    if (taken_[point]) return;
    taken_[point] = true;
    ++count_;
  }

  void take_where(size_t most, bool PagePoint::*wanted) {
    for (size_t i = 0; i < points_.size() && count_ < most; ++i) {
      if (points_[i].*wanted) take(i);
    }
  }

  // A point without an error stands for its kind only where no other does.
  void take_extremes(size_t begin, size_t end) {
    constexpr size_t kKinds = 16, kNoPoint = SIZE_MAX;
    std::array<size_t, kKinds> largest, smallest;
    largest.fill(kNoPoint);
    smallest.fill(kNoPoint);
    for (size_t i = begin; i < end; ++i) {
      const size_t kind = points_[i].kind % kKinds;
      const double error = points_[i].error;
      const auto replaces = [&](size_t best, bool better) {
        return best == kNoPoint || better || (std::isnan(points_[best].error) && !std::isnan(error));
      };
      if (replaces(largest[kind], largest[kind] != kNoPoint && error > points_[largest[kind]].error)) largest[kind] = i;
      if (replaces(smallest[kind], smallest[kind] != kNoPoint && error < points_[smallest[kind]].error))
        smallest[kind] = i;
    }
    for (size_t kind = 0; kind < kKinds && count_ + 2 <= most_; ++kind) {
      if (largest[kind] != kNoPoint) take(largest[kind]);
      if (smallest[kind] != kNoPoint) take(smallest[kind]);
    }
  }

  const std::vector<PagePoint>& points_;
  const size_t most_;
  std::vector<bool> taken_;
  size_t count_ = 0;
};

}  // namespace

std::vector<size_t> page_sample(const std::vector<PagePoint>& points, size_t most) {
  if (points.size() > most) return Sampler(points, most).run();
  std::vector<size_t> all(points.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

}  // namespace msdump::report

// What the pair of dumps says about itself: the rounding that operators of a kind add, and how far single operators lie
// from what their inputs lead to one to expect. No operator is judged by itself: each is left out of the samples that it
// is compared with.
//
// Three levels: the operators of a kind (op type, output, forward or gradient, dtypes), those of its class, and all. A
// level with few samples leans on the one above it; the uppermost leans on what a dtype's rounding is.
// Centres are medians and spreads are median deviations, so that a few faults among siblings do not move them.
// Source: design/divergence.md, section 3.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace msdump {

// Where a sample belongs: dense numbers from 0.
struct SampleGroup {
  uint32_t kind = 0, noise_class = 0;
};

struct Centre {
  double centre = 0;
  double spread = 0;                              // standard deviation of a further sample around it
  uint32_t siblings = 0;                          // samples of the kind, without the one that is judged
  double sibling_centre = 0, sibling_spread = 0;  // of these alone; 0 without any
};

// Centres of samples (logarithms) by kind, class and all.
class Calibration {
 public:
  struct Sample {
    SampleGroup group;
    uint32_t unit = 0;  // the operator: its runs in all steps have the same fault, and count once
    double value = 0;
    double spread = 0;  // the prior's, of this sample
  };
  struct Rule {
    double prior = 0;         // the centre if there is no sample at all, or what kinds with few samples lean on
    bool by_class = true;     // kinds with few samples lean on their class; else on the prior
    double share = 0.5;       // of the samples below the centre
    bool kinds_vary = false;  // kinds without samples of their own are as far apart as the others are
  };
  Calibration(std::vector<Sample> samples, const Rule& rule);

  // For the sample of this index, which does not count itself.
  [[nodiscard]] Centre without(uint32_t sample) const;
  // For one that is not among the samples.
  [[nodiscard]] Centre at(SampleGroup group, double spread) const;

 private:
  struct Group {
    std::vector<double> values;
    double centre = 0, deviation = 0;
  };
  // The standard deviation of the centres of the other kinds.
  [[nodiscard]] double between_others(const Group* kind) const;
  [[nodiscard]] Centre centre_of(SampleGroup group, double spread, const double* left_out) const;

  std::vector<Sample> samples_;
  std::vector<double> values_;  // by sample: the median of its operator
  std::vector<Group> kinds_, classes_;
  Group all_;
  const Rule rule_;
  std::vector<double> centres_;  // of kinds
  double between_ = 0;           // their standard deviation
  double scale_ = 1;             // how the spreads of this pair compare with the prior's
};

}  // namespace msdump

// A random net with everything that its seed decides, and the candidates of it: healthy, with one fault, with two. Each
// fault comes with the truth: which names are right answers, how large it is, and the noise that is there without it.
//
// The local noise of a tensor is the relative error of the healthy candidate against the reference. The size of a fault is
// the relative error that it adds: against the candidate's own operator with the same inputs. A graded fault is given a
// size of so many times the noise of the output where this ratio is largest.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/noisy_net/evaluate.h"

namespace msdump::noisy {

struct Setting {
  NetPlan plan;
  Arithmetic reference, candidate;
  int steps = 1;
  double loss_scale = 1;    // the candidate's
  bool ir = true;           // both dumps come with it
  bool statistics = false;  // statistic.csv in place of the tensors
  bool half_files = false;  // float16 is written as such
};
// Even seeds are there to fit constants, odd ones are held out; both halves have the same mixture.
[[nodiscard]] Setting setting_of(uint64_t seed);

struct Planted {
  std::string kind;   // "epsilon", "missing", ...
  std::string where;  // the operator, or the parameter
  // Right answers, by their names on either side; parameters among them.
  std::set<std::string> in_reference, in_candidate;
  double noise = 0, size = 0;
  [[nodiscard]] double ratio() const { return size / noise; }
};

struct Candidate {
  Net net;
  std::vector<StepValues> values;
  std::vector<Planted> faults;
};

class NoisyNet {
 public:
  explicit NoisyNet(uint64_t seed);

  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] const Net& net() const { return net_; }
  [[nodiscard]] const std::vector<StepValues>& reference() const { return reference_; }

  [[nodiscard]] Candidate clean() const { return {candidate_, healthy_, {}}; }
  // The local noise of the first output of every operator.
  [[nodiscard]] std::vector<double> noise() const;
  // Nothing if no operator was found that such a fault fits.
  [[nodiscard]] std::optional<Candidate> graded(double ratio) const;
  // One as scripts and kernels have them: as large as it is, at least 20 times the noise.
  [[nodiscard]] std::optional<Candidate> full() const;
  // Two graded ones, the second not upstream of the first and as large as `ratio` times the error that it leaves there.
  [[nodiscard]] std::optional<Candidate> two(double ratio) const;

 private:
  struct Choice {
    std::vector<KernelFault> faults;
    Planted planted;
  };
  [[nodiscard]] std::optional<Choice> choose(const std::vector<StepValues>& base, double ratio, bool at_least,
                                             std::mt19937_64& random, const std::set<std::string>& avoid) const;
  [[nodiscard]] std::set<std::string> names_upstream(const std::vector<KernelFault>& faults) const;
  [[nodiscard]] std::optional<Candidate> wrong_kernel(std::mt19937_64& random) const;
  [[nodiscard]] std::optional<Candidate> wrong_script(std::mt19937_64& random) const;
  [[nodiscard]] std::optional<Candidate> wrong_parameter(std::mt19937_64& random) const;
  [[nodiscard]] std::vector<uint32_t> instances(uint32_t of, const std::vector<uint32_t>& all, double size) const;
  // Of one output of an operator of the candidate, in the first step.
  [[nodiscard]] double error(const Net& net, const std::vector<StepValues>& values, uint32_t node, size_t output) const;
  struct Measure {
    double noise = 0, size = 0;
  };
  [[nodiscard]] Measure measure(const std::vector<StepValues>& base, const KernelFault& fault) const;
  [[nodiscard]] bool grade(const std::vector<StepValues>& base, KernelFault& fault, const std::string& kind,
                           double ratio) const;
  [[nodiscard]] Candidate with(std::vector<KernelFault> faults, std::vector<Planted> planted) const;
  [[nodiscard]] Run run_of_candidate() const;

  const Setting setting_;
  const Net net_, candidate_;
  std::map<std::string, uint32_t> keys_;  // of the reference
  std::vector<StepValues> reference_, healthy_;
};

}  // namespace msdump::noisy

// Does the search for roots blame the right operator? Random nets (tests/support/noisy_net) are run in float32 and on a
// simulated device, healthy and with planted faults, dumped, compared, and the answer is held against the truth.
//
//   bench_blame [--nets N] [--half fit|held|both] [--only CASE] [--seed S] [--jobs N] [--list] [--keep DIR]
//
// Cases: clean, 2x, 5x, 20x, 100x (one fault of so many times the local noise), full (one fault as scripts and kernels
// have them, of any size), two (of 20x each). Even seeds are there to fit constants, odd ones are held out. --keep leaves
// the dumps of --seed S in DIR/reference and DIR/CASE.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "support/diff_side.h"
#include "support/noisy_net/judge.h"
#include "support/noisy_net/net_dump.h"
#include "support/scratch_dir.h"

namespace {

using namespace msdump;
using namespace msdump::noisy;
namespace fs = std::filesystem;

const std::vector<std::string> kCases{"clean", "2x", "5x", "20x", "100x", "full", "two"};

struct Options {
  uint64_t first = 0, nets = 60;
  bool fit = true, held = true, list = false;
  unsigned jobs = 2;
  std::string only, keep;
};

struct Outcome {
  uint64_t seed = 0;
  std::string kind, arithmetic, setting;
  size_t operators = 0;
  bool statistics = false;
  std::vector<double> noise;  // of clean ones
  std::vector<Planted> faults;
  std::vector<Named> roots;
  std::vector<std::vector<Named>> rules;  // by kRules, then by recomputing
  double seconds = 0;                     // of reading, pairing, comparing and searching

  [[nodiscard]] bool held() const { return seed % 2 == 1; }
  static bool is_first(const std::vector<Named>& named) { return !named.empty() && named[0].fault >= 0; }
  [[nodiscard]] bool all_named(const std::vector<Named>& named) const {
    std::set<int> found;
    for (const Named& one : named) {
      found.insert(one.fault);
      found.insert(one.places.begin(), one.places.end());
    }
    found.erase(-1);
    return found.size() == faults.size();
  }
  static size_t innocent(const std::vector<Named>& named) {
    return static_cast<size_t>(
        std::count_if(named.begin(), named.end(), [](const Named& one) { return one.fault < 0; }));
  }
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::optional<Candidate> candidate_of(const NoisyNet& noisy, const std::string& kind) {
  if (kind == "clean") return noisy.clean();
  if (kind == "full") return noisy.full();
  if (kind == "two") return noisy.two(20);
  return noisy.graded(std::atof(kind.c_str()));
}

std::string setting_text(const NoisyNet& noisy) {
  const Setting& setting = noisy.setting();
  std::string text = setting.ir && !noisy.net().loops ? "ir" : "no ir";
  if (noisy.net().loops) text += ", loop";
  if (setting.statistics) text += ", statistics";
  if (setting.half_files) text += ", float16 files";
  if (setting.loss_scale != 1) text += ", loss scale";
  if (setting.steps > 1) text += ", two steps";
  return text;
}

void judge_net(uint64_t seed, const Options& options, const std::function<void(Outcome&&)>& done) {
  const NoisyNet noisy(seed);
  const Setting& setting = noisy.setting();
  const DumpForm form{setting.ir, setting.statistics, setting.half_files};
  std::optional<test::ScratchDir> scratch;
  if (options.keep.empty()) scratch.emplace();
  const fs::path folder = scratch ? scratch->path() : fs::path(options.keep);
  write_dump(folder / "reference", noisy.net(), noisy.reference(), setting.reference, form);
  WorkerPool pool(1);
  const CancelToken never;
  const RunContext context{pool, never};
  DiffRules rules;
  for (const std::string& kind : kCases) {
    if (!options.only.empty() && kind != options.only) continue;
    auto candidate = candidate_of(noisy, kind);
    if (!candidate) continue;
    write_dump(folder / kind, candidate->net, candidate->values, setting.candidate, form);
    Outcome outcome;
    outcome.seed = seed;
    outcome.kind = kind;
    outcome.arithmetic = setting.candidate.name;
    outcome.setting = setting_text(noisy);
    outcome.operators = noisy.net().nodes.size();
    outcome.statistics = setting.statistics;
    if (kind == "clean") outcome.noise = noisy.noise();
    const auto recomputed = judge_by_recomputing(*candidate);
    outcome.faults = std::move(candidate->faults);
    const double start = now();
    const auto run = diff_dumps(test::open_diff_side(folder / kind, context),
                                test::open_diff_side(folder / "reference", context), nullptr, rules, {}, context);
    outcome.seconds = now() - start;
    if (!run) throw std::runtime_error(run.error().message);
    outcome.roots = judge(*run, outcome.faults);
    for (const Rule rule : kRules) outcome.rules.push_back(judge_by(rule, *run, outcome.faults));
    outcome.rules.push_back(recomputed);
    if (scratch) fs::remove_all(folder / kind);
    done(std::move(outcome));
  }
}

std::string line_of(const Outcome& outcome) {
  std::string text = fmt::format("{:>5} {:<5} {:<10} {:>3} ops  {:<24}", outcome.seed, outcome.kind, outcome.arithmetic,
                                 outcome.operators, outcome.setting);
  for (const Planted& fault : outcome.faults)
    text += fmt::format("  planted: {} of {} ({:.3g} of noise {:.2g}, {:.3g}x)", fault.kind, fault.where, fault.size,
                        fault.noise, fault.ratio());
  for (size_t i = 0; i < outcome.roots.size() && i < 3; ++i)
    text += fmt::format("\n        {} {} ({:.2f})", outcome.roots[i].fault >= 0 ? "right" : "wrong",
                        outcome.roots[i].text, outcome.roots[i].confidence);
  if (outcome.roots.size() > 3) text += fmt::format("\n        and {} more", outcome.roots.size() - 3);
  return text;
}

double share(size_t part, size_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// Cases that some of the outcomes share, and how often the search was right.
struct Tally {
  size_t cases = 0, first = 0, all = 0, any = 0, innocent = 0;

  void add(const Outcome& outcome, const std::vector<Named>& named) {
    ++cases;
    if (Outcome::is_first(named)) ++first;
    if (!outcome.faults.empty() && outcome.all_named(named)) ++all;
    if (!named.empty()) ++any;
    innocent += Outcome::innocent(named);
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{:>6} {:>9.1f} % {:>9.1f} % {:>9.1f} % {:>12.2f}", cases, share(first, cases),
                       share(all, cases), share(any, cases),
                       static_cast<double>(innocent) / static_cast<double>(std::max<size_t>(cases, 1)));
  }
};

using Key = std::function<std::string(const Outcome&)>;
using Outcomes = std::vector<const Outcome*>;

void print_cases(const Outcomes& outcomes) {
  fmt::print("\n{:<26} {:>6} {:>11} {:>11} {:>11} {:>12}\n", "case", "cases", "first right", "all named", "any root",
             "innocent/case");
  for (const std::string& kind : kCases) {
    Tally tally;
    for (const Outcome* outcome : outcomes) {
      if (outcome->kind == kind) tally.add(*outcome, outcome->roots);
    }
    if (tally.cases > 0) fmt::print("{:<26} {}\n", kind, tally.text());
  }
}

// Clean: the share that has a root. Others: the share whose first root is right, and of how many.
void print_matrix(const Outcomes& outcomes, const char* title, const Key& key) {
  std::map<std::string, std::map<std::string, Tally>> tallies;
  for (const Outcome* outcome : outcomes) tallies[key(*outcome)][outcome->kind].add(*outcome, outcome->roots);
  fmt::print("\n{:<15}", title);
  for (const std::string& kind : kCases) fmt::print(" {:>14}", kind == "clean" ? "clean: a root" : kind + ": first");
  fmt::print("\n");
  for (auto& [name, by_kind] : tallies) {
    fmt::print("{:<15}", name);
    for (const std::string& kind : kCases) {
      const Tally& tally = by_kind[kind];
      const size_t count = kind == "clean" ? tally.any : tally.first;
      fmt::print(" {:>14}",
                 tally.cases == 0 ? "" : fmt::format("{:.0f} % of {}", share(count, tally.cases), tally.cases));
    }
    fmt::print("\n");
  }
}

// The relative error of the outputs of healthy candidates: what there is without any fault.
void print_noise(const Outcomes& outcomes) {
  std::map<std::string, std::vector<double>> noise;
  for (const Outcome* outcome : outcomes) {
    if (outcome->noise.empty()) continue;  // of clean ones alone
    auto& all = noise[outcome->arithmetic];
    all.insert(all.end(), outcome->noise.begin(), outcome->noise.end());
  }
  if (noise.empty()) return;
  fmt::print("\n{:<15} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "local noise", "outputs", "10 %", "median", "90 %", "99 %");
  for (auto& [name, of_all] : noise) {
    std::vector<double>& all = of_all;  // clang 14 captures no structured binding
    std::sort(all.begin(), all.end());
    const auto quantile = [&](size_t percent) { return all[(all.size() - 1) * percent / 100]; };
    fmt::print("{:<15} {:>9} {:>9.2g} {:>9.2g} {:>9.2g} {:>9.2g}\n", name, all.size(), quantile(10), quantile(50),
               quantile(90), quantile(99));
  }
}

void print_confidence(const Outcomes& outcomes) {
  fmt::print("\nconfidence of a root          roots    right\n");
  for (int bin = 9; bin >= 0; --bin) {
    size_t roots = 0, right = 0;
    for (const Outcome* outcome : outcomes) {
      for (const Named& root : outcome->roots) {
        if (std::min(static_cast<int>(root.confidence * 10), 9) != bin) continue;
        ++roots;
        if (root.fault >= 0) ++right;
      }
    }
    if (roots > 0)
      fmt::print("{:.1f} to {:.1f} {:>24} {:>7.1f} %\n", bin / 10.0, (bin + 1) / 10.0, roots, share(right, roots));
  }
}

void print_rules(const Outcomes& outcomes) {
  fmt::print("\nfixed tolerances beside it {:>5} {:>11} {:>11} {:>11} {:>12}\n", "cases", "first right", "all named",
             "any root", "innocent/case");
  for (const std::string& kind : kCases) {
    Tally search;
    std::vector<Tally> rules(std::size(kRules) + 1);
    for (const Outcome* outcome : outcomes) {
      if (outcome->kind != kind) continue;
      search.add(*outcome, outcome->roots);
      for (size_t i = 0; i < rules.size(); ++i) rules[i].add(*outcome, outcome->rules[i]);
    }
    if (search.cases == 0) continue;
    fmt::print("{:<26} {}\n", kind + ", msdump", search.text());
    for (size_t i = 0; i < rules.size(); ++i)
      fmt::print("{:<26} {}\n", fmt::format("{}, {}", kind, i < std::size(kRules) ? name_of(kRules[i]) : "recomputed"),
                 rules[i].text());
  }
}

void print_half(const std::vector<Outcome>& outcomes, bool held) {
  Outcomes chosen;
  double seconds = 0;
  for (const Outcome& outcome : outcomes) {
    if (outcome.held() != held) continue;
    chosen.push_back(&outcome);
    seconds += outcome.seconds;
  }
  if (chosen.empty()) return;
  std::vector<size_t> sizes;
  for (const Outcome* outcome : chosen) sizes.push_back(outcome->operators);
  std::sort(sizes.begin(), sizes.end());
  fmt::print("\n==== {} ====  {} to {} operators, {} in the middle; {:.1f} ms for a comparison\n",
             held ? "held out (odd seeds)" : "for fitting (even seeds)", sizes.front(), sizes.back(),
             sizes[sizes.size() / 2], 1e3 * seconds / static_cast<double>(chosen.size()));
  // The text of statistics has six digits, and an exchange of elements does not show: they are counted apart.
  Outcomes tensors, statistics;
  for (const Outcome* outcome : chosen) (outcome->statistics ? statistics : tensors).push_back(outcome);
  print_cases(tensors);
  print_matrix(tensors, "arithmetic", [](const Outcome& one) { return one.arithmetic; });
  print_matrix(tensors, "fault", [](const Outcome& one) {
    return one.faults.empty() ? "none" : one.faults.size() > 1 ? "two" : one.faults[0].kind;
  });
  print_matrix(chosen, "dumps", [](const Outcome& one) {
    return one.statistics ? "statistics" : one.setting.starts_with("no ir") ? "no IR" : "IR";
  });
  print_noise(chosen);
  chosen = std::move(tensors);
  print_confidence(chosen);
  print_rules(chosen);
}

Options options_of(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    if (name == "--list") {
      options.list = true;
      continue;
    }
    if (i + 1 == count) throw std::runtime_error(fmt::format("{} needs a value", name));
    const std::string value = arguments[++i];
    if (name == "--nets")
      options.nets = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "--jobs")
      options.jobs = static_cast<unsigned>(std::atoi(value.c_str()));
    else if (name == "--only")
      options.only = value;
    else if (name == "--keep")
      options.keep = value;
    else if (name == "--half") {
      options.fit = value != "held";
      options.held = value != "fit";
    } else if (name == "--seed") {
      options.first = std::strtoull(value.c_str(), nullptr, 10);
      options.nets = 1;
      options.list = true;
    } else {
      throw std::runtime_error(fmt::format("no option {}", name));
    }
  }
  return options;
}

std::vector<Outcome> run(const Options& options) {
  std::vector<Outcome> outcomes;
  std::mutex mutex;
  std::atomic<uint64_t> next = options.first;
  const auto work = [&] {
    for (uint64_t seed = next++; seed < options.first + options.nets; seed = next++) {
      if (!(seed % 2 == 1 ? options.held : options.fit)) continue;
      try {
        judge_net(seed, options, [&](Outcome&& outcome) {
          const std::scoped_lock lock(mutex);
          if (options.list) fmt::print("{}\n", line_of(outcome));
          outcomes.push_back(std::move(outcome));
        });
      } catch (const std::exception& problem) {
        fmt::print(stderr, "seed {}: {}\n", seed, problem.what());
        std::exit(1);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < options.jobs; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Options options = options_of(count, arguments);
    const double start = now();
    const auto outcomes = run(options);
    for (const bool held : {false, true}) print_half(outcomes, held);
    fmt::print("\n{} nets, {} cases in {:.1f} s\n", options.nets, outcomes.size(), now() - start);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "bench_blame: {}\n", problem.what());
    return 2;
  }
  return 0;
}

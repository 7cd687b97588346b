#include "divergence/runs/passed_on.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "divergence/model/constants.h"
#include "graph/flow/communication.h"

namespace msdump {
namespace {

// Of a step. What updates the weights follows the last backward call.
enum class PassOfStep : uint8_t { kForward, kBackward, kUpdate };

// The outputs of the runs after one, of its step and pass: where no reader is known, these show whether what it made was
// right. The next step shows it where nothing is left of the pass. Of an update the weights that it reads do: of one that is
// wrong, all that follows is.
class LaterOutputs {
 public:
  void begin(std::optional<int64_t> step, PassOfStep pass) {
    if (step != step_) {
      next_ = passes_[0];
      next_weights_ = weights_;
      passes_ = {};
      weights_ = {};
    }
    step_ = step;
    pass_ = pass;
  }
  void add(bool compared, bool differs) { passes_[static_cast<size_t>(pass_)].add(compared, differs); }
  void add_weight(const Shape& shape, bool differs) {
    weights_.all.add(true, differs);
    weights_.by_shape[shape].add(true, differs);
  }
  [[nodiscard]] bool any() const { return shown().compared > 0; }
  [[nodiscard]] bool agree() const { return any() && !differ(); }
  [[nodiscard]] bool differ() const { return shown().many_differ(); }
  // What comes of gradients that were reduced.
  [[nodiscard]] bool weights_agree() const {
    const bool weights = pass_ != PassOfStep::kForward && next_weights_.all.compared > 0;
    return weights ? !next_weights_.all.many_differ() : agree();
  }
  // Of those with this shape.
  [[nodiscard]] bool weights_agree(const Shape& shape) const {
    const auto found = next_weights_.by_shape.find(shape);
    return pass_ != PassOfStep::kForward && found != next_weights_.by_shape.end() && !found->second.many_differ();
  }

 private:
  struct Outputs {
    size_t compared = 0, differ = 0;

    void add(bool one_compared, bool one_differs) {
      compared += one_compared ? 1U : 0U;
      differ += one_differs ? 1U : 0U;
    }
    [[nodiscard]] bool many_differ() const {
      constexpr double kFew = 0.2;
      return static_cast<double>(differ) > kFew * static_cast<double>(compared);
    }
  };
  struct Weights {
    Outputs all;
    std::map<Shape, Outputs> by_shape;
  };
  [[nodiscard]] const Outputs& shown() const {
    const Outputs& own = passes_[static_cast<size_t>(pass_)];
    if (pass_ == PassOfStep::kUpdate && next_weights_.all.compared > 0) return next_weights_.all;
    return own.compared == 0 || (pass_ == PassOfStep::kUpdate && next_.compared > 0) ? next_ : own;
  }

  std::optional<int64_t> step_;
  PassOfStep pass_ = PassOfStep::kForward;
  std::array<Outputs, 3> passes_;
  Weights weights_;  // that forward calls of the step read
  Outputs next_;     // of the forward pass of the step after
  Weights next_weights_;
};

// From the last run to the first: a reader that heals got what it needed, whatever its input looks like.
class ReaderSearch {
 public:
  explicit ReaderSearch(RunFacts& facts) : facts_(facts), read_(facts.tensors(), Read::kNever) {
    found_.right.resize(facts.tensors());
    found_.mended.resize(facts.tensors());
    found_.differs_after.resize(facts.runs().size());
    for (uint32_t run = 0; run < facts.runs().size(); ++run) {
      if (!facts.is_backward(run)) continue;
      backward_.try_emplace(facts.place(run).step, run, run).first->second.second = run;
    }
    for (uint32_t run = 0; run < facts.runs().size(); ++run) {
      const PassOfStep pass = pass_of(run);
      const bool reduces = pass == PassOfStep::kBackward && is_communication(facts.op(run).type);
      if (pass != PassOfStep::kUpdate && !reduces) continue;
      for (const uint32_t output : facts.run(run).outputs) updated_.insert(facts.diff(output).shape);
    }
  }

  PassedOn search() && {
    for (auto run = static_cast<uint32_t>(facts_.runs().size()); run-- > 0;) {
      pass_ = pass_of(run);
      later_.begin(facts_.place(run).step, pass_);
      collective_ = is_communication(facts_.op(run).type);
      const Read outputs = see_outputs(run);
      see_inputs(run, outputs);
      found_.differs_after[run] = later_.differ();
    }
    forget_unread();
    return std::move(found_);
  }

 private:
  enum class Read : uint8_t { kNever, kRight, kMended, kWrong };  // the last that applies counts

  [[nodiscard]] PassOfStep pass_of(uint32_t run) const {
    if (facts_.is_backward(run)) return PassOfStep::kBackward;
    const auto found = backward_.find(facts_.place(run).step);
    if (found == backward_.end() || run < found->second.first) return PassOfStep::kForward;
    return run < found->second.second ? PassOfStep::kBackward : PassOfStep::kUpdate;
  }

  // Does it differ on some of the ranks alone? Then it does not come of what all were given.
  [[nodiscard]] bool is_uneven(uint32_t tensor) const { return facts_.of_cuts() && facts_.cuts()->uneven[tensor]; }

  // As far as the shape tells: does a forward call read what no call of its step makes and an update has made?
  [[nodiscard]] bool is_weight(uint32_t run, const RunInput& input) const {
    if (pass_ != PassOfStep::kForward || !facts_.compared(input.tensor)) return false;
    const bool made_here = input.made_by != kNoRun && facts_.place(input.made_by).step == facts_.place(run).step;
    return !made_here && updated_.contains(facts_.diff(input.tensor).shape);
  }

  // What the outputs of the run show of its inputs.
  Read see_outputs(uint32_t run) {
    Read shown = Read::kNever;
    const std::vector<uint32_t>& outputs = facts_.run(run).outputs;
    for (const uint32_t output : outputs) {
      const Read read = read_[output];
      found_.right[output] = read == Read::kRight && facts_.differs(output);
      found_.mended[output] = read == Read::kMended && facts_.differs(output);
      // Ranks may have a sum where others have the mean, which a later call takes.
      const bool doubtful = !facts_.layout_known(output) || (facts_.of_cuts() && collective_ && facts_.differs(output));
      const bool agree = collective_ ? later_.weights_agree() : later_.agree();
      const bool updates = collective_ && later_.weights_agree(facts_.diff(output).shape);
      // Nothing shows whether the last update is right.
      const bool unseen = pass_ == PassOfStep::kUpdate && !collective_ && !later_.any();
      if (doubtful && (found_.right[output] || updates || (read == Read::kNever && (agree || unseen)))) {
        // What differs as values of another layout do, and does not matter, differs in its layout alone.
        facts_.forget(output);
        harmless_.insert(facts_.name(run));
      } else if (facts_.compared(output)) {
        const Read own = !facts_.differs(output) ? Read::kRight : facts_.layout_known(output) ? Read::kWrong : read;
        shown = std::max(shown, found_.right[output] ? Read::kRight : own);
      }
    }
    // What cannot be told of one says nothing of those before it.
    const bool any_later = later_.any();
    for (const uint32_t output : outputs) {
      if (facts_.differs(output) && collective_ && read_[output] == Read::kNever && !any_later) {
        unread_.push_back(run);
      } else {
        later_.add(facts_.compared(output), facts_.differs(output) && !found_.right[output]);
      }
    }
    return shown;
  }

  void see_inputs(uint32_t run, Read outputs) {
    const bool heals = found_.heals(facts_, run), even = found_.evens_out(facts_, run);
    for (const RunInput& input : facts_.run(run).inputs) {
      if (is_weight(run, input))
        later_.add_weight(facts_.diff(input.tensor).shape, facts_.differs(input.tensor) && !is_uneven(input.tensor));
      if (!facts_.compared(input.tensor)) {
        // The other side computes this in another call: what came of it is right.
        if (even) note(input.made_as, Read::kRight);
        continue;
      }
      // A small error is made even by a collective alone, as the local maxima are by that of all: an update may be right
      // within its tolerance although the gradient is not.
      const auto& error = facts_.error(input.tensor);
      const bool small = error && error->relative < kMostError && !collective_;
      const bool healed = heals || (even && !small);
      see_input(input, healed, outputs);
      const bool unknown = facts_.differs(input.tensor) && !facts_.layout_known(input.tensor);
      if (unknown && (healed || (outputs <= Read::kRight && later_.agree()))) facts_.forget(input.tensor);
    }
  }

  // What was read, of the outputs that it was made as.
  void see_input(const RunInput& input, bool healed, Read outputs) {
    const bool differs = facts_.differs(input.tensor);
    // Its own writer has the value, with another partner or none.
    if (!differs) note(input.also_made_as, Read::kRight);
    if (input.made_as == kNoTensor) return;
    const Read wrong = is_mended(input.made_as, input.tensor) ? Read::kMended : Read::kWrong;
    const Read now = !differs || healed ? Read::kRight : facts_.layout_known(input.tensor) ? wrong : outputs;
    // What another output holds in the candidate says nothing against this one.
    const bool of_other = input.also_made_as != kNoTensor && input.also_made_as != input.made_as;
    if (now <= Read::kMended || !of_other) note(input.made_as, now);
  }

  void note(uint32_t tensor, Read read) {
    if (tensor != kNoTensor) read_[tensor] = std::max(read_[tensor], read);
  }

  [[nodiscard]] bool is_mended(uint32_t output, uint32_t input) const {
    const auto &left = facts_.error(output), &read = facts_.error(input);
    return facts_.of_cuts() && left && read && kChangedOnTheWay * read->relative < left->relative;
  }

  // At the end of the last step: as in the steps before.
  void forget_unread() {
    for (const uint32_t run : unread_) {
      if (!harmless_.contains(facts_.name(run))) continue;
      for (const uint32_t output : facts_.run(run).outputs) {
        if (facts_.differs(output)) facts_.forget(output);
      }
    }
  }

  RunFacts& facts_;
  PassedOn found_;
  std::vector<Read> read_;  // by tensor
  LaterOutputs later_;
  std::map<std::optional<int64_t>, std::pair<uint32_t, uint32_t>> backward_;  // by step: the first run and the last
  std::set<Shape> updated_;                 // shapes of what is reduced there, and of what is made after it
  bool collective_ = false;                 // the run that is seen
  PassOfStep pass_ = PassOfStep::kForward;  // its own
  std::vector<uint32_t> unread_;            // doubtful, and nothing later shows whether they matter
  std::set<std::string_view> harmless_;     // operators of which something else showed that they do not
};

}  // namespace

bool PassedOn::heals(const RunFacts& facts, uint32_t run) const {
  const std::vector<uint32_t>& all = facts.run(run).outputs;
  return facts.of_cuts() && !all.empty() &&
         std::all_of(all.begin(), all.end(), [&](uint32_t tensor) { return right[tensor]; });
}

bool PassedOn::evens_out(const RunFacts& facts, uint32_t run) const {
  const std::vector<uint32_t>& all = facts.run(run).outputs;
  return facts.of_cuts() && !all.empty() && std::all_of(all.begin(), all.end(), [&](uint32_t tensor) {
           return right[tensor] || (facts.compared(tensor) && !facts.differs(tensor));
         });
}

PassedOn passed_on(RunFacts& facts) { return ReaderSearch(facts).search(); }

}  // namespace msdump

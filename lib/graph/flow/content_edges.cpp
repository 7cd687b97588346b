#include "graph/flow/content_edges.h"

#include "base/hash_slots.h"
#include "graph/flow/communication.h"

namespace msdump {
namespace {

// The outputs of a rank and step so far, by their contents.
class Written {
 public:
  struct Output {
    uint64_t contents;
    uint32_t run, tensor;
  };

  [[nodiscard]] const Output* find(uint64_t contents) const {
    const auto same = [&](uint32_t i) { return outputs_[i].contents == contents; };
    const uint32_t found = contents == 0 ? HashSlots::kNone : by_contents_.find(mix_hash(contents, 0), same);
    return found == HashSlots::kNone ? nullptr : &outputs_[found];
  }

  // Of several with the same contents the first is kept, as a module repeats what the last operator inside it wrote, or
  // the last of those that pass values on.
  void add(const Output& output, bool passes_on) {
    if (output.contents == 0) return;
    const auto same = [&](uint32_t i) { return outputs_[i].contents == output.contents; };
    const auto next = static_cast<uint32_t>(outputs_.size());
    const uint32_t found = by_contents_.find_or_add(mix_hash(output.contents, 0), next, same);
    if (found == next) {
      outputs_.push_back(output);
    } else if (passes_on) {
      outputs_[found] = output;
    }
  }

 private:
  std::vector<Output> outputs_;
  HashSlots by_contents_;
};

class ContentEdges {
 public:
  ContentEdges(const RunSource& source, std::vector<OpRun>& runs) : source_(source), runs_(runs) {}

  bool add() {
    bool any = false;
    for (uint32_t i = 0; i < runs_.size(); ++i) {
      if (i == 0 || !same_place(i, i - 1)) begin_place(i);
      for (RunInput& input : runs_[i].inputs) any = add(input) || any;
      const bool passes_on = communicates(i);
      for (const uint32_t tensor : runs_[i].outputs) {
        written_.add({source_.contents[tensor], i, tensor}, passes_on);
        other_written_.add({other_contents(tensor), i, tensor}, passes_on);
      }
    }
    return any;
  }

 private:
  [[nodiscard]] bool same_place(uint32_t run, uint32_t other) const {
    return runs_[run].place.rank == runs_[other].place.rank && runs_[run].place.step == runs_[other].place.step;
  }
  [[nodiscard]] bool communicates(uint32_t run) const {
    return is_communication(source_.operators[runs_[run].op].type);
  }
  [[nodiscard]] uint64_t other_contents(uint32_t tensor) const {
    return source_.other_contents.empty() ? 0 : source_.other_contents[tensor];
  }

  // Of a pipeline, the other stage may come later: what arrived there was not made by a run before.
  void begin_place(uint32_t first) {
    written_ = other_written_ = received_ = {};
    if (source_.other_contents.empty()) return;
    for (uint32_t run = first; run < runs_.size() && same_place(run, first); ++run) {
      if (!runs_[run].inputs.empty() || !communicates(run)) continue;
      for (const uint32_t tensor : runs_[run].outputs) received_.add({other_contents(tensor), run, tensor}, false);
    }
  }

  bool add(RunInput& input) const {
    if (input.from == InputEdge::From::kParameter) return false;
    const uint64_t contents = source_.contents[input.tensor];
    const Written::Output* also = other_written_.find(other_contents(input.tensor));
    if (also == nullptr) also = received_.find(other_contents(input.tensor));
    if (also != nullptr) {
      input.also_made_by = also->run;
      input.also_made_as = also->tensor;
    }
    const Written::Output* made = written_.find(contents);
    // Of several outputs with these contents, the one that has the other dump's too.
    if (made == nullptr || (also != nullptr && source_.contents[also->tensor] == contents)) made = also;
    if (made == nullptr) return false;
    input.from = InputEdge::From::kOperator;
    input.made_by = made->run;
    input.made_as = made->tensor;
    return true;
  }

  const RunSource& source_;
  std::vector<OpRun>& runs_;
  Written written_, other_written_;  // by the contents in the one dump and in the other
  Written received_;                 // by those in the other, in all of the place
};

}  // namespace

bool add_content_edges(const RunSource& source, std::vector<OpRun>& runs) {
  return !source.contents.empty() && ContentEdges(source, runs).add();
}

}  // namespace msdump

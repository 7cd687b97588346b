#include "compare/tokens/token_rows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "compare/limits.h"

namespace msdump {

int64_t equal_in_front(const TokenSequence& sequence) {
  const std::vector<int64_t>& ids = sequence.ids;
  const auto other = std::find_if(ids.begin(), ids.end(), [&](int64_t id) { return id != ids.front(); });
  const int64_t count = other - ids.begin();
  return count > 1 && other != ids.end() ? count : 0;
}

KnownBeginnings::KnownBeginnings(std::span<const TokenSequence> sequences) {
  const auto add = [&](const TokenSequence& sequence, size_t from) {
    uint64_t hash = 0;
    for (size_t i = from; i < sequence.ids.size(); ++i) {
      hash = with(hash, sequence.ids[i]);
      hashes_.insert(hash);
      const auto position = static_cast<int64_t>(i - from);
      const uint64_t here = place(position, sequence.ids[i]);
      places_.insert(here);
      if (i + 1 < sequence.ids.size()) places_.insert(with(here, sequence.ids[i + 1]));
    }
  };
  for (const TokenSequence& sequence : sequences) {
    if (sequence.first != 0) continue;
    add(sequence, 0);
    if (const int64_t equal = equal_in_front(sequence); equal > 0) add(sequence, static_cast<size_t>(equal));
  }
}

namespace {

// No sequence is longer, so that sums of positions and counts do not overflow.
constexpr int64_t kMostPosition = INT64_MAX / 4;

// Rows that follow each other in one row of the batch, and the position of the first; none if nothing tells.
struct Fragment {
  int64_t row = 0, count = 0;
  std::optional<int64_t> position = {};
  std::optional<int64_t> request = {};
};

// What the inputs of one pass say of its rows, with sizes checked.
class PassReader {
 public:
  explicit PassReader(const TokenInputs& inputs) : inputs_(inputs) {
    rows_ = static_cast<int64_t>(inputs.ids.size());
    const bool is_batch = inputs.shape.size() == 2 && inputs.shape[0] > 0 && rows_ >= inputs.shape[0];
    batch_ = is_batch && rows_ % inputs.shape[0] == 0 ? inputs.shape[0] : 1;
    width_ = rows_ / batch_;
    const auto size = [](const std::vector<int64_t>& values) { return static_cast<int64_t>(values.size()); };
    by_row_ =
        rows_ > 0 && (size(inputs.positions) == rows_ || size(inputs.positions) == 3 * rows_);  // three: of images
    by_column_ = !by_row_ && batch_ > 1 && size(inputs.positions) == width_;
    has_slots_ = size(inputs.slots) == rows_;
    const int64_t masked = size(inputs.mask);
    mask_width_ = masked > 0 && masked % batch_ == 0 && masked / batch_ >= width_ ? masked / batch_ : 0;
    has_cuts_ = batch_ == 1 && are_cuts(inputs.cu_seqlens);
  }

  [[nodiscard]] int64_t batch() const { return batch_; }
  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t width() const { return width_; }
  [[nodiscard]] std::optional<int64_t> slot(int64_t row) const {
    return has_slots_ ? std::optional(inputs_.slots[at(row)]) : std::nullopt;
  }
  [[nodiscard]] bool has_cuts() const { return has_cuts_; }
  // True if something tells where sequences begin.
  [[nodiscard]] bool is_split() const { return by_row_ || has_cuts_ || batch_ > 1 || mask_width_ > 0; }

  [[nodiscard]] std::vector<Fragment> fragments() const {
    std::vector<Fragment> found;
    for (size_t i = 0; has_cuts_ && i + 1 < inputs_.cu_seqlens.size(); ++i) {
      const int64_t begin = inputs_.cu_seqlens[i], end = inputs_.cu_seqlens[i + 1];
      if (end > begin) found.push_back({begin, end - begin, by_row_ ? position(begin) : std::nullopt, {}});
    }
    for (int64_t row = 0; !has_cuts_ && row < rows_; ++row) {
      if (!is_token(row)) continue;
      const bool goes_on = row % width_ != 0 && !found.empty() && found.back().row + found.back().count == row &&
                           (!by_row_ || goes_up(row));
      if (goes_on) {
        ++found.back().count;
      } else {
        found.push_back({row, 1, position_of_first(row), {}});
      }
    }
    return found;
  }

  // Sets what is stated of each, if there are as many.
  void state(std::vector<Fragment>& found) const {
    for (size_t i = 0; i < found.size(); ++i) {
      Fragment& one = found[i];
      // In a padded batch the tokens before may count pads.
      const bool stated = batch_ == 1 && inputs_.lengths.size() == found.size() && inputs_.lengths[i] >= one.count &&
                          inputs_.lengths[i] < kMostPosition;
      if (stated) one.position = inputs_.lengths[i] - one.count;
      if (inputs_.requests.size() == found.size()) one.request = inputs_.requests[i];
    }
  }

 private:
  static size_t at(int64_t row) { return static_cast<size_t>(row); }

  [[nodiscard]] bool are_cuts(const std::vector<int64_t>& cuts) const {
    return cuts.size() > 1 && cuts.front() == 0 && cuts.back() > 0 && cuts.back() <= rows_ &&
           std::is_sorted(cuts.begin(), cuts.end());
  }

  [[nodiscard]] std::optional<int64_t> position(int64_t row) const {
    const int64_t value = inputs_.positions[at(by_column_ ? row % width_ : row)];
    return value >= 0 && value < kMostPosition ? std::optional(value) : std::nullopt;
  }
  // True if the row has the position behind that of the row before.
  [[nodiscard]] bool goes_up(int64_t row) const {
    const auto before = position(row - 1);
    return before && position(row) == *before + 1;
  }

  [[nodiscard]] bool is_token(int64_t row) const {
    // Pads in front have the position of the first token.
    if (mask_width_ == 0)
      return batch_ == 1 || !by_row_ || row % width_ + 1 == width_ || position(row) != position(row + 1);
    return inputs_.mask[at(row / width_ * mask_width_ + mask_width_ - width_ + row % width_)] != 0;
  }

  [[nodiscard]] std::optional<int64_t> position_of_first(int64_t row) const {
    if (by_row_) return position(row);
    if (mask_width_ > 0) {
      const auto begin = inputs_.mask.begin() + row / width_ * mask_width_;
      const auto here = begin + mask_width_ - width_ + row % width_;
      return std::count_if(begin, here, [](int64_t one) { return one != 0; });
    }
    return by_column_ ? position(row) : std::nullopt;
  }

  const TokenInputs& inputs_;
  int64_t rows_ = 0, batch_ = 1, width_ = 0, mask_width_ = 0;
  bool by_row_ = false, by_column_ = false, has_slots_ = false, has_cuts_ = false;
};

class Joiner {
 public:
  explicit Joiner(const KnownBeginnings& known) : known_(known) {}

  TokenRows run(std::span<const TokenInputs> passes) {
    for (const TokenInputs& inputs : passes) add(inputs);
    return std::move(result_);
  }

 private:
  // What joins spans to the sequence, beside its tokens.
  struct State {
    uint64_t hash = 0;  // of all its tokens
    std::optional<int64_t> last_slot;
    size_t pass = SIZE_MAX, place = 0;  // its last span: the pass, and the place among the spans of that
    uint32_t source = 0;                // of that pass
  };

  void add(const TokenInputs& inputs) {
    const PassReader reader(inputs);
    pass_ = result_.passes.size();
    if (inputs.source != source_) begin_source(inputs.source);
    PassRows& rows = result_.passes.emplace_back();
    rows.batch = reader.batch();
    rows.rows = reader.rows();
    std::vector<Fragment> fragments = reader.fragments();
    if (!reader.has_cuts() && !known_.empty()) fragments = split_by_neighbours(fragments, inputs.ids);
    if (!reader.is_split()) {
      std::vector<Fragment> known = split_like_known(inputs.ids);
      const bool one_each = known.empty() && pass_ > 0 && before_.size() == inputs.ids.size();
      for (int64_t row = 0; one_each && row < reader.rows(); ++row) known.push_back({row, 1, {}, {}});
      if (!known.empty()) fragments = std::move(known);
    }
    reader.state(fragments);
    // Rows of a batch go on where those of the pass before ended.
    const bool same_batch =
        pass_ > 0 && reader.batch() == result_.passes[pass_ - 1].batch && reader.width() <= width_before_;
    in_batch_ = same_batch && reader.batch() > 1;
    const bool in_order = same_batch && fragments.size() == before_.size();
    std::vector<uint32_t> order;
    next_ = 0;
    for (size_t i = 0; i < fragments.size(); ++i) {
      Fragment& one = fragments[i];
      if (!one.position) one.position = in_order ? result_.sequences[before_[i]].end() : 0;
      const uint32_t sequence = sequence_of(one, inputs, reader);
      append(sequence, one, inputs, reader.slot(one.row + one.count - 1), order.size());
      order.push_back(sequence);
    }
    of_batch_.assign(static_cast<size_t>(reader.batch()), UINT32_MAX);
    for (size_t i = 0; i < fragments.size(); ++i)
      of_batch_[static_cast<size_t>(fragments[i].row / std::max<int64_t>(1, reader.width()))] = order[i];
    result_.rows += reader.rows();
    result_.pads += reader.rows();
    for (const TokenSpan& span : result_.passes.back().spans) result_.pads -= span.count;
    before_ = std::move(order);
    width_before_ = reader.width();
    place_before_.clear();
    for (uint32_t i = 0; i < before_.size(); ++i) place_before_[before_[i]] = i;
  }

  // Forgets the passes of the source before: another rank's sequences do not go on in its own.
  void begin_source(uint32_t source) {
    source_ = source;
    before_.clear();
    place_before_.clear();
    requests_.clear();
    width_before_ = 0;
  }

  // Sequences may meet at positions that go up by 1.
  [[nodiscard]] std::vector<Fragment> split_by_neighbours(const std::vector<Fragment>& fragments,
                                                          const std::vector<int64_t>& ids) const {
    std::vector<Fragment> split;
    for (const Fragment& one : fragments) {
      split.push_back(one);
      for (int64_t row = one.row; one.position && row + 1 < one.row + one.count; ++row) {
        const int64_t position = *one.position + row - one.row;
        const int64_t id = ids[static_cast<size_t>(row)], next = ids[static_cast<size_t>(row) + 1];
        const bool meet = known_.has_token(position, id) && known_.has_token(position + 1, next) &&
                          !known_.has_tokens(position, id, next);
        if (!meet) continue;
        const int64_t end = split.back().row + split.back().count;
        split.back().count = row + 1 - split.back().row;
        split.push_back({row + 1, end - row - 1, position + 1, {}});
      }
    }
    return split;
  }

  // Rows as sequences that the other side knows; none if they are not.
  [[nodiscard]] std::vector<Fragment> split_like_known(const std::vector<int64_t>& ids) const {
    std::vector<Fragment> found;
    uint64_t hash = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      const uint64_t longer = KnownBeginnings::with(hash, ids[i]);
      if (!found.empty() && known_.has(longer)) {
        hash = longer;
        ++found.back().count;
      } else {
        hash = KnownBeginnings::with(0, ids[i]);
        found.push_back({static_cast<int64_t>(i), 1, 0, {}});
        if (!known_.has(hash)) return {};
      }
    }
    return found;
  }

  [[nodiscard]] uint64_t hash_with(uint32_t sequence, const Fragment& one, const TokenInputs& inputs) const {
    const auto first = inputs.ids.begin() + one.row;
    return std::accumulate(first, first + one.count, states_[sequence].hash, KnownBeginnings::with);
  }

  uint32_t begin(int64_t position) {
    result_.sequences.push_back({position, {}});
    states_.emplace_back();
    return static_cast<uint32_t>(states_.size() - 1);
  }

  // True if no span of the pass is of it.
  [[nodiscard]] bool is_free(uint32_t sequence) const { return states_[sequence].pass != pass_; }

  // The sequence of the request, or of the row of the batch.
  [[nodiscard]] std::optional<uint32_t> named_sequence(const Fragment& one, const PassReader& reader) const {
    const auto request = one.request ? requests_.find(*one.request) : requests_.end();
    if (request != requests_.end() && is_free(request->second) &&
        result_.sequences[request->second].end() == one.position)
      return request->second;
    if (!in_batch_) return std::nullopt;
    const uint32_t found = of_batch_[static_cast<size_t>(one.row / reader.width())];
    return found != UINT32_MAX && states_[found].pass + 1 == pass_ ? std::optional(found) : std::nullopt;
  }

  uint32_t sequence_of(const Fragment& one, const TokenInputs& inputs, const PassReader& reader) {
    if (one.position == 0) return begin(0);
    if (const auto named = named_sequence(one, reader)) return *named;
    const std::optional<int64_t> slot = reader.slot(one.row);
    const auto is_known = [&](uint32_t sequence) {
      const TokenSequence& tokens = result_.sequences[sequence];
      // Of one whose first tokens were cached, the other side has two neighbours.
      if (tokens.first != 0)
        return known_.has_tokens(tokens.end() - 1, tokens.ids.back(), inputs.ids[static_cast<size_t>(one.row)]);
      return known_.has(hash_with(sequence, one, inputs));
    };
    // 2: the other side knows it; 1: the next place in the cache.
    const auto evidence_of = [&](uint32_t sequence) {
      const bool in_cache = slot && states_[sequence].last_slot &&
                            static_cast<uint64_t>(*states_[sequence].last_slot) + 1 == static_cast<uint64_t>(*slot);
      return (is_known(sequence) ? 2 : 0) + (in_cache ? 1 : 0);
    };
    const int most = (known_.empty() ? 0 : 2) + (slot ? 1 : 0);
    // The one that is next in the order of the pass before, which engines mostly keep.
    while (next_ < before_.size() && !is_free(before_[next_])) ++next_;
    std::optional<uint32_t> best;
    int best_evidence = -1;
    if (next_ < before_.size() && result_.sequences[before_[next_]].end() == one.position) {
      best = before_[next_];
      best_evidence = evidence_of(*best);
    }
    const auto look_among = [&](bool own) {
      uint32_t alike = 0;
      size_t tried = 0;
      const auto ends = ends_.find(*one.position);
      if (ends == ends_.end()) return;
      for (const uint32_t sequence : ends->second) {
        if (!is_free(sequence) || (states_[sequence].source == source_) != own) continue;
        if (++tried > kMostTried) {
          ++result_.cut_short;
          break;
        }
        const int evidence = evidence_of(sequence);
        if (!own && !known_.empty() && evidence < 2) continue;
        alike += static_cast<uint32_t>(evidence == best_evidence);
        if (evidence <= best_evidence) continue;
        best = sequence;
        best_evidence = evidence;
        alike = 1;
      }
      if (alike > 1 && best_evidence == 0) ++result_.undecided;
    };
    if (!best || best_evidence < most) look_among(true);
    if (!best && source_ > 0) look_among(false);
    if (best_evidence < 2 && !known_.empty()) {
      const auto some = std::span(before_).first(std::min(before_.size(), kMostTried));
      const auto known = std::find_if(some.begin(), some.end(),
                                      [&](uint32_t sequence) { return is_free(sequence) && is_known(sequence); });
      if (known != some.end()) best = *known;
    }
    if (!best) best = rejected_part(one);
    if (!best) return begin(*one.position);
    const auto place = place_before_.find(*best);
    if (place != place_before_.end()) next_ = std::max<size_t>(next_, place->second + 1);
    return *best;
  }

  // The sequence of the pass before whose last span has the position inside.
  std::optional<uint32_t> rejected_part(const Fragment& one) {
    if (next_ >= before_.size()) return std::nullopt;
    const uint32_t sequence = before_[next_];
    TokenSequence& tokens = result_.sequences[sequence];
    State& state = states_[sequence];
    if (state.pass + 1 != pass_) return std::nullopt;
    TokenSpan& last = result_.passes[state.pass].spans[state.place];
    if (one.position <= last.position || one.position >= last.position + last.count) return std::nullopt;
    const int64_t rejected = last.position + last.count - *one.position;
    last.count -= rejected;
    result_.pads += rejected;
    forget_end(sequence);
    tokens.ids.resize(tokens.ids.size() - static_cast<size_t>(rejected));
    state.hash = std::accumulate(tokens.ids.begin(), tokens.ids.end(), uint64_t{0}, KnownBeginnings::with);
    return sequence;
  }

  void forget_end(uint32_t sequence) {
    const auto ends = ends_.find(result_.sequences[sequence].end());
    if (ends == ends_.end()) return;
    std::erase(ends->second, sequence);
    if (ends->second.empty()) ends_.erase(ends);
  }

  void append(uint32_t sequence, const Fragment& one, const TokenInputs& inputs, std::optional<int64_t> last_slot,
              size_t place) {
    if (!result_.sequences[sequence].ids.empty()) forget_end(sequence);
    states_[sequence] = {hash_with(sequence, one, inputs), last_slot, pass_, place, source_};
    const auto first = inputs.ids.begin() + one.row;
    std::vector<int64_t>& ids = result_.sequences[sequence].ids;
    ids.insert(ids.end(), first, first + one.count);
    const int64_t end = result_.sequences[sequence].end();
    result_.passes.back().spans.push_back({one.row, one.count, end - one.count, sequence});
    ends_[end].push_back(sequence);
    if (one.request) requests_[*one.request] = sequence;
  }

  const KnownBeginnings& known_;
  TokenRows result_;
  std::vector<State> states_;                      // by sequence
  std::map<int64_t, std::vector<uint32_t>> ends_;  // sequences by their lengths
  std::vector<uint32_t> before_;                   // sequences of the pass before, in its order
  std::map<uint32_t, size_t> place_before_;        // in that
  std::map<int64_t, uint32_t> requests_;           // the latest sequence of each
  std::vector<uint32_t> of_batch_;                 // by row of the batch, in the pass before; UINT32_MAX: pads
  bool in_batch_ = false;
  int64_t width_before_ = 0;
  size_t pass_ = 0, next_ = 0;
  uint32_t source_ = 0;
};

}  // namespace

TokenRows token_rows(std::span<const TokenInputs> passes, const KnownBeginnings& known) {
  return Joiner(known).run(passes);
}

}  // namespace msdump

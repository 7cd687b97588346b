#include "compare/tokens/token_side.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "compare/match/parameters/parameter_views.h"
#include "compare/sample/tensor_samples.h"

namespace msdump {

std::vector<CommonRows> intersection(const std::vector<CommonRows>& a, const std::vector<CommonRows>& b) {
  std::vector<CommonRows> common;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const int64_t first = std::max(a[i].first, b[j].first);
    const int64_t end_a = a[i].first + a[i].count, end_b = b[j].first + b[j].count, end = std::min(end_a, end_b);
    if (end > first) common.push_back({first, end - first});
    if (end_a <= end_b) ++i;
    if (end_b <= end_a) ++j;
  }
  return common;
}

void append(CommonRows more, std::vector<CommonRows>& rows) {
  if (!rows.empty() && rows.back().first + rows.back().count == more.first) {
    rows.back().count += more.count;
  } else {
    rows.push_back(more);
  }
}

int64_t count_of(const std::vector<CommonRows>& rows) {
  int64_t count = 0;
  for (const CommonRows& one : rows) count += one.count;
  return count;
}

TokenSide::TokenSide(const CompareSide& dump, RunPasses passes, TokenRows rows, const TokenMatch& match, Side own)
    : dump_(dump), passes_(std::move(passes)), rows_(std::move(rows)) {
  operators_ = passes_.operators;
  place_rows(match, own);
  make_records();
}

CompareSide TokenSide::side() const {
  CompareSide side = dump_;
  side.tensors = &tensors_;
  side.operators = &operators_;
  side.graph = nullptr;
  side.join = nullptr;
  side.arguments = nullptr;
  side.overflows = nullptr;
  return side;
}

void TokenSide::place_rows(const TokenMatch& match, Side own) {
  struct Common {
    int64_t begin = 0, end = 0, first = 0;  // positions, and the common row of the first
  };
  std::vector<std::vector<Common>> of_sequence(rows_.sequences.size());
  int64_t first = 0;
  for (const MatchedSequence& one : match.sequences) {
    const int64_t begin = one.begin + (own == Side::kCandidate ? one.shift : 0);
    of_sequence[own == Side::kCandidate ? one.a : one.b].push_back({begin, begin + one.count, first});
    first += one.count;
  }
  first_pass_.assign(static_cast<size_t>(match.tokens), kNoPass);
  for (const PassRows& pass : rows_.passes) {
    const auto number_of_pass = static_cast<uint32_t>(of_pass_.size());
    std::vector<Span>&spans = of_pass_.emplace_back(), &last = last_of_pass_.emplace_back();
    const int64_t width = pass.rows / pass.batch;
    for (size_t i = 0; i < pass.spans.size(); ++i) {
      const TokenSpan& span = pass.spans[i];
      // A padded batch has one last row for each of its rows.
      const int64_t in_batch = pass.batch > 1 ? span.row / width : static_cast<int64_t>(i);
      const bool is_last = pass.batch == 1 || i + 1 == pass.spans.size() || pass.spans[i + 1].row / width > in_batch;
      for (const Common& common : of_sequence[span.sequence]) {
        const int64_t begin = std::max(span.position, common.begin),
                      end = std::min(span.position + span.count, common.end);
        if (end <= begin) continue;
        const int64_t row = common.first + begin - common.begin;
        spans.push_back({row, end - begin, span.row + begin - span.position, 0});
        for (auto at = first_pass_.begin() + row; at != first_pass_.begin() + row + end - begin; ++at)
          *at = std::min(*at, number_of_pass);
        if (is_last && end == span.position + span.count) last.push_back({row + end - begin - 1, 1, in_batch, 0});
      }
    }
  }
}

Shape TokenSide::other_extents(const Shape& shape, const Form& form) {
  Shape others;
  for (uint32_t axis = 0; axis < shape.size(); ++axis) {
    if (axis != form.axis && axis != form.batch && shape[axis] != 1) others.push_back(shape[axis]);
  }
  return others;
}

// The usual ones first.
std::vector<TokenSide::Form> TokenSide::forms_in_pass(const Shape& shape, uint32_t pass) const {
  const PassRows& rows = rows_.passes[pass];
  const int64_t width = rows.rows / rows.batch;
  const auto axes = static_cast<uint32_t>(shape.size());
  std::vector<Form> forms;
  const auto add_batch = [&](uint32_t batch, uint32_t axis) {
    if (rows.batch > 1 && batch < axes && axis < axes && shape[batch] == rows.batch && shape[axis] == width)
      forms.push_back({axis, batch, false, false});
  };
  const auto add_rows = [&](uint32_t axis) {
    if (axis >= axes || shape[axis] != rows.rows) return;
    forms.push_back({axis, {}, false, false});
    if (rows.batch > 1) forms.push_back({axis, {}, false, true});
  };
  add_batch(0, 1);
  add_rows(0);
  add_batch(1, 0);
  if (!shape.empty() && shape[0] == 1) add_rows(1);
  add_batch(0, 2);
  if (shape.empty() || shape[0] != 1) add_rows(1);
  for (uint32_t axis = 2; axis < axes; ++axis) add_rows(axis);
  const int64_t sequences = rows.batch > 1 ? rows.batch : static_cast<int64_t>(rows.spans.size());
  if (axes > 0 && shape[0] == sequences) forms.push_back({0, {}, true, false});
  return forms;
}

std::vector<TokenSide::Form> TokenSide::forms_of(const RunPasses::Parts& parts) const {
  std::vector<Form> forms;
  const Shape* first = nullptr;
  for (const RunPasses::Part& part : parts) {
    const TensorRecord& record = (*dump_.tensors)[part.record];
    if (record.shape == nullptr || !record.has_elements || record.broken || record.view != nullptr) return {};
    const std::vector<Form> here = forms_in_pass(*record.shape, part.pass);
    if (first == nullptr) {
      first = record.shape;
      forms = here;
      continue;
    }
    if (record.shape->size() != first->size()) return {};
    std::erase_if(forms, [&](const Form& form) {
      return std::find(here.begin(), here.end(), form) == here.end() ||
             other_extents(*record.shape, form) != other_extents(*first, form);
    });
  }
  return forms;
}

std::shared_ptr<const TokenSide::Cover> TokenSide::cover_of(const RunPasses::Parts& parts, bool of_last) {
  CoverKey key{of_last, {}};
  for (const RunPasses::Part& part : parts) key.second.push_back(part.pass);
  std::shared_ptr<const Cover>& known = covers_[key];
  if (known != nullptr) return known;
  std::vector<Span> all;
  for (uint32_t part = 0; part < parts.size(); ++part) {
    for (Span span : (of_last ? last_of_pass_ : of_pass_)[parts[part].pass]) {
      span.part = part;
      all.push_back(span);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Span& x, const Span& y) { return x.common < y.common; });
  Cover cover;
  int64_t end = 0;
  for (Span span : all) {
    // A token that was computed again, as after a preemption, counts once.
    const int64_t known_already = std::clamp<int64_t>(end - span.common, 0, span.count);
    span.common += known_already;
    span.row += known_already;
    span.count -= known_already;
    if (span.count == 0) continue;
    end = span.common + span.count;
    append({span.common, span.count}, cover.rows);
    cover.spans.push_back(span);
  }
  known = std::make_shared<const Cover>(std::move(cover));
  return known;
}

void TokenSide::gather(size_t tensor, const std::vector<CommonRows>& rows) {
  gathered_[tensor].rows = rows;
  const Gathered& gathered = gathered_[tensor];
  const std::shared_ptr<const Cover>& cover = gathered.cover;
  const Form form = gathered.form;
  const RunPasses::Parts& parts = passes_.tensors[gathered.source];
  const int64_t count = count_of(rows);
  TensorPieces pieces;
  uint64_t bytes = 0;
  std::vector<int64_t> widths, batches;  // of padded rows, by part
  for (const RunPasses::Part& part : parts) {
    const TensorRecord& record = (*dump_.tensors)[part.record];
    pieces.records.push_back(&record);
    bytes += record.bytes.value_or(0);
    batches.push_back(rows_.passes[part.pass].batch);
    widths.push_back((*record.shape)[form.axis] / (form.width_first ? batches.back() : 1));
  }
  // Ranks that the first group does not have are told by none.
  pieces.of_one_rank = passes_.groups == 1 || passes_.inputs[parts.front().pass].source == 0;
  pieces.shape = *pieces.records.front()->shape;
  pieces.shape[form.axis] = count;
  if (form.batch) pieces.shape[*form.batch] = 1;
  pieces.make_boxes = [cover, rows, form, shape = pieces.shape, widths = std::move(widths),
                       batches = std::move(batches)] {
    std::vector<PieceBox> boxes;
    int64_t to = 0;
    auto span = cover->spans.begin();
    for (const CommonRows& one : rows) {
      const int64_t end = one.first + one.count;
      while (span != cover->spans.end() && span->common + span->count <= one.first) ++span;
      for (; span != cover->spans.end() && span->common < end; ++span) {
        const int64_t from = std::max(span->common, one.first), until = std::min(span->common + span->count, end);
        const int64_t row = span->row + from - span->common;
        const int64_t width = widths[span->part], size = form.width_first ? 1 : until - from;
        const std::vector<int64_t> origin(shape.size(), 0);
        for (int64_t i = row; i < row + until - from; i += size) {
          PieceBox& box = boxes.emplace_back(PieceBox{span->part, origin, origin, shape});
          box.from[form.axis] = form.width_first ? i % width * batches[span->part] + i / width
                                : form.batch     ? i % width
                                                 : i;
          if (form.batch) box.from[*form.batch] = i / width;
          box.to[form.axis] = std::exchange(to, to + size);
          box.size[form.axis] = size;
        }
        if (until == end) break;  // the next rows may begin in this span
      }
    }
    return boxes;
  };
  TensorView view;
  int64_t stride = 1;
  bool is_last = true;  // the innermost axis of a row, of which a part may be asked for
  for (auto axis = static_cast<uint32_t>(pieces.shape.size()); axis-- > 0; stride *= pieces.shape[axis]) {
    if (axis == form.axis) {
      view.axes.insert(view.axes.begin(), {count, stride});
      view.shape.insert(view.shape.begin(), count);
    } else if (axis != form.batch && pieces.shape[axis] != 1) {
      const bool is_part = is_last && gathered.extent > 0;
      const int64_t extent = is_part ? gathered.extent : pieces.shape[axis];
      if (is_part) view.first = gathered.from * stride;
      is_last = false;
      const auto at = view.axes.empty() || axis > form.axis ? 0 : 1;
      view.axes.insert(view.axes.begin() + at, {extent, stride});
      view.shape.insert(view.shape.begin() + at, extent);
    }
  }
  view.pieces = &pieces_.emplace_back(std::move(pieces));
  TensorRecord& record = take_view(tensor, std::move(view));
  if (record.bytes) record.bytes = bytes;
}

TensorRecord& TokenSide::take_view(size_t tensor, TensorView view) {
  TensorRecord& record = tensors_[tensor];
  record.view = &views_.emplace_back(std::move(view));
  record.shape = &record.view->shape;
  record.table = kNoId;  // its statistics are of one pass
  return record;
}

RecordId TokenSide::add_part(RecordId of, const std::string& op_name, int64_t from, int64_t extent) {
  tensors_.push_back(tensors_[of]);
  gathered_.push_back(gathered_[of]);
  tensors_.back().name.op_name = op_name;
  gathered_.back().from = from;
  gathered_.back().extent = extent;
  if (extent > 0) gather(tensors_.size() - 1, gathered_.back().cover->rows);
  return RecordId(tensors_.size() - 1);
}

void TokenSide::split(const std::vector<Fused>& fused) {
  std::vector<SequencedOp> operators;
  auto next = fused.begin();
  for (size_t i = 0; i < operators_.size(); ++i) {
    if (next == fused.end() || next->op != i) {
      operators.push_back(std::move(operators_[i]));
      continue;
    }
    int64_t from = 0;
    const int64_t all = std::accumulate(next->extents.begin(), next->extents.end(), int64_t{0});
    for (size_t part = 0; part < next->names.size(); ++part) {
      SequencedOp& op = operators.emplace_back(operators_[i]);
      op.name = names_.emplace_back(next->names[part]);
      for (RecordId& tensor : op.tensors) {
        const Io io = tensors_[tensor].name.io;
        const bool is_output = io == Io::kOutput && has_rows(tensor);
        tensor = add_part(tensor, names_.back(), from, is_output ? next->extents[part] : 0);
        const TensorRecord& record = tensors_[tensor];
        const bool has_elements = record.shape != nullptr && record.has_elements && record.view == nullptr;
        // A weight or bias has the rows of the part; one of another size is that of all parts.
        if (io == Io::kParameter && has_elements && !record.shape->empty() && record.shape->front() == all)
          take_view(tensor, first_rows(*record.shape, from, next->extents[part]));
      }
      from += next->extents[part];
    }
    ++next;
  }
  operators_ = std::move(operators);
  number_operators();
}

void TokenSide::number_operators() {
  for (uint32_t place = 0; place < operators_.size(); ++place) {
    for (const RecordId tensor : operators_[place].tensors) {
      if (tensors_[tensor].order != kNoOrder) tensors_[tensor].order = place;
    }
  }
}

void TokenSide::make_records() {
  gathered_.resize(passes_.tensors.size());
  std::map<Form, size_t> votes;
  std::vector<std::vector<Form>> forms;
  for (const RunPasses::Parts& parts : passes_.tensors) {
    forms.push_back(forms_of(parts));
    // Any tensor of a padded batch may be of its last rows.
    const auto others =
        std::count_if(forms.back().begin(), forms.back().end(), [](const Form& one) { return !one.of_last; });
    if (others == 1) ++votes[forms.back().front()];
  }
  const bool width_first = votes[{0, 1, false, false}] > votes[{1, 0, false, false}];
  const auto is_unusual = [&](const Form& form) { return !form.batch && form.width_first != width_first; };
  tensors_.reserve(passes_.tensors.size());
  for (size_t i = 0; i < passes_.tensors.size(); ++i) {
    const RunPasses::Parts& parts = passes_.tensors[i];
    TensorRecord& record = tensors_.emplace_back((*dump_.tensors)[parts.front().record]);
    gathered_[i].source = i;
    record.name.op_name = passes_.op_names[i];
    record.occurrence = passes_.occurrences[i];
    if (passes_.steps.front()) record.step = *passes_.steps.front();
    std::vector<Form>& possible = forms[i];
    if (possible.empty() || record.name.io == Io::kParameter) continue;
    std::stable_sort(possible.begin(), possible.end(), [&](const Form& x, const Form& y) {
      return std::tuple(x.of_last, is_unusual(x), votes[y]) < std::tuple(y.of_last, is_unusual(y), votes[x]);
    });
    std::shared_ptr<const Cover> cover = cover_of(parts, possible.front().of_last);
    if (cover->spans.empty()) continue;
    gathered_[i].cover = cover;
    gathered_[i].form = possible.front();
    gather(i, cover->rows);
  }
  number_operators();
}

void TokenSide::restrict_to(RecordId tensor, const std::vector<CommonRows>& rows) {
  const bool is_flat = tensors_[tensor].view->shape.size() != tensors_[tensor].view->axes.size();
  if (rows == gathered_[tensor].rows && !is_flat) return;
  gather(tensor, rows);
}

void TokenSide::flatten(RecordId tensor) {
  TensorView view = *tensors_[tensor].view;
  const int64_t rows = view.shape.front();
  view.shape = {rows, rows == 0 ? 0 : view.count() / rows};
  take_view(tensor, std::move(view));
}

void TokenSide::undo(RecordId tensor) {
  const TensorRecord& first = in_first_pass(tensor);
  TensorRecord& record = tensors_[tensor];
  record.view = first.view;
  record.shape = first.shape;
  record.bytes = first.bytes;
  record.table = first.table;
  gathered_[tensor].cover = nullptr;
}

const TensorRecord& TokenSide::in_first_pass(RecordId tensor) const {
  return (*dump_.tensors)[passes_.tensors[gathered_[tensor].source].front().record];
}

Result<bool> TokenSide::is_constant_over_passes(RecordId tensor, const CancelToken& cancel) const {
  const RunPasses::Parts& parts = passes_.tensors[gathered_[tensor].source];
  const TensorRecord &first = in_first_pass(tensor), &last = (*dump_.tensors)[parts.back().record];
  if (parts.size() == 1) return true;
  if (first.shape == nullptr || last.shape == nullptr || *first.shape != *last.shape) return false;
  MSDUMP_CHECK_OK(cancel.check());
  const std::vector<double> of_first = sample_of(*dump_.index, first);
  return !of_first.empty() && of_first == sample_of(*dump_.index, last);
}

std::optional<TokenSide::Place> TokenSide::place_of_row(int64_t common) const {
  const uint32_t pass = first_pass_[static_cast<size_t>(common)];
  if (pass == kNoPass) return std::nullopt;
  const std::vector<Span>& own = of_pass_[pass];
  const auto span = std::find_if(
      own.begin(), own.end(), [&](const Span& one) { return common >= one.common && common < one.common + one.count; });
  Place place;
  place.pass = pass;
  place.row = span->row + common - span->common;
  const std::vector<TokenSpan>& spans = rows_.passes[pass].spans;
  const auto tokens = std::find_if(spans.begin(), spans.end(), [&](const TokenSpan& one) {
    return place.row >= one.row && place.row < one.row + one.count;
  });
  place.sequence = tokens->sequence;
  place.position = tokens->position + place.row - tokens->row;
  const TokenSequence& sequence = rows_.sequences[place.sequence];
  place.id = sequence.ids[static_cast<size_t>(place.position - sequence.first)];
  return place;
}

}  // namespace msdump

#include "stats/stream.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "kernels/widen/widen.h"

namespace msdump::stats {
namespace {

// The SHA1 of more elements than these is taken of the hexadecimal digests of slices. A slab has complete slices.
constexpr int64_t kHashedSlice = 20480;

uint64_t packed_bytes(DType dtype, int64_t count) { return bytes_of(dtype, count).value_or(0); }

// Digests cover as many bytes as the packed tensor has, even if they are taken of its unpacked, longer form.
uint64_t md5_bytes_of(const Analysis& analysis, DType original) {
  if (info(original).bits < 8 && info(original).bits > 0) return packed_bytes(original, analysis.elements);
  const uint64_t width = analysis.halve ? 2 : analysis.widen ? 4 : analysis.element_bytes;
  return static_cast<uint64_t>(analysis.elements) * width;
}

// Copies the upper halves of float32 elements, the bfloat16 that they were made from.
void take_halves(const std::byte* floats, size_t count, std::vector<std::byte>& into) {
  into.resize(count * 2);
  for (size_t i = 0; i < count; ++i) std::memcpy(into.data() + 2 * i, floats + 4 * i + 2, 2);
}

// Copies floating-point elements without their sign, the highest bit. Alone this bit is the NaN of hifloat8.
void take_magnitudes(DType dtype, const std::byte* elements, size_t count, size_t element_bytes,
                     std::vector<std::byte>& into) {
  into.assign(elements, elements + count * element_bytes);
  const bool has_nan = dtype == DType::kHifloat8;
  for (size_t i = element_bytes - 1; i < into.size(); i += element_bytes) {
    if (!has_nan || into[i] != std::byte{0x80}) into[i] &= std::byte{0x7F};
  }
}

bool has_mean_abs(DType dtype) {
  return dtype == DType::kBool || is_unsigned(dtype) || kernels::code_rule(dtype, dtype).has_value();
}

}  // namespace

ComputeOptions with_dialect_in_use(ComputeOptions options) {
  if (options.exact) options.dialect = &newest_dialect();
  return options;
}

kernels::ReduceRule reduce_rule_of(const ComputeOptions& options) {
  kernels::ReduceRule rule = reduce_rule(*options.dialect, options.arch, options.wanted);
  if (options.finite_only) rule.finite_only = true;
  return rule;
}

kernels::ReduceRule mean_abs_rule() {
  kernels::ReduceRule rule;
  rule.finite_only = true;
  rule.squares = rule.extremes = rule.counts = false;
  return rule;
}

TensorState start_tensor(const HostTensor& tensor, const ComputeItem& item, const ComputeOptions& options) {
  const kernels::ReduceRule rule = reduce_rule_of(options);
  TensorState state;
  Analysis& analysis = state.analysis;
  const DType original = tensor.original_dtype();
  analysis.dtype = tensor.dtype();
  analysis.element_bytes = tensor.element_bytes();
  analysis.elements = tensor.count();
  state.result.dtype = original;
  state.result.shape = tensor.shape();
  if (tensor.plan().policy != PlanPolicy::kConverted) state.result.note = tensor.plan().note;
  if (item.first_elements && *item.first_elements < analysis.elements) {
    analysis.elements = *item.first_elements;
    state.result.shape = Shape{analysis.elements};
  }
  state.result.stored_bytes = bytes_of(tensor.plan().dtype, tensor.plan().src_elements).value_or(0);
  const bool bfloat16 = original == DType::kBfloat16;
  analysis.halve = bfloat16 && analysis.dtype == DType::kFloat32 && !options.dialect->widened_bfloat16;
  analysis.widen = bfloat16 && analysis.dtype == DType::kBfloat16 && options.dialect->widened_bfloat16;
  const DType sized = bfloat16 && options.dialect->widened_bfloat16 ? DType::kFloat32 : original;
  const bool raw = is_raw(sized);
  state.result.data_size = raw ? static_cast<uint64_t>(analysis.elements) : packed_bytes(sized, analysis.elements);
  analysis.md5_bytes = md5_bytes_of(analysis, original);
  analysis.reducible = !raw && kernels::can_reduce(analysis.dtype);
  analysis.count = static_cast<uint64_t>(analysis.elements);
  if (!options.exact)
    analysis.count = analysed_count(*options.dialect, sized, state.result.data_size, analysis.elements);
  analysis.analysed = analysis.reducible ? std::min(analysis.elements, static_cast<int64_t>(analysis.count)) : 0;
  analysis.chunks = chunks_of(*options.dialect, analysis.analysed);
  analysis.reduced = rule.sum || rule.squares || rule.extremes || rule.counts;
  const auto chunks = static_cast<size_t>(analysis.chunks.count);
  state.chunks.assign(chunks, kernels::start_statistics(rule));
  if (!analysis.reducible) return state;
  if (options.wanted.codes) state.code_rule = kernels::code_rule(analysis.dtype, original);
  if (state.code_rule) state.codes.resize(chunks);
  if (options.wanted.mean_abs && has_mean_abs(analysis.dtype))
    state.mean_abs.assign(chunks, kernels::start_statistics(mean_abs_rule()));
  return state;
}

Result<TensorNumbers> finish_tensor(const HostTensor& tensor, TensorState& state, const ComputeOptions& options) {
  MSDUMP_CHECK_OK(tensor.check_unchanged());
  TensorNumbers& result = state.result;
  if (state.analysis.reducible) {
    merge_chunks({*options.dialect, options.arch, options.exact}, state.chunks, state.analysis.chunks.merged, result);
    result.count = state.analysis.count;
    if (!state.mean_abs.empty()) result.mean_abs = mean_of_chunks(options.arch, state.mean_abs);
  }
  if (state.code_rule) result.codes.emplace();
  for (const kernels::CodeCounts& codes : state.codes) {
    result.codes->subnormal += codes.subnormal;
    result.codes->positive_edge += codes.positive_edge;
    result.codes->negative_edge += codes.negative_edge;
  }
  if (options.wanted.md5)
    result.checksums.push_back({ChecksumKind::kMd5, false, kernels::hex(kernels::md5_finish(state.md5))});
  if (!options.wanted.sha1) return std::move(result);
  const bool is_sliced = state.analysis.elements > kHashedSlice;
  const std::string sha1 = is_sliced ? kernels::hex(kernels::sha1(std::as_bytes(std::span(state.sha1_text))))
                           : state.analysis.elements == 0 ? kernels::hex(kernels::sha1({}))
                                                          : state.sha1_text;
  result.checksums.push_back({ChecksumKind::kSha1, false, sha1});
  return std::move(result);
}

Stream::Stream(HostTensor& tensor, TensorState& state, int64_t first_chunk, int64_t last_chunk, const Wanted& wanted,
               std::vector<std::byte>& buffer)
    : tensor_(&tensor), state_(&state), wanted_(wanted), buffer_(&buffer), first_chunk_(first_chunk) {
  const Analysis& analysis = state.analysis;
  next_ = analysis.chunks.begin(first_chunk);
  const int64_t last = last_chunk - 1;
  end_ = analysis.chunks.begin(last) + analysis.chunks.elements(last);
  // Digests cover all elements, even those that the statistics leave out.
  if (wanted_.md5 || wanted_.sha1) end_ = analysis.elements;
}

Status Stream::read(int64_t slab_bytes) {
  const auto width = static_cast<int64_t>(state_->analysis.element_bytes);
  int64_t most = std::max<int64_t>(1, slab_bytes / width);
  // Digests of slices need whole slices.
  if (wanted_.sha1) most = std::max<int64_t>(1, most / kHashedSlice) * kHashedSlice;
  slab_begin_ = next_;
  slab_ = std::min(most, end_ - next_);
  const auto bytes = static_cast<size_t>(slab_ * width);
  if (buffer_->size() < bytes) buffer_->resize(bytes);
  MSDUMP_CHECK_OK(tensor_->read(slab_begin_, slab_, buffer_->data()));
  next_ += slab_;
  if (state_->code_rule) count_codes();
  return {};
}

std::span<const std::byte> Stream::elements_from(int64_t element) const {
  if (element < slab_begin_ || element >= slab_begin_ + slab_) return {};
  const size_t width = state_->analysis.element_bytes;
  const std::span<const std::byte> slab(buffer_->data(), static_cast<size_t>(slab_) * width);
  return slab.subspan(static_cast<size_t>(element - slab_begin_) * width);
}

void Stream::count_codes() {
  const int64_t end = std::min(slab_begin_ + slab_, state_->analysis.analysed);
  if (slab_begin_ >= end) return;
  kernels::count_codes(*state_->code_rule, buffer_->data(), end - slab_begin_,
                       state_->codes[static_cast<size_t>(first_chunk_)]);
}

void Stream::add_lanes(std::vector<kernels::ReduceLane>& lanes) {
  if (state_->analysis.reducible && state_->analysis.reduced) add_lanes_of(buffer_->data(), state_->chunks, lanes);
}

void Stream::add_mean_abs_lanes(std::vector<kernels::ReduceLane>& lanes) {
  if (state_->mean_abs.empty()) return;
  const std::byte* slab = buffer_->data();
  if (state_->analysis.dtype != DType::kBool && !is_unsigned(state_->analysis.dtype)) {
    take_magnitudes(state_->analysis.dtype, slab, static_cast<size_t>(slab_), state_->analysis.element_bytes,
                    magnitudes_);
    slab = magnitudes_.data();
  }
  add_lanes_of(slab, state_->mean_abs, lanes);
}

void Stream::add_lanes_of(const std::byte* slab, std::vector<kernels::ChunkStatistics>& states,
                          std::vector<kernels::ReduceLane>& lanes) const {
  const Analysis& analysis = state_->analysis;
  const int64_t end = std::min(slab_begin_ + slab_, analysis.analysed);
  for (int64_t at = slab_begin_; at < end;) {
    const int64_t chunk = std::min(at / analysis.chunks.size, analysis.chunks.count - 1);
    const int64_t stop = std::min(end, analysis.chunks.begin(chunk) + analysis.chunks.elements(chunk));
    const std::byte* data = slab + static_cast<size_t>(at - slab_begin_) * analysis.element_bytes;
    lanes.push_back({analysis.dtype, data, stop - at, &states[static_cast<size_t>(chunk)]});
    at = stop;
  }
}

void Stream::add_digests(std::vector<kernels::Md5Job>& jobs) {
  const Analysis& analysis = state_->analysis;
  if (!wanted_.md5 && !wanted_.sha1) return;
  const std::byte* data = buffer_->data();
  size_t width = analysis.element_bytes;
  const auto count = static_cast<size_t>(slab_);
  if (analysis.halve) {
    take_halves(data, count, digested_);
    data = digested_.data();
    width = 2;
  } else if (analysis.widen) {
    digested_.resize(count * 4);
    kernels::widen(DType::kBfloat16, data, slab_, digested_.data());
    data = digested_.data();
    width = 4;
  }
  if (wanted_.md5) {
    const uint64_t before = static_cast<uint64_t>(slab_begin_) * width;
    const uint64_t left = analysis.md5_bytes > before ? analysis.md5_bytes - before : 0;
    jobs.push_back({&state_->md5, data, static_cast<size_t>(std::min<uint64_t>(left, count * width))});
  }
  if (wanted_.sha1) add_sha1(data, width);
}

void Stream::add_sha1(const std::byte* data, size_t element_bytes) {
  for (int64_t at = 0; at < slab_; at += kHashedSlice) {
    const auto elements = static_cast<size_t>(std::min(kHashedSlice, slab_ - at));
    const std::span<const std::byte> slice(data + static_cast<size_t>(at) * element_bytes, elements * element_bytes);
    state_->sha1_text += kernels::hex(kernels::sha1(slice));
  }
}

}  // namespace msdump::stats

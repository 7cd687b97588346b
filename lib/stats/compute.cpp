#include "stats/compute.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "kernels/digest/digest.h"
#include "kernels/reduce/reduce.h"
#include "kernels/widen/widen.h"
#include "tensor/dtype.h"

namespace msdump::stats {
namespace {

// The plan for one tensor.
struct Analysis {
  DType dtype = DType::kUndefined;  // of the elements as read
  size_t element_bytes = 1;
  int64_t elements = 0;  // in the tensor
  uint64_t count = 0;    // the value of the column Count, which may differ from `elements`
  int64_t analysed = 0;  // number of elements that enter the statistics
  Chunks chunks;
  bool reducible = true;
  bool reduced = true;     // more than digests is wanted
  bool halve = false;      // digests are taken of the upper half of each float32, which is a bfloat16
  bool widen = false;      // digests are taken of bfloat16 widened to float32
  uint64_t md5_bytes = 0;  // number of bytes that MD5 covers
};

// The results of a tensor's chunks, until they are merged.
struct TensorState {
  Analysis analysis;
  TensorNumbers result;
  std::vector<kernels::ChunkStatistics> chunks;
  std::optional<kernels::CodeRule> code_rule;
  std::vector<kernels::CodeCounts> codes;          // by chunk: counts of the stream that begins with it
  std::vector<kernels::ChunkStatistics> mean_abs;  // by chunk: statistics of magnitudes; empty if not wanted
  kernels::Md5State md5;
  std::string sha1_text;  // hexadecimal digests of the slices so far
};

// Chunks [first_chunk, last_chunk) of a tensor. `buffer` is lent to it, so that consecutive streams share one.
class Stream {
 public:
  Stream(HostTensor& tensor, TensorState& state, int64_t first_chunk, int64_t last_chunk, const Wanted& wanted,
         std::vector<std::byte>& buffer);

  [[nodiscard]] bool done() const { return next_ >= end_; }
  // Reads the next slab, of about this many bytes.
  Status read(int64_t slab_bytes);
  // Adds the kernels' jobs for the slab that was read; these hold pointers into the stream.
  void add_lanes(std::vector<kernels::ReduceLane>& lanes);
  void add_mean_abs_lanes(std::vector<kernels::ReduceLane>& lanes);
  void add_digests(std::vector<kernels::Md5Job>& jobs);
  [[nodiscard]] uint64_t slab_bytes() const { return static_cast<uint64_t>(slab_) * state_->analysis.element_bytes; }

 private:
  void add_sha1(const std::byte* data, size_t element_bytes);
  void count_codes();
  void add_lanes_of(const std::byte* slab, std::vector<kernels::ChunkStatistics>& states,
                    std::vector<kernels::ReduceLane>& lanes) const;

  HostTensor* tensor_;
  TensorState* state_;
  Wanted wanted_;
  std::vector<std::byte>* buffer_;
  std::vector<std::byte> digested_;    // the slab for digests, if they are of other bytes
  std::vector<std::byte> magnitudes_;  // the slab without signs, for mean_abs
  int64_t first_chunk_ = 0;
  int64_t end_ = 0, next_ = 0;         // elements
  int64_t slab_begin_ = 0, slab_ = 0;  // elements
};

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

// The rule of the dialect, or of the options that replace it.
kernels::ReduceRule reduce_rule_of(const ComputeOptions& options) {
  kernels::ReduceRule rule = reduce_rule(*options.dialect, options.arch, options.wanted);
  if (options.finite_only) rule.finite_only = true;
  return rule;
}

// The rule for mean_abs.
kernels::ReduceRule mean_abs_rule() {
  kernels::ReduceRule rule;
  rule.finite_only = true;
  rule.squares = rule.extremes = rule.counts = false;
  return rule;
}

// Decides how a tensor is analysed.
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

// Merges the results of the streams of a tensor.
Result<TensorNumbers> finish_tensor(TensorState& state, const ComputeOptions& options) {
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

// Tensors that a worker holds at a time: as many as the kernels process at once, if they hold at most kLiveBytes.
constexpr size_t kLive = 16;
constexpr int64_t kLiveBytes = int64_t{8} << 20;
// All workers share a tensor of this size or more, unless a digest needs its bytes in order.
constexpr uint64_t kLargeBytes = uint64_t{16} << 20;
constexpr int64_t kSlabBytes = int64_t{512} << 10;
// Digests read a slab of every live tensor at once, and all these slabs should stay in the cache.
constexpr int64_t kDigestSlabBytes = int64_t{128} << 10;
// Chunks of a large tensor that are longer than a slab are read together, in smaller slabs.
constexpr int64_t kAbreastChunks = 8, kAbreastSlabBytes = int64_t{128} << 10;
// The part of a large tensor that a worker takes at a time.
constexpr int64_t kPieceBytes = int64_t{8} << 20;

struct Group {
  size_t begin = 0, end = 0;  // items
  bool large = false;         // one tensor for all workers
};

ComputeOptions with_dialect_in_use(ComputeOptions options) {
  if (options.exact) options.dialect = &newest_dialect();
  return options;
}

class Computation {
 public:
  Computation(const DumpIndex& index, std::span<const ComputeItem> items, const ComputeOptions& options,
              const RunContext& context)
      : index_(index),
        items_(items),
        options_(with_dialect_in_use(options)),
        context_(context),
        rule_(reduce_rule_of(options_)),
        live_(open_files_each(context.pool.jobs(), kLive)) {}

  void run(const ComputeSink& sink) {
    const std::vector<Group> groups = make_groups();
    start_progress();
    context_.pool.ordered_for(
        static_cast<int64_t>(groups.size()), [&](int64_t i) { return work(groups[static_cast<size_t>(i)]); },
        [&](int64_t i, std::vector<Result<TensorNumbers>>&& results) {
          const size_t begin = groups[static_cast<size_t>(i)].begin;
          for (size_t k = 0; k < results.size(); ++k) sink(begin + k, std::move(results[k]));
        },
        static_cast<int64_t>(context_.pool.jobs()) * 4);
  }

 private:
  using Results = std::vector<Result<TensorNumbers>>;

  // A tensor of a group that is being computed.
  struct Slot {
    std::optional<HostTensor> tensor;
    TensorState state;
    std::optional<Stream> stream;
    std::vector<std::byte> buffer;
    size_t item = 0;
  };

  [[nodiscard]] uint64_t size_of(size_t item) const {
    const TensorRecord& tensor = *items_[item].tensor;
    return tensor.bytes.value_or(index_.files()[tensor.file].size);
  }

  [[nodiscard]] bool digests() const { return options_.wanted.md5 || options_.wanted.sha1; }

  [[nodiscard]] std::vector<Group> make_groups() const {
    std::vector<Group> groups;
    const size_t workers = context_.pool.jobs();
    const size_t most = std::clamp<size_t>(items_.size() / (workers * 4), kLive, 4 * kLive);
    for (size_t i = 0; i < items_.size(); ++i) {
      if (!digests() && size_of(i) >= kLargeBytes) {
        groups.push_back({i, i + 1, true});
      } else if (groups.empty() || groups.back().large || i - groups.back().begin >= most) {
        groups.push_back({i, i + 1, false});
      } else {
        ++groups.back().end;
      }
    }
    return groups;
  }

  void start_progress() const {
    if (context_.progress == nullptr) return;
    uint64_t bytes = 0;
    for (size_t i = 0; i < items_.size(); ++i) bytes += size_of(i);
    context_.progress->start(items_.size(), bytes);
  }

  void advance(uint64_t bytes) const {
    if (context_.progress != nullptr) context_.progress->add_bytes(bytes);
  }

  Result<HostTensor> open(size_t item) const {
    MSDUMP_CHECK_OK(context_.cancel.check());
    const TensorRecord& tensor = *items_[item].tensor;
    return HostTensor::open(index_, tensor, {});
  }

  [[nodiscard]] Error in_words(Error error, size_t item) const {
    const TensorRecord& tensor = *items_[item].tensor;
    if (error.path.empty()) error.path = index_.path_of(index_.files()[tensor.file]);
    return error;
  }

  Results work(const Group& group) const {
    Results results;
    for (size_t i = group.begin; i < group.end; ++i) {
      results.emplace_back(fail(ErrorCode::kCancelled, "interrupted"));
    }
    if (group.large) {
      results.front() = compute_large(group.begin);
      finish_item(group.begin, results.front());
    } else {
      compute_abreast(group, results);
    }
    return results;
  }

  void finish_item(size_t item, Result<TensorNumbers>& result) const {
    if (!result && result.error().code != ErrorCode::kCancelled) result = fail(in_words(result.error(), item));
    if (context_.progress != nullptr) context_.progress->unit_done(index_.files()[items_[item].tensor->file].name);
  }

  // Computes the tensors of a group, a few at a time.
  void compute_abreast(const Group& group, Results& results) const {
    const std::unique_ptr<std::array<Slot, kLive>> slots = std::make_unique<std::array<Slot, kLive>>();
    size_t next = group.begin;
    for (bool any = true; any;) {
      any = false;
      int64_t held = 0;
      for (const Slot& slot : *slots) held += slot.stream ? slot.tensor->memory() : 0;
      for (size_t i = 0; i < live_; ++i) {
        Slot& slot = (*slots)[i];
        while (!slot.stream && next < group.end && held < kLiveBytes) {
          start(slot, next++, results, group.begin);
          held += slot.stream ? slot.tensor->memory() : 0;
        }
        any = any || slot.stream.has_value();
      }
      if (any) advance_slots(*slots, results, group.begin);
    }
  }

  void start(Slot& slot, size_t item, Results& results, size_t first) const {
    Result<HostTensor> opened = open(item);
    if (!opened) {
      results[item - first] = fail(std::move(opened).error());
      return finish_item(item, results[item - first]);
    }
    slot.item = item;
    slot.tensor.emplace(std::move(*opened));
    slot.state = start_tensor(*slot.tensor, items_[item], options_);
    slot.stream.emplace(*slot.tensor, slot.state, 0, slot.state.analysis.chunks.count, options_.wanted, slot.buffer);
  }

  // Runs the kernels over one slab of every slot, and finishes slots that end.
  void advance_slots(std::array<Slot, kLive>& slots, Results& results, size_t first) const {
    std::vector<kernels::ReduceLane> lanes, magnitudes;
    std::vector<kernels::Md5Job> jobs;
    std::vector<std::optional<Error>> failures(slots.size());
    for (size_t i = 0; i < slots.size(); ++i) {
      Slot& slot = slots[i];
      if (!slot.stream) continue;
      Status status = context_.cancel.check();
      if (status) status = slot.stream->read(digests() ? kDigestSlabBytes : kSlabBytes);
      if (status) {
        slot.stream->add_digests(jobs);
        slot.stream->add_lanes(lanes);
        slot.stream->add_mean_abs_lanes(magnitudes);
      } else {
        failures[i] = std::move(status).error();
      }
    }
    kernels::md5_update(jobs);
    kernels::reduce(lanes, rule_);
    kernels::reduce(magnitudes, mean_abs_rule());
    for (size_t i = 0; i < slots.size(); ++i) {
      Slot& slot = slots[i];
      if (!slot.stream) continue;
      advance(slot.stream->slab_bytes());
      if (!failures[i] && !slot.stream->done()) continue;
      Result<TensorNumbers>& result = results[slot.item - first];
      result = failures[i] ? Result<TensorNumbers>(fail(std::move(*failures[i]))) : finish(*slot.tensor, slot.state);
      finish_item(slot.item, result);
      slot.stream.reset();
      slot.tensor.reset();
    }
  }

  Result<TensorNumbers> finish(const HostTensor& tensor, TensorState& state) const {
    MSDUMP_CHECK_OK(tensor.check_unchanged());
    return finish_tensor(state, options_);
  }

  // Computes one tensor with all workers.
  Result<TensorNumbers> compute_large(size_t item) const {
    MSDUMP_TRY(HostTensor tensor, open(item));
    TensorState state = start_tensor(tensor, items_[item], options_);
    const Chunks& chunks = state.analysis.chunks;
    const int64_t chunk_bytes = chunks.size * static_cast<int64_t>(state.analysis.element_bytes);
    int64_t per_piece = chunks.count;
    const bool long_chunks = chunk_bytes > kSlabBytes;
    if (tensor.direct())
      per_piece = long_chunks ? kAbreastChunks : std::max<int64_t>(1, kPieceBytes / std::max<int64_t>(chunk_bytes, 1));
    const int64_t pieces = (chunks.count + per_piece - 1) / per_piece;
    std::mutex mutex;
    std::optional<Error> failure;
    context_.pool.parallel_for(pieces, [&](int64_t piece) {
      {
        const std::lock_guard lock(mutex);
        if (failure) return;
      }
      const int64_t begin = piece * per_piece, end = std::min(begin + per_piece, chunks.count);
      Status status = compute_chunks(tensor, state, begin, end, long_chunks && tensor.direct());
      const std::lock_guard lock(mutex);
      if (!status && !failure) failure = std::move(status).error();
    });
    if (failure) return fail(std::move(*failure));
    return finish(tensor, state);
  }

  // Computes some chunks of a tensor: in order, or each as a stream of its own.
  Status compute_chunks(HostTensor& tensor, TensorState& state, int64_t begin, int64_t end, bool abreast) const {
    const size_t count = abreast ? static_cast<size_t>(end - begin) : 1;
    std::vector<std::vector<std::byte>> buffers(count);
    std::vector<Stream> streams;
    streams.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const int64_t first = begin + static_cast<int64_t>(i);
      streams.emplace_back(tensor, state, first, abreast ? first + 1 : end, options_.wanted, buffers[i]);
    }
    std::vector<kernels::ReduceLane> lanes, magnitudes;
    for (bool any = true; any;) {
      any = false;
      lanes.clear();
      magnitudes.clear();
      for (Stream& stream : streams) {
        if (stream.done()) continue;
        MSDUMP_CHECK_OK(context_.cancel.check());
        MSDUMP_CHECK_OK(stream.read(abreast ? kAbreastSlabBytes : kSlabBytes));
        stream.add_lanes(lanes);
        stream.add_mean_abs_lanes(magnitudes);
        advance(stream.slab_bytes());
        any = true;
      }
      kernels::reduce(lanes, rule_);
      kernels::reduce(magnitudes, mean_abs_rule());
    }
    return {};
  }

  const DumpIndex& index_;
  std::span<const ComputeItem> items_;
  const ComputeOptions options_;
  const RunContext& context_;
  const kernels::ReduceRule rule_;
  const size_t live_;  // slots that are used
};

}  // namespace

std::optional<int64_t> sampled_elements(const TensorRecord& tensor, const Shape& of_row) {
  if (of_row.size() != 1 || tensor.shape == nullptr) return std::nullopt;
  const int64_t there = element_count(*tensor.shape).value_or(0), sampled = of_row.front();
  return sampled >= 1 && sampled < there ? std::optional(sampled) : std::nullopt;
}

void compute(const DumpIndex& index, std::span<const ComputeItem> items, const ComputeOptions& options,
             const RunContext& context, const ComputeSink& sink) {
  const auto compute_rest = [&](std::span<const ComputeItem> rest, const ComputeSink& take) {
    Computation(index, rest, options, context).run(take);
  };
  if (context.facts == nullptr) return compute_rest(items, sink);
  compute_unknown(*context.facts, items, compute_rest, sink);
}

FactKey statistics_key(const TensorRecord& tensor) { return {FactKind::kStatistics, tensor.file, tensor.item}; }

void compute_unknown(FactStore& facts, std::span<const ComputeItem> items, const ComputeRest& compute_rest,
                     const ComputeSink& sink) {
  std::vector<ComputeItem> unknown;
  std::vector<size_t> places;  // of these, in `items`
  for (size_t i = 0; i < items.size(); ++i) {
    if (facts.find(statistics_key(*items[i].tensor))) continue;
    unknown.push_back(items[i]);
    places.push_back(i);
  }
  size_t next = 0;
  const auto hand_over_until = [&](size_t end) {
    for (; next < end; ++next) {
      const auto known = facts.find(statistics_key(*items[next].tensor));
      sink(next, decode_result<TensorNumbers>(known.value_or(std::string_view())));
    }
  };
  compute_rest(unknown, [&](size_t item, Result<TensorNumbers>&& statistics) {
    hand_over_until(places[item]);
    if (statistics || statistics.error().code != ErrorCode::kCancelled)
      facts.keep(statistics_key(*unknown[item].tensor), encode_result(statistics));
    sink(next++, std::move(statistics));
  });
  hand_over_until(items.size());
}

}  // namespace msdump::stats

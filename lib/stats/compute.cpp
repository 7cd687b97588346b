#include "stats/compute.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
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
#include "stats/stream.h"

namespace msdump::stats {
namespace {

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
      result = failures[i] ? Result<TensorNumbers>(fail(std::move(*failures[i])))
                           : finish_tensor(*slot.tensor, slot.state, options_);
      finish_item(slot.item, result);
      slot.stream.reset();
      slot.tensor.reset();
    }
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
    return finish_tensor(tensor, state, options_);
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

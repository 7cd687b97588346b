#include "convert/tensor_writer.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "format/window.h"
#include "io/atomic_file.h"
#include "kernels/widen/widen.h"

namespace msdump {
namespace {

// ext4 writes windows of 4 MiB up to twice as fast, because they get huge folios. If memory is fragmented, they wait for
// compaction (822 MB on two cores: 0.2 to 1.5 s). Windows of 1 MiB always take 0.3 to 0.4 s.
constexpr uint64_t kWindowBytes = uint64_t{1} << 20;
// If a small window would fall into tiny runs, a larger one saves more in system calls than it costs in cache misses.
constexpr uint64_t kLargeWindowBytes = uint64_t{8} << 20;
constexpr int64_t kPoorRunBytes = 8192;

// A buffer that keeps its memory from one tensor to the next and is never initialised.
class Scratch {
 public:
  std::byte* get(size_t bytes) {
    if (bytes > capacity_) {
      memory_.reset();
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      capacity_ = bytes;
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  size_t capacity_ = 0;
};

struct Scratches {
  Scratch source, moved, widened;
};
thread_local Scratches scratches;

size_t output_width(DType npy_dtype) {
  const int bits = info(npy_dtype).bits;
  return bits == 0 ? 1 : static_cast<size_t>(bits) / 8;
}

class TensorWriter {
 public:
  TensorWriter(const PlannedTensor& source, const RunContext& context, AtomicFile& out, uint64_t header_bytes)
      : source_(source),
        context_(context),
        out_(out),
        header_bytes_(header_bytes),
        moved_bytes_(source.elements.element_bytes()),
        out_bytes_(output_width(source.plan.npy_dtype)),
        widens_(kernels::needs_widening(source.plan.dtype)) {}

  Status write_whole(const std::string& header) {
    const Plan& plan = source_.plan;
    const auto count = static_cast<size_t>(plan.dst_elements);
    std::byte* const out = scratches.widened.get(header.size() + count * out_bytes_);
    std::memcpy(out, header.data(), header.size());
    std::byte* const body = out + header.size();
    if (count > 0) {
      if (plan.identity && !widens_) {
        MSDUMP_CHECK_OK(source_.elements.read(source_.file, 0, plan.src_elements, body));
      } else {
        std::byte* const src = scratches.source.get(static_cast<size_t>(plan.src_elements) * moved_bytes_);
        MSDUMP_CHECK_OK(source_.elements.read(source_.file, 0, plan.src_elements, src));
        move_whole(src, body);
      }
    }
    progress(plan.src_elements);
    return out_.write_at(0, {out, header.size() + count * out_bytes_});
  }

  Status write_windows(const std::string& header) {
    MSDUMP_CHECK_OK(out_.set_size(header.size() + output_bytes(source_.plan)));
    MSDUMP_CHECK_OK(out_.write_at(0, std::as_bytes(std::span(header.data(), header.size()))));
    for (const PlanPart& part : source_.plan.parts) MSDUMP_CHECK_OK(write_part(part));
    return {};
  }

 private:
  // Moves and widens elements as the plan says.
  void move_whole(const std::byte* src, std::byte* body) {
    const Plan& plan = source_.plan;
    const std::byte* moved = src;
    if (!plan.identity) {
      std::byte* const into =
          widens_ ? scratches.moved.get(static_cast<size_t>(plan.dst_elements) * moved_bytes_) : body;
      for (const PlanPart& part : plan.parts) run_part(part, src, into, moved_bytes_);
      moved = into;
    }
    if (widens_) kernels::widen(plan.dtype, moved, plan.dst_elements, body);
  }

  [[nodiscard]] Tiling tiling_for(const PlanPart& part, int64_t gap) const {
    const auto elements = [&](uint64_t bytes) {
      return static_cast<int64_t>(bytes / std::max(moved_bytes_, out_bytes_));
    };
    Tiling tiling = choose_tiling(part, elements(kWindowBytes), gap);
    const Window window = make_window(part, tiling, 0, gap);
    const int64_t run_bytes = std::min(window.src.run, window.dst.run) * static_cast<int64_t>(moved_bytes_);
    if (run_bytes < kPoorRunBytes) tiling = choose_tiling(part, elements(kLargeWindowBytes), gap);
    return tiling;
  }

  Status write_part(const PlanPart& part) {
    const int64_t gap = source_.elements.gap();
    const Tiling tiling = tiling_for(part, gap);
    std::mutex mutex;
    std::optional<Error> failure;
    context_.pool.parallel_for(tiling.windows, [&](int64_t index) {
      {
        const std::lock_guard lock(mutex);
        if (failure) return;
      }
      Status done = write_window(part, make_window(part, tiling, index, gap));
      const std::lock_guard lock(mutex);
      if (!done && !failure) failure = std::move(done).error();
    });
    if (failure) return fail(std::move(*failure));
    return {};
  }

  Status write_window(const PlanPart& part, const Window& window) {
    MSDUMP_CHECK_OK(context_.cancel.check());
    const int64_t src_count = window.src.elements(), dst_count = window.dst.elements();
    std::byte* const src = scratches.source.get(static_cast<size_t>(src_count) * moved_bytes_);
    MSDUMP_CHECK_OK(source_.elements.read(source_.file, window.src, src));
    const std::byte* moved = src;
    if (!source_.plan.identity) {
      std::byte* const into = scratches.moved.get(static_cast<size_t>(dst_count) * moved_bytes_);
      run_window(part, window, src, into, moved_bytes_);
      moved = into;
    }
    if (widens_) {
      std::byte* const widened = scratches.widened.get(static_cast<size_t>(dst_count) * out_bytes_);
      kernels::widen(source_.plan.dtype, moved, dst_count, widened);
      moved = widened;
    }
    progress(dst_count);
    return write_region(window.dst, moved);
  }

  Status write_region(const Region& region, const std::byte* from) {
    Status status;
    const size_t run_bytes = static_cast<size_t>(region.run) * out_bytes_;
    for_each_run(region, [&](int64_t first) {
      status = out_.write_at(header_bytes_ + static_cast<uint64_t>(first) * out_bytes_, {from, run_bytes});
      from += run_bytes;
      return status.has_value();
    });
    return status;
  }

  void progress(int64_t elements) {
    if (context_.progress != nullptr)
      context_.progress->add_bytes(bytes_of(source_.plan.dtype, elements).value_or(static_cast<uint64_t>(elements)));
  }

  const PlannedTensor& source_;
  const RunContext& context_;
  AtomicFile& out_;
  uint64_t header_bytes_;
  const size_t moved_bytes_, out_bytes_;  // of an element while it is moved, and in the output
  const bool widens_;
};

}  // namespace

uint64_t output_bytes(const Plan& plan) {
  return static_cast<uint64_t>(plan.dst_elements) * output_width(plan.npy_dtype);
}

Result<uint64_t> write_tensor(const PlannedTensor& source, const std::string& header, const std::string& path,
                              const RunContext& context) {
  MSDUMP_CHECK_OK(context.cancel.check());
  MSDUMP_TRY(AtomicFile out, AtomicFile::create(path));
  TensorWriter writer(source, context, out, header.size());
  const uint64_t body = output_bytes(source.plan);
  const uint64_t read = bytes_of(source.plan.dtype, source.plan.src_elements).value_or(body);
  const bool small = std::max(body, read) <= kWindowBytes;
  MSDUMP_CHECK_OK(small ? writer.write_whole(header) : writer.write_windows(header));
  MSDUMP_CHECK_OK(source.file.check_unchanged());
  MSDUMP_CHECK_OK(out.commit());
  return header.size() + body;
}

}  // namespace msdump

#include "convert/tensor_writer.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "format/window.h"
#include "kernels/widen/widen.h"

namespace msdump {
namespace {

// Pieces of 4 MiB go through ext4 up to twice as fast, in the huge folios that they get there, until memory is fragmented
// and they wait for compaction instead (822 MB on two cores: 0.2 to 1.5 s). Pieces of 1 MiB always take 0.3 to 0.4 s.
constexpr uint64_t kWindowBytes = uint64_t{1} << 20;
// When a small window would fall into tiny runs, a larger one costs fewer system calls than it costs cache misses.
constexpr uint64_t kLargeWindowBytes = uint64_t{8} << 20;
constexpr int64_t kPoorRunBytes = 8192;
// Reading this much between two runs is cheaper than a second system call.
constexpr int64_t kGapBytes = 4096;

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
  Scratch packed, source, moved, widened;
};
thread_local Scratches scratches;

// How the elements change on their way, in bytes.
struct Stages {
  explicit Stages(const Plan& plan)
      : dtype(plan.dtype),
        unpack(kernels::needs_unpacking(plan.dtype)),
        widen(kernels::needs_widening(plan.dtype)),
        bits(info(plan.dtype).bits == 0 ? 8 : info(plan.dtype).bits),
        moved_bytes(bits < 8 ? 1 : static_cast<size_t>(bits / 8)),
        out_bytes(static_cast<size_t>(info(plan.npy_dtype).bits == 0 ? 8 : info(plan.npy_dtype).bits) / 8) {}

  DType dtype;
  bool unpack, widen;
  int bits;            // of an element in the file
  size_t moved_bytes;  // of an element while it is moved
  size_t out_bytes;    // of an element in the output
};

class TensorWriter {
 public:
  TensorWriter(const TensorSource& source, const WriteContext& context, AtomicFile& out, uint64_t header_bytes)
      : source_(source), context_(context), out_(out), header_bytes_(header_bytes), stages_(source.plan) {}

  Status write_whole(const std::string& header) {
    const Plan& plan = source_.plan;
    const auto count = static_cast<size_t>(plan.dst_elements);
    std::byte* const out = scratches.widened.get(header.size() + count * stages_.out_bytes);
    std::memcpy(out, header.data(), header.size());
    std::byte* const body = out + header.size();
    if (count > 0) {
      if (plan.identity && !stages_.unpack && !stages_.widen) {
        MSDUMP_CHECK_OK(read_elements(0, plan.src_elements, body));
      } else {
        std::byte* const src = scratches.source.get(static_cast<size_t>(plan.src_elements) * stages_.moved_bytes);
        MSDUMP_CHECK_OK(read_elements(0, plan.src_elements, src));
        move_whole(src, body);
      }
    }
    progress(plan.src_elements);
    return out_.write_at(0, {out, header.size() + count * stages_.out_bytes});
  }

  Status write_windows(const std::string& header) {
    MSDUMP_CHECK_OK(out_.set_size(header.size() + output_bytes(source_.plan)));
    MSDUMP_CHECK_OK(out_.write_at(0, std::as_bytes(std::span(header.data(), header.size()))));
    for (const PlanPart& part : source_.plan.parts) MSDUMP_CHECK_OK(write_part(part));
    return {};
  }

 private:
  void move_whole(const std::byte* src, std::byte* body) {
    const Plan& plan = source_.plan;
    const std::byte* moved = src;
    if (!plan.identity) {
      std::byte* const into =
          stages_.widen ? scratches.moved.get(static_cast<size_t>(plan.dst_elements) * stages_.moved_bytes) : body;
      for (const PlanPart& part : plan.parts) run_part(part, src, into, stages_.moved_bytes);
      moved = into;
    }
    if (stages_.widen) {
      kernels::widen(stages_.dtype, moved, plan.dst_elements, body);
    } else if (moved != body) {
      std::memcpy(body, moved, static_cast<size_t>(plan.dst_elements) * stages_.out_bytes);
    }
  }

  // Elements [first, first + count) of the tensor, one byte each if they are narrower.
  Status read_elements(int64_t first, int64_t count, std::byte* into) {
    if (!stages_.unpack) {
      const uint64_t width = stages_.moved_bytes;
      return source_.file.read_at(source_.offset + static_cast<uint64_t>(first) * width,
                                  {into, static_cast<size_t>(count) * width});
    }
    const int64_t per_byte = 8 / stages_.bits;
    const int64_t begin = first / per_byte, end = (first + count + per_byte - 1) / per_byte;
    const auto bytes = static_cast<size_t>(end - begin);
    std::byte* const packed = scratches.packed.get(bytes);
    MSDUMP_CHECK_OK(source_.file.read_at(source_.offset + static_cast<uint64_t>(begin), {packed, bytes}));
    kernels::unpack(stages_.dtype, packed, first - begin * per_byte, count, into);
    return {};
  }

  [[nodiscard]] Tiling tiling_for(const PlanPart& part, int64_t gap) const {
    const auto elements = [&](uint64_t bytes) {
      return static_cast<int64_t>(bytes / std::max(stages_.moved_bytes, stages_.out_bytes));
    };
    Tiling tiling = choose_tiling(part, elements(kWindowBytes), gap);
    const Window window = make_window(part, tiling, 0, gap);
    const int64_t run_bytes = std::min(window.src.run, window.dst.run) * static_cast<int64_t>(stages_.moved_bytes);
    if (run_bytes < kPoorRunBytes) tiling = choose_tiling(part, elements(kLargeWindowBytes), gap);
    return tiling;
  }

  Status write_part(const PlanPart& part) {
    const int64_t gap = kGapBytes * 8 / stages_.bits;
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
    std::byte* const src = scratches.source.get(static_cast<size_t>(src_count) * stages_.moved_bytes);
    MSDUMP_CHECK_OK(read_region(window.src, src));
    const std::byte* moved = src;
    if (!source_.plan.identity) {
      std::byte* const into = scratches.moved.get(static_cast<size_t>(dst_count) * stages_.moved_bytes);
      run_window(part, window, src, into, stages_.moved_bytes);
      moved = into;
    }
    if (stages_.widen) {
      std::byte* const widened = scratches.widened.get(static_cast<size_t>(dst_count) * stages_.out_bytes);
      kernels::widen(stages_.dtype, moved, dst_count, widened);
      moved = widened;
    }
    progress(dst_count);
    return write_region(window.dst, moved);
  }

  Status read_region(const Region& region, std::byte* into) {
    Status status;
    for_each_run(region, [&](int64_t first) {
      status = read_elements(first, region.run, into);
      into += static_cast<size_t>(region.run) * stages_.moved_bytes;
      return status.has_value();
    });
    return status;
  }

  Status write_region(const Region& region, const std::byte* from) {
    Status status;
    const size_t run_bytes = static_cast<size_t>(region.run) * stages_.out_bytes;
    for_each_run(region, [&](int64_t first) {
      status = out_.write_at(header_bytes_ + static_cast<uint64_t>(first) * stages_.out_bytes, {from, run_bytes});
      from += run_bytes;
      return status.has_value();
    });
    return status;
  }

  void progress(int64_t elements) {
    if (context_.progress != nullptr)
      context_.progress->add_bytes(static_cast<uint64_t>(elements) * static_cast<uint64_t>(stages_.bits) / 8);
  }

  const TensorSource& source_;
  const WriteContext& context_;
  AtomicFile& out_;
  uint64_t header_bytes_;
  Stages stages_;
};

}  // namespace

uint64_t output_bytes(const Plan& plan) { return static_cast<uint64_t>(plan.dst_elements) * Stages(plan).out_bytes; }

Result<uint64_t> write_tensor(const TensorSource& source, const std::string& header, const std::string& path,
                              const WriteContext& context) {
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

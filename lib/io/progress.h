// ProgressSink: how long work reports its progress. All calls may come from any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace msdump {

class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  virtual void start(uint64_t units_total, uint64_t bytes_total) = 0;
  virtual void add_bytes(uint64_t bytes) = 0;         // bytes of input processed since the last call
  virtual void unit_done(std::string_view name) = 0;  // one file or tensor is finished
  virtual void stop() {}                              // the work that start() announced is over
};

}  // namespace msdump

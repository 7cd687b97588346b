// What long work needs: threads, a way to stop it, and where it reports its progress (may be null).
#pragma once

#include "io/cancel.h"
#include "io/progress.h"
#include "io/worker_pool.h"

namespace msdump {

struct RunContext {
  WorkerPool& pool;
  const CancelToken& cancel;
  ProgressSink* progress = nullptr;
};

}  // namespace msdump

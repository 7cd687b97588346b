// What long work needs: threads, a way to stop, and whom it tells how far it is.
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

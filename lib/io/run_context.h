// What long work needs: threads, a way to stop it, where it reports its progress, and what other processes find out for
// it (parts/fact_store.h). The last two may be null.
#pragma once

#include "io/cancel.h"
#include "io/progress.h"
#include "io/worker_pool.h"

namespace msdump {

class FactStore;

struct RunContext {
  WorkerPool& pool;
  const CancelToken& cancel;
  ProgressSink* progress = nullptr;
  FactStore* facts = nullptr;
};

}  // namespace msdump

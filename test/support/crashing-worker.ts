// The ledger's worker with a built-in fault: it crashes when told to from outside.

import { BroadcastChannel, parentPort, workerData } from 'node:worker_threads'
import { runLedgerWorker } from '../../src/ledger/ledger-worker.ts'
import type { WorkerStart } from '../../src/ledger/messages.ts'

export const crashChannel = 'tollgate-test-crash'

if (parentPort !== null) {
  new BroadcastChannel(crashChannel).onmessage = () => {
    throw new Error('a fault in the worker')
  }
  await runLedgerWorker(parentPort, workerData as WorkerStart)
}

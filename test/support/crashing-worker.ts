// The ledger's worker with a fault in it: dies when it is told so from outside.

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

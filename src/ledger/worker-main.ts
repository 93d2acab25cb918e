// Entry point of the ledger's worker thread.

import { parentPort, workerData } from 'node:worker_threads'
import { runLedgerWorker } from './ledger-worker.ts'
import type { WorkerStart } from './messages.ts'

if (parentPort === null) throw new Error('This file runs as a worker of the server.')
await runLedgerWorker(parentPort, workerData as WorkerStart)

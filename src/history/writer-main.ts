// Entry point of the thread that writes history.

import { parentPort, workerData } from 'node:worker_threads'
import { openHistory } from '../store/open.ts'
import type { ToWriter, WriterStart } from './messages.ts'
import { createWriter } from './writer.ts'

if (parentPort === null) throw new Error('This file runs as a worker of the server.')
const port = parentPort
const { store } = workerData as WriterStart
const writer = createWriter(openHistory(store))
let last: Promise<void> = Promise.resolve()
port.on('message', (message: ToWriter) => {
  last = last.then(async () => port.postMessage(await writer.take(message)))
})

// Sends usage records to the configured warehouses in a thread; without any, none of the code is loaded.

import { hostname } from 'node:os'
import { Worker as Thread } from 'node:worker_threads'
import type { Config } from '../config/types.ts'
import { moduleAt } from '../installation.ts'
import type { Log } from '../telemetry/log.ts'
import type { ExportStart, ExportWord } from './export-thread.ts'
import type { Offloading } from './offloading.ts'
import type { Worker } from './worker.ts'

const script = moduleAt(new URL('./export-thread.ts', import.meta.url))

interface ExporterParts {
  readonly config: () => Config
  /** Among several serving processes on one data directory, the first exports. */
  readonly worker: Worker | null
  readonly offloading: Offloading
  readonly log: Log
}

const firstMs = 1_000
/** How soon a changed configuration takes effect, and a thread that ended starts again. */
const everyMs = 5_000
/** Longest wait for the batch being sent: the next process sends it again. */
const leavingMs = 2_000

export function openExporter({ config, worker, offloading, log }: ExporterParts) {
  let thread: Thread | null = null
  let running = ''
  const timer = worker !== null && worker.slot > 0 ? null : setTimeout(look, firstMs)
  timer?.unref()
  let later: ReturnType<typeof setInterval> | null = null

  function look(): void {
    later ??= setInterval(look, everyMs).unref()
    const { usage, dataDir, databaseUrl } = config()
    const { export: settings } = usage
    const isOn = settings.clickhouse !== null || settings.s3 !== null
    const wanted = isOn ? JSON.stringify(settings) : ''
    if (wanted === running) return
    leave()
    running = wanted
    if (!isOn) return
    const holder = `${hostname()} ${dataDir}`
    begin({ settings, dataDir, databaseUrl, holder })
  }

  function begin(start: ExportStart): void {
    const made = new Thread(script, { workerData: start })
    thread = made
    made.unref()
    made.on('message', report)
    made.on('error', (error) =>
      log.error({ err: error }, 'the export to a warehouse ended unexpectedly; it starts again'),
    )
    made.on('exit', () => {
      if (thread !== made) return
      thread = null
      running = ''
    })
  }

  function report(word: ExportWord): void {
    if ('readings' in word) {
      offloading.exports = word.readings
      return
    }
    const { destination, event } = word
    if ('again' in event)
      log.warn({ destination }, 'what a warehouse had missed is not known any more: all is sent')
    else if (event.failure === null)
      log.info({ destination }, 'requests leave to the warehouse again')
    else
      log.warn(
        { destination, reason: event.failure },
        'requests do not leave to a warehouse, and stay; trying again',
      )
  }

  function leave(): void {
    const left = thread
    thread = null
    offloading.exports = []
    if (left === null) return
    left.postMessage('stop')
    setTimeout(() => void left.terminate(), leavingMs).unref()
  }

  return {
    close() {
      if (timer !== null) clearTimeout(timer)
      if (later !== null) clearInterval(later)
      leave()
    },
  }
}

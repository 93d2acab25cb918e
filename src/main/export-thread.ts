// The thread that sends usage records to warehouses, so that reading, compressing and waiting block no request.

import { parentPort, workerData } from 'node:worker_threads'
import { keepExporting, type WarehouseExportEvent } from '../admin/warehouse-export.ts'
import { openWarehouses } from '../blobs/warehouse.ts'
import type { ExportSettings } from '../config/types.ts'
import { openStore, type StoreSettings } from '../store/open.ts'
import { createDialer } from '../upstream/dial.ts'
import type { ExportReading } from './offloading.ts'

export interface ExportStart extends StoreSettings {
  readonly settings: ExportSettings
  readonly holder: string
}

export type ExportWord =
  | { readonly destination: string; readonly event: WarehouseExportEvent }
  | { readonly readings: readonly ExportReading[] }

const { settings, holder, ...kept } = workerData as ExportStart
const tell = (word: ExportWord) => parentPort?.postMessage(word)
const stop = new AbortController()
parentPort?.on('message', () => stop.abort())

const dayMs = 86_400_000
const store = await openStore(kept)
const dialer = createDialer()
const warehouses = openWarehouses(settings, dialer)
const names = new Set<string>(warehouses.map(({ name }) => name))

/** Read also where another process sends them. */
const reading = setInterval(() => {
  store.usageExport.list().then(
    (all) => {
      const own = all.filter(({ destination }) => names.has(destination))
      const readings = own.map(({ destination, rowsBehind, waitingSince }) => {
        return { destination, rowsBehind, waitingSince }
      })
      tell({ readings })
    },
    // The process that sends reports that the store is unavailable.
    () => undefined,
  )
}, 5_000)

try {
  const exports = warehouses.map((warehouse) =>
    keepExporting(
      {
        ...{ store, warehouse, holder, intervalMs: settings.intervalMs },
        holdMs: settings.holdDays * dayMs,
        tell: (event) => tell({ destination: warehouse.name, event }),
      },
      stop.signal,
    ),
  )
  await Promise.all(exports)
} finally {
  clearInterval(reading)
  dialer.close()
  await store.close()
  parentPort?.close()
}

// Settles the outboxes of workers that are no longer started, which stay behind when `workers` is lowered.

import { outboxSlots } from '../store/sqlite-outbox.ts'
import type { Log } from '../telemetry/log.ts'

/** A node of the ledger that only settles its outbox. */
export interface LeftNode {
  /** Resolves when the outbox is settled. */
  readonly opened: Promise<void>
  /** Gives the leases back and closes; resolves to the number of records that stay in the outbox. */
  drain(): Promise<number>
}

interface LeftOptions {
  readonly dataDir: string
  /** The number of slots in use, counted from 0. */
  readonly workers: number
  readonly open: (slot: number) => Promise<LeftNode>
  readonly log: Pick<Log, 'info' | 'error'>
}

/** Slots with an outbox in this directory that are beyond the number of workers, lowest first. */
export function leftSlots(dataDir: string, workers: number): number[] {
  return outboxSlots(dataDir).filter((slot) => slot >= workers)
}

/**
 * Opens and settles them one after another; to be called in one process of a server only. Never rejects: an outbox that
 * cannot be opened is logged and left as it is.
 */
export async function settleLeftOutboxes(options: LeftOptions): Promise<void> {
  const { dataDir, workers, open, log } = options
  for (const slot of leftSlots(dataDir, workers)) {
    try {
      const node = await open(slot)
      await node.opened
      const unsettled = await node.drain()
      if (unsettled === 0) log.info({ slot }, 'the outbox of a former worker is settled')
      else log.error({ slot, unsettled }, 'the outbox of a former worker still holds records')
    } catch (error) {
      log.error({ err: error, slot }, 'the outbox of a former worker cannot be settled')
    }
  }
}

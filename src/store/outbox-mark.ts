// How far an outbox was written, beside its files: what shows at the next start that its last records are lost.

import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { OutboxPlace } from './ledger.ts'

/** Always as long as this, so that a write replaces all there was. */
const length = 128

export interface OutboxMark {
  /** In the system's hands when it returns; not synced. */
  write(place: OutboxPlace): void
  close(): void
}

/** Where the last run was when it last said so; null where it never did, or a power cut took it. */
export function readMark(dataDir: string, slot: number): OutboxPlace | null {
  let text: string
  try {
    text = readFileSync(pathOf(dataDir, slot), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  const [, node = '', epoch, number] = /^(\S+) (\d{1,15}) (\d{1,15}) *\n$/.exec(text) ?? []
  return node === '' ? null : { node, epoch: Number(epoch), number: Number(number) }
}

export function openMark(dataDir: string, slot: number): OutboxMark {
  const file = openSync(pathOf(dataDir, slot), constants.O_RDWR | constants.O_CREAT, 0o600)
  return {
    write({ node, epoch, number }) {
      writeSync(file, `${`${node} ${epoch} ${number}`.padEnd(length - 1)}\n`, 0)
    },
    close: () => closeSync(file),
  }
}

function pathOf(dataDir: string, slot: number): string {
  return join(dataDir, `outbox-${slot}.mark`)
}

// A file beside the outbox that says how far it was written, so that the next start detects lost records.

import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { OutboxPlace } from './ledger.ts'

/** Every write has this length, so that it replaces the whole previous one. */
const length = 128

export interface OutboxMark {
  /** Written to the operating system on return, but not synced to disk. */
  write(place: OutboxPlace): void
  close(): void
}

/** The last run's latest mark; null if there is none, or a power cut destroyed it. */
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

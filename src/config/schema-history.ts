// Bounds of message history, which only the file can set.

import { choice, key, wholeNumber, yesOrNo } from './schema-parts.ts'

/** From the mode that keeps least to the one that keeps most. */
export const historyModes = ['off', 'metadata', 'sealed', 'full'] as const

const mebibyte = 1_048_576

export const historyBounds = {
  maxMode: key(
    choice(historyModes),
    'Upper limit of what accounts can have stored: off: nothing; metadata: no bodies; sealed: bodies that only the account can decrypt; full: readable bodies. A higher choice is reduced to it.',
    'full',
  ),
  maxDays: key(wholeNumber(1, 3_650), 'Most days that accounts can have messages stored.', 365),
  diskBudget: key(
    wholeNumber(mebibyte, 16_777_216 * mebibyte),
    'Most bytes that all stored messages may take; above it the oldest are removed.',
    10_240 * mebibyte,
  ),
  maxBodyBytes: key(
    wholeNumber(1_024, 64 * mebibyte),
    'Most bytes stored of one body; a longer one is cut and marked as truncated.',
    8 * mebibyte,
  ),
  queueBytes: key(
    wholeNumber(mebibyte, 4_096 * mebibyte),
    'Most bytes of messages that wait in memory to be written; while it is full, further messages are not stored.',
    64 * mebibyte,
  ),
  adminReads: key(
    yesOrNo,
    'Whether administrators and auditors may read stored bodies in mode full; requests as sent to vendors are then stored too. Each access is recorded.',
    false,
  ),
}

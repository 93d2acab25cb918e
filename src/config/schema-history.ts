// Bounds of message history, which only the file can set.

import { choice, key, wholeNumber, yesOrNo } from './schema-parts.ts'

/** From the mode that keeps least to the one that keeps most. */
export const historyModes = ['off', 'metadata', 'sealed', 'full'] as const

const mebibyte = 1_048_576

export const historyBounds = {
  maxMode: key(
    choice(historyModes),
    'The most that accounts may have kept: nothing, no bodies, bodies that only they can open, or bodies.',
    'full',
  ),
  maxDays: key(wholeNumber(1, 3_650), 'The longest that accounts may have it kept.', 365),
  diskBudget: key(
    wholeNumber(mebibyte, 16_777_216 * mebibyte),
    'Bytes that all of it may take; past them the oldest goes.',
    10_240 * mebibyte,
  ),
  maxBodyBytes: key(
    wholeNumber(1_024, 64 * mebibyte),
    'What is kept of one body; a longer one is cut there, and marked.',
    8 * mebibyte,
  ),
  queueBytes: key(
    wholeNumber(mebibyte, 4_096 * mebibyte),
    'Bytes that may wait in memory to be written; past them nothing more is kept until there is room.',
    64 * mebibyte,
  ),
  adminReads: key(
    yesOrNo,
    'Administrators may read full bodies, and what vendors were sent is kept for them. Each reading is noted.',
    false,
  ),
}

// The sections of the file on money: what is charged, and the ledger's timing.

import { choice, decimal, key, section, wholeNumber } from './schema-parts.ts'

const held = decimal(9, '5.00')

export const billing = section({
  clientLeaves: key(
    choice(['stop', 'drain']),
    "A client leaves: stop aborts the vendor's request and charges what was counted; drain reads it to its end and charges what the vendor reports.",
    'stop',
  ),
  vendorFails: key(
    choice(['delivered', 'free']),
    'A vendor fails after content: what was delivered is charged, or the request is free.',
    'delivered',
  ),
  emptyAnswers: key(
    choice(['free', 'charged']),
    'A reply without content, tool call or reasoning: charged as the vendor reports it, or free.',
    'charged',
  ),
  durability: key(
    choice(['normal', 'strict']),
    'normal: a power cut may lose the charges of the last moments, a crash none; strict: a reply ends only when the ledger has committed its charge.',
    'normal',
  ),
  maxHeldPerKey: key(held, 'Most that the running requests of one key may hold, in the currency.'),
  maxHeldPerAccount: key(
    held,
    'Most that the running requests of one account may hold, in the currency.',
  ),
  idempotencyHours: key(
    wholeNumber(1, 8_760),
    'How long the reply to an Idempotency-Key is kept.',
    24,
  ),
  idempotencyReplyBytes: key(
    wholeNumber(0, 8_388_608),
    'Longest reply that is kept for its Idempotency-Key; of a longer one only that it was made.',
    1_048_576,
  ),
})

const time = wholeNumber(10, 86_400_000)

export const ledger = section({
  leaseMs: key(time, 'A node that has not renewed for this long loses its leases.', 60_000),
  renewMs: key(time, 'A node renews its leases this often; below fenceMs.', 15_000),
  fenceMs: key(
    time,
    'A node that could not renew for this long admits nothing and ends its streams; below leaseMs.',
    40_000,
  ),
  settleMs: key(
    wholeNumber(1, 10_000),
    'Finished requests wait at most this long for the next settlement.',
    100,
  ),
  maxLagMs: key(
    time,
    'No request is admitted while a finished one has waited this long for its settlement.',
    5_000,
  ),
  maxUnsettled: key(
    wholeNumber(1, 10_000_000),
    'No request is admitted while so many finished ones wait for their settlement.',
    50_000,
  ),
})

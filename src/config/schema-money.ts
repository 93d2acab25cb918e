// The sections of the file on money: what is charged, and the ledger's timing.

import { choice, decimal, key, section, wholeNumber } from './schema-parts.ts'

const held = decimal(9, '5.00')

export const billing = section({
  clientLeaves: key(
    choice(['stop', 'drain']),
    "If the client disconnects: stop aborts the vendor's request and charges what was counted; drain reads it to its end (at most 30 s) and charges what the vendor reports.",
    'stop',
  ),
  vendorFails: key(
    choice(['delivered', 'free']),
    'If the vendor fails after content: delivered charges what was delivered, free charges nothing.',
    'delivered',
  ),
  emptyAnswers: key(
    choice(['free', 'charged']),
    'For a reply without content, tool call or reasoning: charged charges what the vendor reports, free charges nothing.',
    'charged',
  ),
  durability: key(
    choice(['normal', 'strict']),
    'normal: a power cut may lose the charges of the last 50 ms, a crash none; strict: a reply that is not streamed ends only when the ledger has committed its charge.',
    'normal',
  ),
  maxHeldPerKey: key(
    held,
    'Most credit that the running requests of one key may hold together, in the currency; further requests get 429. Left out: no limit.',
  ),
  maxHeldPerAccount: key(
    held,
    'Most credit that the running requests of one account may hold together, in the currency; further requests get 429. Left out: no limit.',
  ),
  idempotencyHours: key(
    wholeNumber(1, 8_760),
    'Hours that the reply to a request with an Idempotency-Key is stored for repeats.',
    24,
  ),
  idempotencyReplyBytes: key(
    wholeNumber(0, 8_388_608),
    'Largest reply in bytes that is stored for its Idempotency-Key; a repeat of a request with a larger one gets 409.',
    1_048_576,
  ),
})

const time = wholeNumber(10, 86_400_000)

export const ledger = section({
  leaseMs: key(time, 'Time without renewal after which a node loses its leases.', 60_000),
  renewMs: key(time, 'Interval at which a node renews its leases; must be below fenceMs.', 15_000),
  fenceMs: key(
    time,
    'Time without renewal after which a node admits no requests and ends its streams; must be below leaseMs.',
    40_000,
  ),
  settleMs: key(
    wholeNumber(1, 10_000),
    'Longest pause between two settlements of finished requests.',
    100,
  ),
  maxLagMs: key(
    time,
    'Wait of a finished request for settlement above which no request is admitted.',
    5_000,
  ),
  maxUnsettled: key(
    wholeNumber(1, 10_000_000),
    'Number of finished requests waiting for settlement above which no request is admitted.',
    50_000,
  ),
})

// Schemas of requests in replies. Members for operators are absent for other callers.

import { z } from '@hono/zod-openapi'
import { timeSchema } from '../parts.ts'

const nano = z
  .string()
  .regex(/^-?\d+$/)
  .openapi({ description: 'Billionths of the currency' })
const textOrNull = z.string().nullable()

export const request = z
  .object({
    requestId: z.string(),
    at: timeSchema,
    account: z.string(),
    key: z.string(),
    keyName: z.string(),
    group: z.string(),
    operation: z.string(),
    model: z.string(),
    modelServed: textOrNull,
    channel: textOrNull.optional(),
    vendor: textOrNull.optional(),
    attempts: z.int(),
    stream: z.boolean(),
    status: z.int(),
    tokens: z.record(z.string(), z.number()),
    units: z.record(z.string(), z.number()).readonly().nullable(),
    usageSource: z.enum(['reported', 'drained', 'counted', 'none']),
    cost: z.string(),
    formula: textOrNull,
    chargeNano: nano,
    writeoffNano: nano,
    vendorCostNano: nano.optional(),
    heldNano: nano,
    priceVersion: z.int().nullable(),
    multiplier: z.string(),
    failedAttempts: z.array(z.object({}).loose()).readonly().optional(),
    ttftMs: z.number().nullable(),
    durationMs: z.number(),
    errorCode: textOrNull,
    errorCause: textOrNull.optional(),
    client: textOrNull,
    clientVersion: textOrNull,
    vendorRequestId: textOrNull,
    clientAddress: z.string().optional(),
    clientRequestId: z.string().optional(),
    traceId: z.string().optional(),
  })
  .openapi('Request')

export const estimate = z
  .object({ requests: z.number(), bound: z.enum(['about', 'at_most']) })
  .openapi('RequestEstimate')

export const receipt = z
  .object({
    priceVersion: z.int(),
    pricedAs: z.string(),
    multiplier: z.string(),
    lines: z
      .array(z.object({ item: z.string(), count: z.string(), priceNano: nano, amountNano: nano }))
      .readonly(),
    roundingNano: nano,
    totalNano: nano,
    chargeNano: nano,
    writeoffNano: nano,
    heldNano: nano,
    releasedNano: nano,
    entry: textOrNull,
  })
  .openapi('Receipt')

export const blame = z
  .object({
    party: z.enum(['request', 'account', 'client', 'gateway', 'vendor']),
    message: z.string(),
    charged: z.boolean(),
    next: z.string(),
  })
  .openapi('Blame')

export const attempt = z
  .object({
    outcome: z.enum(['answered', 'failed']),
    startMs: z.number().optional(),
    connectMs: z.number().optional(),
    firstByteMs: z.number().optional(),
    durationMs: z.number().optional(),
    then: z.string().optional(),
    channel: textOrNull.optional(),
    kind: z.string().optional(),
    status: z.int().optional(),
    vendorRequestId: z.string().optional(),
    costNano: nano.optional(),
  })
  .openapi('Attempt')

export const running = z
  .object({
    requestId: z.string(),
    at: timeSchema,
    account: z.string(),
    key: z.string(),
    keyName: z.string(),
    group: z.string(),
    operation: z.string(),
    model: z.string(),
    stream: z.boolean(),
    channel: textOrNull.optional(),
    attempts: z.int(),
    ageMs: z.number(),
    ttftMs: z.number().nullable(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    costNano: nano,
    heldNano: nano,
  })
  .openapi('RunningRequest')

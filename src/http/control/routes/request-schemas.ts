// Schemas of requests in replies. Members for operators are absent for other callers.

import { z } from '@hono/zod-openapi'
import { timeSchema } from '../parts.ts'

const nano = z
  .string()
  .regex(/^-?\d+$/)
  .openapi({
    description:
      'Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer',
  })
const textOrNull = z.string().nullable()

export const request = z
  .object({
    requestId: z.string(),
    at: timeSchema,
    account: z.string(),
    key: z.string().openapi({ description: 'Id of the key' }),
    keyName: z.string(),
    group: z.string(),
    operation: z.string(),
    model: z.string().openapi({ description: 'Model name that the client asked for' }),
    modelServed: textOrNull.openapi({
      description: 'The vendor’s own name of the model that answered; null: none did',
    }),
    channel: textOrNull.optional().openapi({ description: 'Last channel; only for operators' }),
    vendor: textOrNull.optional().openapi({ description: 'Its vendor; only for operators' }),
    attempts: z.int().openapi({ description: 'Number of requests to channels; 0: refused before' }),
    stream: z.boolean(),
    status: z.int(),
    tokens: z.record(z.string(), z.number()).openapi({
      description: 'Number of tokens by kind; each token is in one kind only',
    }),
    units: z.record(z.string(), z.number()).readonly().nullable().openapi({
      description: 'Number of other priced units by name, such as images; null: none',
    }),
    usageSource: z.enum(['reported', 'drained', 'counted', 'none']).openapi({
      description:
        '`reported`: by the vendor. `drained`: by the vendor after the client had disconnected. `counted`: by the ' +
        'gateway. `none`: there is no usage',
    }),
    cost: z.string().openapi({ description: '`chargeNano` as a decimal of the currency' }),
    formula: textOrNull.openapi({
      description: 'How the cost was computed, with its numbers; null: the request was not priced',
    }),
    chargeNano: nano.openapi({ description: 'Amount that the account paid, in nano-units' }),
    writeoffNano: nano.openapi({
      description: 'Amount that the account could not pay and that was written off, in nano-units',
    }),
    vendorCostNano: nano.optional().openapi({
      description: 'Cost at the vendors, in nano-units; only for operators',
    }),
    heldNano: nano.openapi({ description: 'Largest amount that was held, in nano-units' }),
    priceVersion: z.int().nullable().openapi({
      description: 'Version of the price card; null: the request was not priced',
    }),
    multiplier: z.string().openapi({ description: 'Multiplier of the group for this model' }),
    failedAttempts: z.array(z.object({}).loose()).readonly().optional().openapi({
      description: 'Failed requests to channels, in order; only for operators',
    }),
    ttftMs: z.number().nullable().openapi({
      description: 'Time to the first token in ms; null: there was none',
    }),
    durationMs: z.number().openapi({ description: 'Duration in ms' }),
    errorCode: textOrNull.openapi({ description: 'Error code; null: the request succeeded' }),
    errorCause: textOrNull.optional().openapi({
      description: 'Details of the error; only for operators',
    }),
    client: textOrNull.openapi({ description: 'Name of the client program; null: not known' }),
    clientVersion: textOrNull,
    vendorRequestId: textOrNull.openapi({ description: 'Id that the vendor gave the request' }),
    clientAddress: z.string().optional(),
    tag: z
      .string()
      .optional()
      .openapi({ description: 'What the client labelled the request with (`x-tollgate-tag`)' }),
    clientRequestId: z.string().optional().openapi({
      description: 'Id that the client gave the request',
    }),
    traceId: z.string().optional().openapi({ description: 'Trace id of W3C Trace Context' }),
  })
  .openapi('Request')

export const estimate = z
  .object({
    requests: z.number(),
    bound: z.enum(['about', 'at_most']).openapi({
      description: '`at_most`: the filter has fields by which totals are not kept',
    }),
  })
  .openapi('RequestEstimate')

export const receipt = z
  .object({
    priceVersion: z.int(),
    pricedAs: z.string().openapi({
      description: 'Model name or pattern of the price card',
    }),
    multiplier: z.string(),
    lines: z
      .array(
        z.object({
          item: z.string().openapi({ description: 'Name of the price' }),
          count: z.string().openapi({ description: 'Number of units' }),
          priceNano: nano.openapi({ description: 'Price of a million units, in nano-units' }),
          amountNano: nano.openapi({
            description: 'Count, price and multiplier, multiplied and rounded down, in nano-units',
          }),
        }),
      )
      .readonly(),
    roundingNano: nano.openapi({
      description: '`totalNano` less the sum of the lines: the total is rounded up once',
    }),
    totalNano: nano.openapi({ description: '`chargeNano` and `writeoffNano` together' }),
    chargeNano: nano.openapi({ description: 'Amount that the account paid, in nano-units' }),
    writeoffNano: nano.openapi({ description: 'Amount that was written off, in nano-units' }),
    heldNano: nano.openapi({ description: 'Largest amount that was held, in nano-units' }),
    releasedNano: nano.openapi({
      description: '`heldNano` less `chargeNano`; negative: more was charged than held',
    }),
    entry: textOrNull.openapi({
      description: 'Id of the journal entry; null: nothing was charged',
    }),
  })
  .openapi('Receipt')

export const blame = z
  .object({
    party: z.enum(['request', 'account', 'client', 'gateway', 'vendor']).openapi({
      description:
        '`request`: what it asks. `account`: its balance, limits or owner. `client`: it disconnected before the end',
    }),
    message: z.string().openapi({ description: 'Explanation for people, in English' }),
    charged: z.boolean(),
    next: z.string().openapi({ description: 'What to do, in English' }),
  })
  .openapi('Blame')

export const attempt = z
  .object({
    outcome: z.enum(['answered', 'failed']),
    startMs: z.number().optional().openapi({
      description: 'Time in ms from the arrival of the request to this attempt',
    }),
    connectMs: z.number().optional(),
    firstByteMs: z.number().optional().openapi({
      description: 'Time in ms from the start of the attempt to the first byte of its reply',
    }),
    durationMs: z.number().optional(),
    then: z.string().optional().openapi({ description: 'What followed the failure' }),
    channel: textOrNull.optional(),
    kind: z.string().optional().openapi({ description: 'Kind of the fault' }),
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
    ageMs: z.number().openapi({ description: 'Time in ms since the request arrived' }),
    ttftMs: z.number().nullable().openapi({
      description: 'Time to the first token in ms; null: none yet',
    }),
    inputTokens: z.number(),
    outputTokens: z.number(),
    costNano: nano.openapi({ description: 'Cost so far, in nano-units' }),
    heldNano: nano.openapi({ description: 'Amount held, in nano-units' }),
  })
  .openapi('RunningRequest')

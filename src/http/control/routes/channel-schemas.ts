// Schemas of channels in replies: a channel with its state and figures, its test, its balance, and its vendor.

import { z } from '@hono/zod-openapi'
import { nanoSchema, timeSchema } from '../parts.ts'
import { documentSchema } from './stored-parts.ts'

const figures = z.object({
  requests: z.number().int(),
  successPercent: z.number().nullable().openapi({
    description: 'Percentage of the requests that succeeded; null: there were none',
  }),
  p95Ms: z.number().nullable().openapi({
    description: '95th percentile of the duration in ms; null: there were no requests',
  }),
  chargeNano: nanoSchema.openapi({ description: 'Charges to accounts, in nano-units' }),
  vendorCostNano: nanoSchema.openapi({ description: 'Cost at the vendor, in nano-units' }),
})

const reasons = ['breaker', 'rate_limited', 'quota', 'credentials', 'busy', 'failing'] as const

export const balance = z
  .object({
    at: timeSchema.openapi({ description: 'When the vendor was asked' }),
    amounts: z
      .array(
        z.object({
          amount: z
            .string()
            .openapi({ description: 'Remaining balance as a decimal in `currency`' }),
          currency: z
            .string()
            .nullable()
            .openapi({ description: 'Currency of `amount`; null: the vendor names none' }),
        }),
      )
      .readonly(),
  })
  .openapi('ChannelBalance')

const inUse = z.object({ used: z.number().int(), most: z.number().int() }).openapi('ChannelLimit', {
  description:
    'Use of a limit per minute, in all processes where Valkey shares limits, else in the process that answers; null: ' +
    'no limit',
})

export const channel = z
  .object({
    id: z.string(),
    vendor: z.string(),
    baseUrl: z.string().nullable().openapi({
      description: 'Address of the vendor; null: the vendor’s usual one',
    }),
    dialect: z.string().nullable().openapi({
      description: 'Format in which the vendor is asked; null: chosen by vendor and operation',
    }),
    models: z.record(z.string(), z.string()).readonly().nullable().openapi({
      description:
        'The vendor’s name of each model by its public name; null: all models of the vendor in the shipped catalogue',
    }),
    groups: z
      .array(z.string())
      .readonly()
      .nullable()
      .openapi({ description: 'Groups that it serves; null: every group' }),
    priority: z.number().int(),
    weight: z.number().openapi({
      description: 'Share of requests among channels of equal priority',
    }),
    origin: z.enum(['file', 'environment', 'built-in', 'stored']).openapi({
      description: 'Where the channel in force is defined',
    }),
    declaredIn: z.string().nullable().openapi({
      description: 'Path of the configuration file; null: `origin` is not `file`',
    }),
    state: z.enum(['ok', 'degraded', 'open', 'draining', 'disabled']).openapi({
      description: 'State in the process that answers; `open`: it gets no requests at present',
    }),
    document: documentSchema,
    keys: z
      .array(
        z.object({
          name: z.string(),
          hint: z
            .string()
            .openapi({ description: 'Last four characters of the key; empty for a short key' }),
          state: z.enum(['in use', 'cooling', 'refused', 'disabled']).openapi({
            description: '`cooling`: at its rate limit or quota. `refused`: the vendor rejected it',
          }),
          since: timeSchema.nullable().openapi({
            description: 'When the state began; null: it is in use or disabled',
          }),
        }),
      )
      .readonly(),
    tags: z.array(z.string()).readonly(),
    reason: z
      .enum(reasons)
      .nullable()
      .openapi({
        description:
          'Why the channel, or a model of it, gets no requests at present; `failing`: it gets requests, but failed ' +
          'recently; null: it works',
      }),
    since: timeSchema.nullable().openapi({ description: 'Since when `reason` applies' }),
    inFlight: z
      .number()
      .int()
      .openapi({ description: 'Number of running requests in the process that answers' }),
    requestsPerMinute: inUse.nullable(),
    tokensPerMinute: inUse.nullable(),
    overridden: z.boolean().openapi({
      description:
        'Whether the store has a channel of the same id too, which is not used since the configuration takes precedence',
    }),
    problem: z.string().nullable().openapi({
      description: 'Why the stored channel is not used; null: it is, or none is stored',
    }),
    revision: z.number().int().openapi({
      description: 'Revision of the stored channel, to be sent in If-Match; 0: none is stored',
    }),
    changedAt: timeSchema.nullable(),
    actor: z.string().nullable().openapi({ description: 'Who changed the stored channel last' }),
    lastTest: z
      .object({
        at: timeSchema,
        ok: z.boolean(),
        model: z.string().nullable(),
        durationMs: z.number(),
      })
      .nullable()
      .openapi({ description: 'Latest test of the last seven days; null: there was none' }),
    offersBalance: z.boolean().openapi({
      description: 'Whether the vendor reports the remaining balance of a channel’s key',
    }),
    balance: balance.nullable().openapi({
      description: 'Latest balance that was reported in the last seven days; null: none',
    }),
    currency: z.string(),
    hour: figures.openapi({ description: 'The last hour, in whole quarters of an hour' }),
    day: figures.openapi({ description: 'The last 24 hours, in whole quarters of an hour' }),
    quarters: z
      .array(
        z.object({
          since: timeSchema,
          requests: z.number().int(),
          successPercent: z.number().nullable(),
        }),
      )
      .readonly()
      .openapi({ description: 'The four quarters of an hour that `hour` sums up, oldest first' }),
  })
  .openapi('Channel')

const texts = z.record(z.string(), z.string()).readonly()

export const probe = z
  .object({
    ok: z.boolean(),
    model: z.string().nullable(),
    durationMs: z.number(),
    message: z.string().openapi({ description: 'Result for people, in English' }),
    exchange: z
      .object({
        request: z.object({
          method: z.string(),
          address: z.string(),
          headers: texts,
          body: z.string(),
        }),
        reply: z.object({ status: z.number().int(), headers: texts, body: z.string() }).nullable(),
      })
      .nullable()
      .openapi({
        description:
          'The request as it was sent and the reply, without secrets, with at most 16 KiB of each body; null: ' +
          'nothing was sent',
      }),
  })
  .openapi('ChannelTest')

export const vendorModels = z
  .object({
    channel: z.string(),
    vendor: z.string(),
    models: z
      .array(
        z.object({
          model: z.string().openapi({ description: 'The vendor’s own name of the model' }),
          name: z.string().nullable().openapi({
            description:
              'Public name by which clients get the model; null: the channel does not serve it',
          }),
          kind: z.string(),
          context: z.number().int().nullable().openapi({
            description: 'Context window in tokens; null: not known',
          }),
          problem: z.string().nullable().openapi({
            description: 'Why clients would not be served this model; null: they would',
          }),
        }),
      )
      .readonly(),
  })
  .openapi('VendorModels')

export const vendor = z
  .object({
    id: z.string(),
    baseUrl: z
      .string()
      .nullable()
      .openapi({ description: 'Usual address of the vendor; null: a channel must name one' }),
    needsKey: z.boolean().openapi({ description: 'Whether a channel needs a key' }),
    dialects: z
      .array(z.string())
      .readonly()
      .openapi({ description: 'Formats in which the vendor can be asked' }),
  })
  .openapi('Vendor')

export const imported = z
  .object({
    applied: z.boolean().openapi({
      description:
        'Whether the channels were stored; false for a preview, and where one is refused',
    }),
    channels: z
      .array(
        z.object({
          id: z.string(),
          action: z.enum(['create', 'update', 'refuse']),
          problem: z
            .string()
            .nullable()
            .openapi({ description: 'Why it is refused; null: it is not' }),
          before: documentSchema.nullable().openapi({
            description: 'Stored channel before the import; null: none is stored, or it is refused',
          }),
          after: documentSchema
            .nullable()
            .openapi({ description: 'Stored channel after the import; null: it is refused' }),
        }),
      )
      .readonly(),
  })
  .openapi('ChannelImport')

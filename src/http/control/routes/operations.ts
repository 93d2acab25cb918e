// The route of the operators' overview page.

import { z } from '@hono/zod-openapi'
import { readOperations } from '../../../admin/operations.ts'
import { inputs } from '../../../admin/schema.ts'
import { operatorEvents } from '../../../config/schema-webhooks.ts'
import { nanoSchema, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const count = z.number().int()
const range = { since: timeSchema, until: timeSchema }

const phase = z
  .object({
    requests: count.openapi({ description: 'How many were measured' }),
    p50Ms: z.number().nullable(),
    p95Ms: z.number().nullable(),
    p99Ms: z.number().nullable(),
  })
  .openapi('Overhead')

const money = z
  .object({
    ...range,
    revenueNano: nanoSchema,
    writeoffNano: nanoSchema.openapi({ description: 'What no wallet could pay' }),
    vendorCostNano: nanoSchema.openapi({
      description: "All attempts at the models' own prices, without the group's multiplier",
    }),
    marginNano: nanoSchema.openapi({ description: 'Revenue less the cost at the vendors' }),
  })
  .openapi('OperationsMoney')

const requests = z.object({
  running: count.openapi({ description: 'Of the processes that are known' }),
  perSecond: z.number().openapi({ description: 'Of the last whole minute' }),
  minutes: z
    .array(z.object({ at: timeSchema, requests: count }))
    .readonly()
    .openapi({ description: 'The last 60 whole minutes, by when requests began; settled ones' }),
  lastHour: z
    .object({
      ...range,
      requests: count,
      failed: count,
      successRate: z.number().nullable().openapi({ description: 'null: there was no request' }),
    })
    .openapi({ description: 'Of whole quarters of an hour, at least an hour of them' }),
})

const operations = z
  .object({
    at: timeSchema,
    timeZone: z.string(),
    currency: z.string(),
    processes: z.object({
      known: count.openapi({
        description: 'That said how they do: this one, and those that took requests lately',
      }),
      complete: z.boolean().openapi({
        description: 'false: the first look, which no other process has heard of; ask again',
      }),
      startedAt: timeSchema.openapi({ description: 'Of the one that runs longest' }),
    }),
    requests,
    overhead: z.object({ auth: phase, route: phase, settle: phase }).openapi({
      description: 'Time of our own that requests took, by phase, since each process started',
    }),
    settlement: z.object({
      unsettled: count.openapi({ description: 'Finished requests that are not in the ledger yet' }),
      oldestUnsettledMs: z.number(),
      setAside: count.openapi({ description: 'At most 1000' }),
      closed: z.array(z.string()).readonly().openapi({
        description: 'Why processes let no request begin; empty: they do',
      }),
    }),
    errors: z.object({
      since: timeSchema.openapi({
        description: 'Of the last hour, or of its last 50 000 requests',
      }),
      items: z
        .array(
          z.object({
            code: z.string(),
            requests: count,
            lastAt: timeSchema,
            requestId: z.string().openapi({ description: 'One of the newest' }),
          }),
        )
        .readonly(),
    }),
    channels: z
      .array(
        z
          .object({
            id: z.string(),
            vendor: z.string(),
            state: z.enum(['ok', 'degraded', 'open', 'disabled']),
            reason: z.string().nullable().openapi({
              description:
                'breaker, rate_limited, quota, credentials, failing or configuration; null: it is well',
            }),
            fault: z
              .string()
              .nullable()
              .openapi({ description: "The kind of the last attempt's fault" }),
            since: timeSchema.nullable(),
          })
          .openapi('ChannelHealth'),
      )
      .readonly(),
    money: z.object({
      today: money,
      days7: money,
      days30: money,
      creditedTodayNano: nanoSchema.openapi({ description: 'Given to all wallets today' }),
    }),
    alerts: z
      .array(
        z
          .object({
            code: z.enum(operatorEvents),
            severity: z.enum(['critical', 'warning']),
            subject: z
              .string()
              .nullable()
              .openapi({ description: 'A channel, a model, a destination, or a bill' }),
            message: z.string(),
            count: z.int().nullable().openapi({
              description:
                'What the message counts: seconds, settlements, records, places, or refused requests',
            }),
            cause: z.string().nullable().openapi({
              description: 'What the code does not say of it, in the words of who said it',
            }),
            since: timeSchema.nullable(),
          })
          .openapi('OperationsAlert'),
      )
      .readonly(),
  })
  .openapi('Operations')

export const operationsRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/operations',
    id: 'readOperations',
    tag: 'Operators',
    summary: 'How the deployment does now, what it earns, and what needs somebody',
    access: 'auditor',
    query: inputs.readOperations,
    reply: operations,
    async run({ admin, query, services: { running } }) {
      return { body: await readOperations(admin, await running.offer(), running.reading(), query) }
    },
  }),
]

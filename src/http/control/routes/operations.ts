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
    requests: count.openapi({ description: 'Number of requests that were measured' }),
    p50Ms: z.number().nullable().openapi({ description: 'Median in ms; null: none was measured' }),
    p95Ms: z.number().nullable().openapi({ description: '95th percentile in ms' }),
    p99Ms: z.number().nullable().openapi({ description: '99th percentile in ms' }),
  })
  .openapi('Overhead')

const money = z
  .object({
    ...range,
    revenueNano: nanoSchema.openapi({ description: 'Charges to all accounts, in nano-units' }),
    writeoffNano: nanoSchema.openapi({
      description: 'Usage that wallets could not pay for and that was written off, in nano-units',
    }),
    vendorCostNano: nanoSchema.openapi({
      description:
        'Cost of all attempts at the models’ prices without the groups’ multipliers, in nano-units',
    }),
    marginNano: nanoSchema.openapi({ description: '`revenueNano` less `vendorCostNano`' }),
  })
  .openapi('OperationsMoney')

const requests = z.object({
  running: count.openapi({ description: 'Requests that run now, in all known processes' }),
  perSecond: z.number().openapi({ description: 'Requests per second in the last whole minute' }),
  minutes: z
    .array(z.object({ at: timeSchema, requests: count }))
    .readonly()
    .openapi({
      description:
        'Settled requests of the last 60 whole minutes, by the minute in which they began',
    }),
  lastHour: z
    .object({
      ...range,
      requests: count,
      failed: count,
      successRate: z.number().nullable().openapi({
        description: 'Share of the requests that succeeded, from 0 to 1; null: there were none',
      }),
    })
    .openapi({ description: 'Requests of the last whole hour and the current quarter of an hour' }),
})

const operations = z
  .object({
    at: timeSchema,
    timeZone: z.string(),
    currency: z.string(),
    processes: z.object({
      known: count.openapi({
        description:
          'Number of processes in these figures: the one that answers, and others that served requests in the last ' +
          'seconds',
      }),
      complete: z.boolean().openapi({
        description:
          'Whether other processes could report; false on the first request after a while, since processes report ' +
          'only while somebody reads this: request it again',
      }),
      startedAt: timeSchema.openapi({
        description: 'When the process that runs longest was started',
      }),
    }),
    requests,
    overhead: z.object({ auth: phase, route: phase, settle: phase }).openapi({
      description:
        'Time that requests spent in the gateway itself, by phase, since each process started',
    }),
    settlement: z.object({
      unsettled: count.openapi({
        description: 'Number of finished requests that are not in the ledger yet',
      }),
      oldestUnsettledMs: z.number().openapi({ description: 'Age of the oldest of these, in ms' }),
      setAside: count.openapi({
        description: 'Number of settlements that failed and were set aside, counted up to 1,000',
      }),
      closed: z.array(z.string()).readonly().openapi({
        description:
          'Reasons for which processes admit no requests, one for each such process; empty: all admit requests',
      }),
    }),
    errors: z.object({
      since: timeSchema.openapi({
        description:
          'Begin of the period: an hour ago, or later where the latest 50,000 requests are more recent',
      }),
      items: z
        .array(
          z.object({
            code: z.string(),
            requests: count,
            lastAt: timeSchema,
            requestId: z
              .string()
              .openapi({ description: 'Id of one of the newest of these requests' }),
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
            state: z.enum(['ok', 'degraded', 'open', 'draining', 'disabled']),
            reason: z
              .string()
              .nullable()
              .openapi({
                description:
                  'Why it gets no requests or fails: breaker, rate_limited, quota, credentials, failing or ' +
                  'configuration; null: it works',
              }),
            fault: z
              .string()
              .nullable()
              .openapi({ description: 'Kind of the last attempt’s fault; null: none' }),
            since: timeSchema.nullable(),
          })
          .openapi('ChannelHealth'),
      )
      .readonly(),
    money: z.object({
      today: money,
      days7: money,
      days30: money,
      creditedTodayNano: nanoSchema.openapi({
        description: 'Deposits to all wallets today in `timeZone`, in nano-units',
      }),
    }),
    alerts: z
      .array(
        z
          .object({
            code: z.enum(operatorEvents),
            severity: z.enum(['critical', 'warning']),
            subject: z.string().nullable().openapi({
              description:
                'Channel, model, export destination or bill that the alert is about; null: the deployment',
            }),
            message: z.string(),
            count: z.int().nullable().openapi({
              description:
                'Number in the message: seconds, settlements, records, places or refused requests; null: none',
            }),
            cause: z.string().nullable().openapi({
              description:
                'Details in the words of their source, such as a database’s error; null: `code` says all',
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
    summary: 'Get the state of the deployment: load, errors, channels, money and alerts',
    access: 'auditor',
    query: inputs.readOperations,
    reply: operations,
    async run({ admin, query, services: { running } }) {
      return { body: await readOperations(admin, await running.offer(), running.reading(), query) }
    },
  }),
]

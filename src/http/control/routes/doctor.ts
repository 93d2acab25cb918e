// Routes of the setup doctor: the latest requests of clients and what is wrong with them.

import { z } from '@hono/zod-openapi'
import { followArrivals, listArrivals } from '../../../admin/doctor.ts'
import { inputs } from '../../../admin/schema.ts'
import { pageOf, timeSchema, wholeNumber } from '../parts.ts'
import { type ControlRequest, type ControlRoute, route } from '../route.ts'
import { followStatuses, streamEvents } from '../streams.ts'

const codes = [
  'ok',
  'failed_later',
  'key_missing',
  'key_unknown',
  'key_misplaced',
  'key_padded',
  'key_damaged',
  'key_is_management',
  'key_disabled',
  'key_expired',
  'account_closed',
  'address_not_allowed',
  'path_doubled',
  'path_unknown',
  'version_missing',
  'method_not_allowed',
  'websocket_not_served',
  'endpoint_not_offered',
  'model_unknown',
  'model_not_allowed',
  'wrong_format',
  'request_invalid',
  'no_credit',
  'rate_limited',
  'refused',
] as const

const arrival = z
  .object({
    requestId: z.string(),
    at: timeSchema,
    outcome: z
      .enum(['ok', 'mistake'])
      .openapi({ description: '`ok`: it reached a vendor or was answered, whatever the result' }),
    code: z.string().openapi({
      description: 'What is wrong with it, or `ok`; others may come',
      examples: [...codes],
    }),
    status: z.number().int(),
    method: z.string().nullable().openapi({ description: 'null if it reached a vendor' }),
    path: z.string().nullable().openapi({ description: 'null if it reached a vendor' }),
    model: z.string().nullable(),
    userAgent: z.string().nullable(),
    keyId: z.string().nullable(),
    address: z.string().nullable(),
    by: z.enum(['key', 'address']).nullable().openapi({
      description:
        'How the request is attributed to the caller: by its key, or only by its address. null: an operator views all',
    }),
    suggestion: z.string().nullable().openapi({
      description: 'What was probably meant: a path or a model',
    }),
    detail: z.string().openapi({ description: 'For people, in English' }),
  })
  .openapi('Arrival')

type Caller = Pick<ControlRequest<object, object, object>, 'scope' | 'address' | 'principal'>

/** A request without a known key may be the person's own where it comes from the same address. */
function lookingOf({ scope, address, principal }: Caller, account: string | undefined) {
  const isPerson = principal?.kind === 'session'
  return { account: scope.account(account), address: isPerson ? address : null }
}

const about =
  'Requests that were refused before any vendor was asked, with what is wrong with each, and those that reached a vendor. ' +
  'Kept in memory, the last 30 of an account, and never with a secret or a body.'

export const doctorRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/doctor',
    id: 'listArrivals',
    tag: 'Doctor',
    summary: 'Recent requests of my clients, and what is wrong with them, newest first',
    description: `${about} Of the last 15 minutes unless \`since\` says otherwise.`,
    access: 'user',
    query: inputs.listArrivals.extend({
      limit: wholeNumber(1, 200).default(50).openapi({ default: 50 }),
    }),
    reply: pageOf(arrival),
    run: async (asked) => {
      const looking = lookingOf(asked, asked.query.account)
      const input = { ...asked.query, ...looking }
      return { body: await listArrivals(asked.admin, input, asked.services.running.arrivals) }
    },
  }),
  route({
    method: 'get',
    path: '/api/doctor/live',
    id: 'followArrivals',
    tag: 'Doctor',
    summary: 'The same as it comes, as server-sent events',
    description: '`event: arrival` with each, once. From now on.',
    access: 'user',
    query: inputs.listArrivals.pick({ account: true }),
    produces: ['text/event-stream'],
    statuses: followStatuses,
    run: async (asked) => {
      const looking = lookingOf(asked, asked.query.account)
      return streamEvents(asked, async () => {
        const next = await followArrivals(asked.admin, looking, asked.services.running.arrivals)
        return async () => {
          const events = (await next()).map(
            (each) => `event: arrival\ndata: ${JSON.stringify(each)}\n\n`,
          )
          return { text: events.join(''), more: false }
        }
      })
    },
  }),
]

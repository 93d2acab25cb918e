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
    outcome: z.enum(['ok', 'mistake']).openapi({
      description:
        '`ok`: the request reached a vendor or succeeded, whatever its result. `mistake`: it was refused before any ' +
        'vendor was asked',
    }),
    code: z.string().openapi({
      description: 'What is wrong with the request, or `ok`; further codes may be added',
      examples: [...codes],
    }),
    status: z.number().int().openapi({ description: 'HTTP status of the reply' }),
    method: z.string().nullable().openapi({
      description: 'HTTP method of the request; null where `outcome` is `ok`',
    }),
    path: z.string().nullable().openapi({
      description: 'Path of the request; null where `outcome` is `ok`',
    }),
    model: z.string().nullable(),
    userAgent: z.string().nullable(),
    keyId: z.string().nullable(),
    address: z.string().nullable(),
    by: z
      .enum(['key', 'address'])
      .nullable()
      .openapi({
        description:
          'Why the request is taken for the caller’s: its key is of the account, or it has no known key and comes from ' +
          'the caller’s address. null: the list is of all accounts',
      }),
    suggestion: z.string().nullable().openapi({
      description: 'Path or model that the client probably meant; null: none is known',
    }),
    detail: z.string().openapi({ description: 'Explanation for people, in English' }),
  })
  .openapi('Arrival')

type Caller = Pick<ControlRequest<object, object, object>, 'scope' | 'address' | 'principal'>

/** A request without a known key may be the person's own where it comes from the same address. */
function lookingOf({ scope, address, principal }: Caller, account: string | undefined) {
  const isPerson = principal?.kind === 'session'
  return { account: scope.account(account), address: isPerson ? address : null }
}

const about =
  'For setting up a client: requests that were refused before any vendor was asked, with the mistake in each, and ' +
  'requests that reached a vendor. Refused requests are kept in memory, without secrets and bodies, the latest 30 of ' +
  'each account.'

export const doctorRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/doctor',
    id: 'listArrivals',
    tag: 'Doctor',
    summary: 'List recent requests and their mistakes, newest first',
    description: `${about} Covers the last 15 minutes unless \`since\` is given.`,
    access: 'user',
    query: inputs.listArrivals.extend({
      limit: wholeNumber(1, 200)
        .default(50)
        .openapi({ default: 50, description: 'Most items in the list' }),
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
    summary: 'Stream arriving requests and their mistakes as server-sent events',
    description:
      'Sends `event: arrival` once for each request that `GET /api/doctor` would list, from now on.',
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

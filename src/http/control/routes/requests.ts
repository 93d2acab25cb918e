// Routes for finished requests and the ledger.

import { z } from '@hono/zod-openapi'
import { readBalance } from '../../../admin/accounts.ts'
import { listEntries } from '../../../admin/entries.ts'
import { readBonus } from '../../../admin/orders.ts'
import { listRunning, stopRequest } from '../../../admin/running.ts'
import { inputs } from '../../../admin/schema.ts'
import {
  listOwnUsage,
  listUsage,
  showOwnRequest,
  showRequest,
  withUsualRange,
} from '../../../admin/usage.ts'
import { estimateUsage } from '../../../admin/usage-estimate.ts'
import { exportRequests } from '../../../admin/usage-export.ts'
import { pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { followedEvents, followStatuses, textStream } from '../streams.ts'
import { attempt, blame, estimate, receipt, request, running } from './request-schemas.ts'

const tag = 'Requests'
/** Cursors and Last-Event-ID values are valid at the address that gave them only. */
const lists: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/requests',
    id: 'listRequests',
    tag,
    summary: 'List finished requests, newest first',
    description:
      'Covers the last 24 hours, or the 24 hours before `until`, unless `since` or `id` is given. Where few requests ' +
      'match, a page may have fewer items than `limit`, or none, although more pages follow: read on until `next` is ' +
      'null.',
    access: 'user',
    query: inputs.listUsage.extend(pageQuery),
    reply: pageOf(request).extend({
      estimate: estimate.nullable().openapi({
        description: 'Estimated number of requests in the whole list; null: not the first page',
      }),
    }),
    async run({ admin, query, scope }) {
      const asked = withUsualRange(query, admin.nowMs)
      const { owner } = scope
      const page =
        owner === undefined
          ? await listUsage(admin, asked)
          : await listOwnUsage(admin, { ...asked, owner })
      const isFirst = query.cursor === undefined
      const about = isFirst ? await estimateUsage(admin, { ...asked, owner }) : null
      return { body: { ...page, estimate: about } }
    },
  }),
  route({
    method: 'get',
    path: '/api/requests/live',
    id: 'followRequests',
    tag,
    summary: 'Stream finished requests as server-sent events',
    description:
      'Sends `event: request` once for each matching request, in the order of settlement, from now on, or after the ' +
      'event in `Last-Event-ID`. `event: missed` tells that some requests were left out: that event is too old, or more ' +
      'than `most` requests ended within half a second, of which only the newest `most` are sent.',
    access: 'user',
    query: inputs.followRequests,
    produces: ['text/event-stream'],
    statuses: followStatuses,
    run: async (asked) => followedEvents(asked, { ...asked.query, owner: asked.scope.owner }),
  }),
  route({
    method: 'get',
    path: '/api/requests/running',
    id: 'listRunning',
    tag,
    summary: 'List running requests with their cost so far, oldest first',
    description:
      'As each process reported within the last second. Realtime sessions are not listed.',
    access: 'user',
    query: inputs.listRunning,
    reply: pageOf(running),
    run: async ({ admin, query, scope }) => ({
      body: await listRunning(admin, { account: scope.account(query.account), owner: scope.owner }),
    }),
  }),
  route({
    method: 'post',
    path: '/api/requests/{id}/stop',
    id: 'stopRequest',
    tag,
    summary: 'Stop a running request',
    description:
      'Closes the connection to the vendor, sends the error `request_stopped` to the client, and charges what was ' +
      'delivered. Refused with 409 if the request has ended.',
    access: 'user',
    params: inputs.stopRequest,
    reply: z.object({ requestId: z.string(), stopped: z.literal(true) }),
    async run({ admin, params, scope }) {
      return { body: await stopRequest(admin, { ...params, owner: scope.owner }) }
    },
  }),
  route({
    method: 'get',
    path: '/api/requests/export',
    id: 'exportRequests',
    tag,
    summary: 'Export finished requests as CSV or JSON lines',
    description:
      'Takes the filters and the usual period of `GET /api/requests`; `format=json` gives one JSON object on each line.',
    access: 'user',
    query: inputs.exportRequests,
    produces: ['text/csv', 'application/x-ndjson'],
    async run({ admin, query, scope }) {
      const asked = { ...withUsualRange(query, admin.nowMs), owner: scope.owner }
      const isCsv = query.format === 'csv'
      return textStream(exportRequests(admin, asked), {
        'content-type': isCsv ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson',
        'content-disposition': `attachment; filename="requests.${isCsv ? 'csv' : 'ndjson'}"`,
      })
    },
  }),
  route({
    method: 'get',
    path: '/api/requests/{id}',
    id: 'showRequest',
    tag,
    summary: 'Get a finished request with its receipt, its attempts and the party at fault',
    access: 'user',
    params: inputs.showRequest,
    reply: request.extend({
      currency: z.string(),
      receipt: receipt.nullable().openapi({ description: 'null: the request was not priced' }),
      blame: blame.nullable().openapi({ description: 'null: the request succeeded' }),
      attemptList: z.array(attempt).readonly(),
    }),
    async run({ admin, params, scope }) {
      const { owner } = scope
      const body =
        owner === undefined
          ? await showRequest(admin, params)
          : await showOwnRequest(admin, { ...params, owner })
      return { body }
    },
  }),
]

const nano = z
  .string()
  .regex(/^-?\d+$/)
  .openapi({
    description:
      'Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer',
  })

const money: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/balance',
    id: 'readBalance',
    tag: 'Balance',
    summary: 'Get the balance of an account',
    access: 'user',
    query: z.strictObject({ account: inputs.listEntries.shape.account }),
    reply: z
      .object({
        account: z.string(),
        currency: z.string(),
        availableNano: nano.openapi({
          description: 'Nano-units that new requests may spend: `postedNano` less `heldNano`',
        }),
        heldNano: nano.openapi({ description: 'Nano-units that are held for running requests' }),
        postedNano: nano.openapi({
          description: 'Balance of the wallet in the journal, in nano-units, holds included',
        }),
        bonusNano: nano.openapi({
          description: 'Part of the balance that is unspent bonus, in nano-units',
        }),
      })
      .openapi('Balance'),
    async run({ admin, query, scope, services }) {
      const account = scope.oneAccount(query.account)
      return {
        body: {
          ...(await readBalance(admin, { account })),
          bonusNano: await readBonus(admin, services.config().payments, account),
        },
      }
    },
  }),
  route({
    method: 'get',
    path: '/api/ledger',
    id: 'listEntries',
    tag: 'Balance',
    summary: 'List the journal entries of an account’s wallet, newest first',
    access: 'user',
    query: inputs.listEntries.extend(pageQuery),
    reply: pageOf(
      z
        .object({
          id: z.string(),
          code: z.string(),
          at: timeSchema,
          currency: z.string(),
          effectNano: nano.openapi({
            description: 'Effect on the wallet in nano-units; negative: taken from it',
          }),
          balanceNano: nano.openapi({
            description: 'Balance after the entry, in nano-units',
          }),
          actor: z.string().nullable().openapi({ description: 'Who made the entry; null: nobody' }),
          reason: z.string().nullable(),
          requestId: z.string().nullable().openapi({
            description: 'Request that the entry charges; null: another entry',
          }),
        })
        .openapi('LedgerEntry'),
    ),
    async run({ admin, query, scope }) {
      const account = scope.oneAccount(query.account)
      return { body: await listEntries(admin, { ...query, account, owner: scope.owner }) }
    },
  }),
]

export const requestRoutes: readonly ControlRoute[] = [...lists, ...money]

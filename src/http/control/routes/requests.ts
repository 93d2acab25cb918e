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
    summary: 'Requests that have ended, newest first',
    description:
      'Of the last 24 hours unless `since` or `until` says otherwise. Where few requests fit, a page may hold fewer ' +
      'than `limit`, even none, while `next` says where to go on.',
    access: 'user',
    query: inputs.listUsage.extend(pageQuery),
    reply: pageOf(request).extend({ estimate: estimate.nullable() }),
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
    summary: 'Requests as they end, as server-sent events',
    description:
      'Each that fits once, in the order of settlement: `event: request` with its row. `Last-Event-ID` goes on behind ' +
      'that event; `event: missed` says that some in between are forgotten. ' +
      'With `most`, of more that end within half a second only so many of the newest are read, and `missed` says so.',
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
    summary: 'Requests that still run, oldest first, with what they cost until now',
    description:
      'As each process said within the last second. Realtime sessions are not among them.',
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
      'Its vendor is let go, its client gets the error `request_stopped`, and what was delivered is charged.',
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
    summary: 'The same as a file, CSV or JSON lines',
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
    summary: 'One request with its receipt, its attempts, and whose fault a failure was',
    access: 'user',
    params: inputs.showRequest,
    reply: request.extend({
      currency: z.string(),
      receipt: receipt.nullable(),
      blame: blame.nullable(),
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

const nano = z.string().regex(/^-?\d+$/)

const money: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/balance',
    id: 'readBalance',
    tag: 'Balance',
    summary: 'What an account has, and what running requests hold of it',
    access: 'user',
    query: z.strictObject({ account: inputs.listEntries.shape.account }),
    reply: z
      .object({
        account: z.string(),
        currency: z.string(),
        availableNano: nano,
        heldNano: nano,
        postedNano: nano,
        bonusNano: nano,
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
    summary: 'Every entry of a wallet, newest first, with the balance after it',
    access: 'user',
    query: inputs.listEntries.extend(pageQuery),
    reply: pageOf(
      z
        .object({
          id: z.string(),
          code: z.string(),
          at: timeSchema,
          currency: z.string(),
          effectNano: nano,
          balanceNano: nano,
          actor: z.string().nullable(),
          reason: z.string().nullable(),
          requestId: z.string().nullable(),
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

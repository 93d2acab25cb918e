// Routes for operator events.

import { z } from '@hono/zod-openapi'
import { exportEvents, listEvents, showEvent } from '../../../admin/events.ts'
import { inputs } from '../../../admin/schema.ts'
import { pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { textStream } from '../streams.ts'

const event = z
  .object({
    id: z.string(),
    at: timeSchema,
    actor: z.string().openapi({
      description: 'Who made the change: `account ID` or `management key ID`',
    }),
    role: z.enum(['user', 'admin', 'auditor']),
    action: z.string().openapi({ description: 'Operation id of the change, or `viewAs`' }),
    target: z.record(z.string(), z.string()).readonly(),
    detail: z.record(z.string(), z.unknown()).readonly(),
    address: z.string().nullable(),
    changes: z
      .record(z.string(), z.object({ before: z.unknown(), after: z.unknown() }))
      .readonly()
      .nullable()
      .openapi({
        description:
          'Values before and after the change, by field; null: nothing changed, or the difference is not known',
      }),
  })
  .openapi('OperatorEvent')

export const eventRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/events',
    id: 'listEvents',
    tag: 'Operators',
    summary: 'List operator events, newest first',
    description:
      'An event is a change by an admin, by a management key that is bound to no account or by the command line, an ' +
      'operator’s viewing as another account (`viewAs`), a sign-in by a one-time link, or the deletion of an account ' +
      'by its owner. `text` searches in all fields of an event.',
    access: 'auditor',
    query: inputs.listEvents.extend(pageQuery),
    reply: pageOf(event),
    run: async ({ admin, query }) => ({ body: await listEvents(admin, query) }),
  }),
  route({
    method: 'get',
    path: '/api/events/export',
    id: 'exportEvents',
    tag: 'Operators',
    summary: 'Export operator events as CSV or JSON lines',
    description:
      'Takes the filters of `GET /api/events`; `format=json` gives one JSON object on each line.',
    access: 'auditor',
    query: inputs.exportEvents,
    produces: ['text/csv', 'application/x-ndjson'],
    async run({ admin, query }) {
      const isCsv = query.format === 'csv'
      return textStream(exportEvents(admin, query), {
        'content-type': isCsv ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson',
        'content-disposition': `attachment; filename="events.${isCsv ? 'csv' : 'ndjson'}"`,
      })
    },
  }),
  route({
    method: 'get',
    path: '/api/events/{id}',
    id: 'showEvent',
    tag: 'Operators',
    summary: 'Get an operator event',
    access: 'auditor',
    params: z.strictObject({ id: z.string() }),
    reply: event,
    run: async ({ admin, params }) => ({ body: await showEvent(admin, params) }),
  }),
]

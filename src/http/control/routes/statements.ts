// Routes for monthly statements: as JSON, as CSV, and as a page to print.

import { z } from '@hono/zod-openapi'
import { printedPolicy } from '../../../admin/printed-page.ts'
import { inputs } from '../../../admin/schema.ts'
import { statementCsv, statementPage } from '../../../admin/statement-text.ts'
import { listStatements, readStatement } from '../../../admin/statements.ts'
import { escapeHtml } from '../../html.ts'
import { nanoSchema, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { shownBuyer } from './preferences.ts'

const statement = z
  .object({
    account: z.string(),
    name: z.string(),
    buyer: shownBuyer,
    month: z.string(),
    timeZone: z.string(),
    since: timeSchema,
    until: timeSchema,
    open: z
      .boolean()
      .openapi({ description: 'Whether the month is not over; its statement then ends now' }),
    asOf: timeSchema.openapi({ description: 'When this statement was made' }),
    currency: z.string(),
    openingNano: nanoSchema.openapi({ description: 'Balance at `since`, in nano-units' }),
    closingNano: nanoSchema.openapi({ description: 'Balance at `until`, in nano-units' }),
    entriesNano: nanoSchema.openapi({ description: 'Sum of `entries`, in nano-units' }),
    chargesNano: nanoSchema.openapi({
      description:
        'Sum of `charges`, in nano-units: `openingNano` plus `entriesNano` less `chargesNano` is `closingNano`',
    }),
    entries: z
      .array(
        z.object({
          id: z.string(),
          code: z.string(),
          at: timeSchema,
          effectNano: nanoSchema.openapi({
            description: 'Effect on the wallet in nano-units; negative: taken from it',
          }),
          reason: z.string().nullable(),
        }),
      )
      .readonly()
      .openapi({ description: 'Journal entries other than charges for requests, oldest first' }),
    charges: z
      .array(
        z.object({
          key: z.string(),
          keyName: z
            .string()
            .nullable()
            .openapi({ description: 'Name of the key; null: the key is deleted' }),
          model: z.string(),
          requests: z
            .number()
            .int()
            .openapi({ description: 'Number of requests, free ones included' }),
          chargeNano: nanoSchema,
        }),
      )
      .readonly(),
  })
  .openapi('Statement')

const tag = 'Balance'
const account = inputs.readStatement.shape.account.optional()
const { timeZone, month } = inputs.readStatement.shape

export const statementRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/statements',
    id: 'listStatements',
    tag,
    summary: 'List the months for which there are statements, newest first',
    access: 'user',
    query: z.strictObject({ account, timeZone, ...pageQuery }),
    reply: pageOf(z.object({ month: z.string(), open: z.boolean() }).openapi('StatementMonth')),
    async run({ admin, query, scope }) {
      const owner = scope.oneAccount(query.account)
      return { body: await listStatements(admin, { ...query, account: owner }) }
    },
  }),
  route({
    method: 'get',
    path: '/api/statements/{month}',
    id: 'readStatement',
    tag,
    summary:
      'Get the statement of a month: balances, journal entries, and charges by key and model',
    description:
      'As JSON, as CSV, or with `format=html` as a page for browsers to print or save as PDF, in `language`. A month ' +
      'begins at midnight in `timeZone`, UTC unless given.',
    access: 'user',
    params: z.strictObject({ month }),
    query: z.strictObject({
      account,
      timeZone,
      format: z
        .enum(['json', 'csv', 'html'], 'expected json, csv or html')
        .default('json')
        .openapi({ description: 'Format of the reply' }),
      language: z
        .enum(['en', 'zh-CN'], 'expected en or zh-CN')
        .default('en')
        .openapi({ description: 'Language of the page' }),
    }),
    reply: statement,
    produces: ['text/csv', 'text/html'],
    async run({ admin, params, query, scope }) {
      const { format, language, ...asked } = query
      const owner = scope.oneAccount(asked.account)
      const body = await readStatement(admin, { ...asked, ...params, account: owner })
      if (format === 'json') return { body }
      const name = `statement-${body.month}`
      if (format === 'csv') {
        return new Response(statementCsv(body), {
          headers: {
            'content-type': 'text/csv; charset=utf-8; header=present',
            'content-disposition': `attachment; filename="${name}.csv"`,
          },
        })
      }
      return new Response(statementPage(body, language, escapeHtml), {
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-disposition': `inline; filename="${name}.html"`,
          'content-security-policy': printedPolicy,
        },
      })
    },
  }),
]

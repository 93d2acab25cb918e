// Routes for an account's automatic top-up.

import { z } from '@hono/zod-openapi'
import { readAutoTopUp, removeAutoTopUp, setAutoTopUp } from '../../../admin/auto-top-up.ts'
import { inputs } from '../../../admin/schema.ts'
import { nanoSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const path = '/api/billing/auto-top-up'

const autoTopUp = z
  .object({
    account: z.string(),
    provider: z.string().nullable().openapi({ description: 'null: none of this deployment can' }),
    agreeMethod: z
      .string()
      .nullable()
      .openapi({ description: 'An order that is paid by it agrees to payments without you' }),
    isAgreed: z.boolean(),
    currency: z.string(),
    providerCurrency: z.string().nullable().openapi({ description: 'Of the amounts' }),
    state: z
      .enum(['off', 'on', 'stopped'])
      .openapi({ description: 'stopped: a payment was refused; turn it on again' }),
    problem: z.string().nullable(),
    thresholdNano: nanoSchema.nullable(),
    amount: z.string().nullable(),
    monthMost: z.string().nullable().openapi({ description: 'In a calendar month, in UTC' }),
    monthSpent: z.string(),
    revision: z.number().int().openapi({ description: '0: never set' }),
  })
  .openapi('AutoTopUp')

const common = { tag: 'Orders', path, access: 'user' } as const
const query = z.strictObject({ account: inputs.listOrders.shape.account })

export const autoTopUpRoutes: readonly ControlRoute[] = [
  route({
    ...common,
    method: 'get',
    id: 'readAutoTopUp',
    summary: 'The automatic top-up of an account',
    query,
    reply: autoTopUp,
    async run({ admin, services, scope, query: { account } }) {
      const whose = { account: scope.oneAccount(account) }
      const body = await readAutoTopUp(admin, await services.orders.desk(), whose)
      return { body, etag: body.revision }
    },
  }),
  route({
    ...common,
    method: 'put',
    id: 'setAutoTopUp',
    audited: true,
    summary: 'Top up whenever less than `thresholdNano` is left; also turns it on again',
    description:
      'Needs an agreement: an order of the account that was paid by `agreeMethod`. At most `monthMost` in a calendar month. ' +
      'A payment that its bank refuses turns it off, and is told of.',
    query,
    body: inputs.setAutoTopUp,
    reply: autoTopUp,
    async run({ admin, services, scope, query: { account }, body: rule, ifMatch }) {
      const given = { ...rule, account: scope.oneAccount(account), revision: ifMatch }
      const body = await setAutoTopUp(admin, await services.orders.desk(), given)
      return { body, etag: body.revision }
    },
  }),
  route({
    ...common,
    method: 'delete',
    id: 'removeAutoTopUp',
    audited: true,
    summary: 'Turn automatic top-up off',
    query,
    async run({ admin, scope, query: { account } }) {
      await removeAutoTopUp(admin, { account: scope.oneAccount(account) })
      return undefined
    },
  }),
]

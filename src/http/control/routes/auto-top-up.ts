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
    provider: z.string().nullable().openapi({
      description:
        'Payment provider that makes the payments; null: none of this deployment supports it',
    }),
    agreeMethod: z.string().nullable().openapi({
      description:
        'Payment method by which the payer agrees to automatic payments when paying an order; null: none',
    }),
    isAgreed: z.boolean().openapi({
      description: 'Whether an order of this account was paid by `agreeMethod`',
    }),
    currency: z.string().openapi({ description: 'Currency of `thresholdNano`' }),
    providerCurrency: z.string().nullable().openapi({
      description: 'Currency of `amount`, `monthMost` and `monthSpent`; null: no provider',
    }),
    state: z.enum(['off', 'on', 'stopped']).openapi({
      description:
        '`off`: no rule is set. `stopped`: a payment was refused, and nothing is paid until the rule is set again',
    }),
    problem: z.string().nullable().openapi({ description: 'Why it is stopped; null: it is not' }),
    thresholdNano: nanoSchema.nullable().openapi({
      description: 'Balance in nano-units below which a payment is made; null: no rule is set',
    }),
    amount: z
      .string()
      .nullable()
      .openapi({ description: 'Amount of one payment, such as `20.00`' }),
    monthMost: z
      .string()
      .nullable()
      .openapi({ description: 'Most that is paid in one calendar month in UTC, such as `100.00`' }),
    monthSpent: z.string().openapi({
      description: 'Amount that was ordered automatically in this calendar month in UTC',
    }),
    revision: z
      .number()
      .int()
      .openapi({ description: 'Revision of the rule, to be sent in If-Match; 0: no rule is set' }),
  })
  .openapi('AutoTopUp')

const common = { tag: 'Orders', path, access: 'user' } as const
const query = z.strictObject({ account: inputs.listOrders.shape.account })

export const autoTopUpRoutes: readonly ControlRoute[] = [
  route({
    ...common,
    method: 'get',
    id: 'readAutoTopUp',
    summary: 'Get the automatic top-up of an account',
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
    summary: 'Set the automatic top-up of an account',
    description:
      'Whenever the balance is below `thresholdNano`, pays `amount` with the payment method of an earlier order, and ' +
      'not more than `monthMost` in a calendar month in UTC. Refused with 409 until an order of the account was paid by ' +
      '`agreeMethod`. A payment that is refused stops the top-up and sends a notice; setting the rule starts it again.',
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
    summary: 'Turn off the automatic top-up of an account',
    query,
    async run({ admin, scope, query: { account } }) {
      await removeAutoTopUp(admin, { account: scope.oneAccount(account) })
      return undefined
    },
  }),
]

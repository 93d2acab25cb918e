// The address to which WeChat sends a customer's browser back to say who it is, before its order can be shown.

import { z } from '@hono/zod-openapi'
import { continueOrder } from '../../../admin/orders.ts'
import { AdminError } from '../../../admin/use-case.ts'
import { type ControlRoute, route } from '../route.ts'

const name = z.string().min(1).max(256)

export const paymentReturnRoutes: readonly ControlRoute[] = [
  route({
    tag: 'Orders',
    access: 'user',
    method: 'get',
    path: '/api/payments/wechatpay/openid',
    id: 'continueOrder',
    summary: 'Continue an order in WeChat’s browser: the address to which WeChat redirects',
    query: z.object({
      code: name.openapi({ description: 'Code that WeChat gives the customer’s browser' }),
      state: name.openapi({
        description: 'Value from the address that led to WeChat; names the order',
      }),
    }),
    produces: ['text/html'],
    async run({ admin, services, scope, principal, query, request, address }) {
      const given = {
        owner: scope.owner,
        origin: new URL(request.url).origin,
        clientAddress: address,
        browser: principal?.kind === 'session' ? principal.sessionId : null,
        returned: { code: query.code, state: query.state },
      }
      const id = await continueOrder(admin, await services.orders.desk(), given).catch(
        (error: unknown) => {
          // The code was used before, such as when the customer goes back in the browser: the order's page shows how to
          // go on.
          if (error instanceof AdminError && error.refusal === 'conflict')
            return orderOf(query.state)
          throw error
        },
      )
      const location = `/console/billing/top-up?order=${encodeURIComponent(id)}`
      return new Response(null, { status: 302, headers: { location } })
    },
  }),
]

function orderOf(state: string): string {
  return state.split('.')[0] ?? ''
}

// Routes below /api/auth: sign-in through an identity provider or by a one-time link, and sign-out.

import { z } from '@hono/zod-openapi'
import { type ControlRequest, type ControlRoute, route } from '../route.ts'

type Request = Pick<
  ControlRequest<object, object, object>,
  'services' | 'request' | 'address' | 'requestId'
>

const handle = ({ services, request, address, requestId }: Request) =>
  services.sessions.handler(request, address, requestId)

const statuses = {
  429: 'Too many attempts from this network; try again after `retry-after` seconds',
}
const provider = z.object({ provider: z.string() })
const returnTo = z
  .string()
  .optional()
  .openapi({ description: 'Path to redirect to after sign-in; `/` unless given' })

/** Answers with a redirect (`location`) and no body. */
const leading = {
  method: 'get',
  tag: 'Sign-in',
  access: 'public',
  status: 303,
  produces: [],
} as const

export const signInRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    tag: 'Sign-in',
    access: 'public',
    path: '/api/auth/providers',
    id: 'listProviders',
    summary: 'List the identity providers, and who may sign up',
    reply: z.object({
      providers: z.array(z.object({ id: z.string(), name: z.string() })),
      signUp: z.enum(['open', 'invite', 'closed']).openapi({
        description: 'Who may sign up: everybody, those with an invitation, or nobody',
      }),
    }),
    run: handle,
  }),
  route({
    ...leading,
    path: '/api/auth/sign-in/{provider}',
    id: 'signIn',
    summary: 'Redirect to an identity provider to sign in',
    params: provider,
    query: z.object({
      'return-to': returnTo,
      invitation: z
        .string()
        .optional()
        .openapi({ description: 'Code of the invitation to sign up with' }),
    }),
    statuses,
    run: handle,
  }),
  route({
    ...leading,
    path: '/api/auth/callback/{provider}',
    id: 'finishSignIn',
    summary: 'Complete a sign-in: the address to which the identity provider redirects',
    params: provider,
    query: z.looseObject({
      code: z.string().optional().openapi({ description: 'Code from the identity provider' }),
      state: z.string().optional().openapi({
        description: 'Value from the address that led to the identity provider',
      }),
    }),
    statuses: { ...statuses, 409: 'The identity belongs to another account' },
    run: handle,
  }),
  route({
    ...leading,
    path: '/api/auth/link',
    id: 'signInByLink',
    summary: 'Sign in with a one-time link',
    description:
      'The link is made on the command line of the server. It signs in once, and makes its account an admin.',
    query: z.object({
      token: z.string().optional().openapi({ description: 'Token of the link' }),
    }),
    statuses,
    run: handle,
  }),
  route({
    method: 'post',
    tag: 'Sign-in',
    path: '/api/auth/link/{provider}',
    id: 'linkProvider',
    summary: 'Begin to link an identity at another provider to my account',
    description:
      'Answers with the address at the provider to open in the browser. Refused with 403 unless the session began ' +
      'within the last 15 minutes.',
    access: 'session',
    params: provider,
    query: z.object({ 'return-to': returnTo }),
    reply: z.object({ url: z.string() }),
    statuses: { 429: statuses[429] },
    run: handle,
  }),
  route({
    method: 'post',
    tag: 'Sign-in',
    path: '/api/auth/sign-out',
    id: 'signOut',
    summary: 'End the session',
    access: 'public',
    run: handle,
  }),
]

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
  .openapi({ description: 'Where to go on: a path; / unless given' })

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
    summary: 'Who vouches for people here, and who may join',
    reply: z.object({
      providers: z.array(z.object({ id: z.string(), name: z.string() })),
      signUp: z.enum(['open', 'invite', 'closed']),
    }),
    run: handle,
  }),
  route({
    ...leading,
    path: '/api/auth/sign-in/{provider}',
    id: 'signIn',
    summary: 'Go to a provider to sign in',
    params: provider,
    query: z.object({
      'return-to': returnTo,
      invitation: z.string().optional().openapi({ description: 'The code of an invitation' }),
    }),
    statuses,
    run: handle,
  }),
  route({
    ...leading,
    path: '/api/auth/callback/{provider}',
    id: 'finishSignIn',
    summary: 'Come back from a provider',
    params: provider,
    query: z.looseObject({ code: z.string().optional(), state: z.string().optional() }),
    statuses: { ...statuses, 409: 'The identity belongs to another account' },
    run: handle,
  }),
  route({
    ...leading,
    path: '/api/auth/link',
    id: 'signInByLink',
    summary: 'Sign in by a one-time link',
    query: z.object({ token: z.string().optional() }),
    statuses,
    run: handle,
  }),
  route({
    method: 'post',
    tag: 'Sign-in',
    path: '/api/auth/link/{provider}',
    id: 'linkProvider',
    summary: 'Add an identity at another provider to the account that is signed in',
    description: 'Answers with where to go. Asks for a sign-in of the last 15 minutes.',
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

// What a route of the control API says of itself: its address, who may use it, what it takes and gives.

import type { z } from '@hono/zod-openapi'
import type { AdminContext } from '../../admin/use-case.ts'
import type { ControlPrincipal } from '../../identity/principal.ts'
import type { Access, Scope } from './access.ts'
import type { ControlServices } from './services.ts'

type Shape = z.ZodType<object>
type OutputOf<Schema> = Schema extends z.ZodType<infer Output> ? Output : undefined

export interface ControlRequest<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The body as it came; '' where there is none, or the method has none. */
  readonly text: string
  /** null only where access is public and nobody is signed in. */
  readonly principal: ControlPrincipal | null
  readonly scope: Scope
  readonly admin: AdminContext
  readonly services: ControlServices
  readonly request: Request
  /** The caller's address, as the trusted proxies say. */
  readonly address: string | null
  readonly requestId: string
  /** The revision the caller read (If-Match); undefined where it does not say. */
  readonly ifMatch: number | undefined
  /** What is noted among what operators did, in place of the body: without secrets. */
  noted(detail: object): void
}

interface Answer<Body> {
  readonly body: Body
  /** The revision of what is shown: becomes the ETag. */
  readonly etag?: number
  readonly headers?: Readonly<Record<string, string>>
}

interface Definition<P, Q, B, R> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** As OpenAPI writes it: `/api/keys/{id}`. */
  readonly path: string
  /** The operation's id: `updateKey`. */
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly access: Access
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** A JSON body may be left out. */
  readonly bodyOptional?: true
  /** Of the JSON it answers with; left out where it answers with nothing, or with something else. */
  readonly reply?: R
  /** 200 unless said, or 204 where there is no reply and nothing else is produced. */
  readonly status?: 200 | 201 | 202 | 204 | 303
  /** What it answers with in place of JSON, or beside `reply` where it is asked for, as a Response. */
  readonly produces?: readonly string[]
  /** Other statuses it may answer with, and when. */
  readonly statuses?: Readonly<Record<number, string>>
  /** Of the largest body; 1 MiB unless said. */
  readonly maxBodyBytes?: number
  /** A POST that changes nothing: whoever may read may use it. */
  readonly reads?: true
  /** It shows what only the person may read, such as messages: not to whoever looks as that person. */
  readonly personal?: true
  /** It is noted among what operators did though it changes nothing. */
  readonly audited?: true
}

/** As the core runs it: its schemas have judged what it is given. */
export interface ControlRoute extends Definition<Shape, Shape, Shape, z.ZodType> {
  run(
    asked: ControlRequest<object, object, object>,
  ): Promise<Answer<unknown> | Response | undefined>
}

/** Checks the types of one route against each other. */
export function route<
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  R extends z.ZodType | undefined = undefined,
>(
  definition: Definition<P, Q, B, R> & {
    run(
      asked: ControlRequest<OutputOf<P>, OutputOf<Q>, OutputOf<B>>,
    ): Promise<
      (R extends z.ZodType ? Answer<z.input<R>> : Response | undefined) | Response | undefined
    >
  },
): ControlRoute {
  return definition as unknown as ControlRoute
}

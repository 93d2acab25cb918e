// The definition of a control API route: its path, who may use it, its parameters, body and reply.

import type { z } from '@hono/zod-openapi'
import type { AdminContext } from '../../admin/use-case.ts'
import type { ControlPrincipal } from '../../identity/principal.ts'
import type { EventChanges } from '../../store/control.ts'
import type { Access, Scope } from './access.ts'
import type { ControlServices } from './services.ts'

type Shape = z.ZodType<object>
type OutputOf<Schema> = Schema extends z.ZodType<infer Output> ? Output : undefined

export interface ControlRequest<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The body's text as received; '' where there is none, or the method has none. */
  readonly text: string
  /** null only on public routes, for a caller who is not authenticated. */
  readonly principal: ControlPrincipal | null
  readonly scope: Scope
  readonly admin: AdminContext
  readonly services: ControlServices
  readonly request: Request
  /** The caller's address, found behind trusted proxies. */
  readonly address: string | null
  readonly requestId: string
  /** The revision that the caller read (If-Match); undefined where the request has none. */
  readonly ifMatch: number | undefined
  /**
   * Sets the detail of the operator event in place of the body, and its changes in place of those that are seen at the
   * path; they must contain no secrets.
   */
  noted(detail: object, changes?: EventChanges | null): void
}

interface Answer<Body> {
  readonly body: Body
  /** The revision of the item shown, sent as the ETag. */
  readonly etag?: number
  readonly headers?: Readonly<Record<string, string>>
}

interface Definition<P, Q, B, R> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** In OpenAPI's notation: `/api/keys/{id}`. */
  readonly path: string
  /** The OpenAPI operation id: `updateKey`. */
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly access: Access
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** The JSON body may be left out. */
  readonly bodyOptional?: true
  /** The schema of the JSON reply; left out where the reply is empty or not JSON. */
  readonly reply?: R
  /** 200 unless set, or 204 where the route has no `reply` and `produces` nothing. */
  readonly status?: 200 | 201 | 202 | 204 | 303
  /** Media types of replies other than JSON, which `run` returns as a Response. */
  readonly produces?: readonly string[]
  /** Media types of a body without a schema, whose text `run` reads. */
  readonly consumes?: readonly string[]
  /** Media types, beside that of problems, of the 400 that `run` itself may answer with. */
  readonly refuses?: readonly string[]
  /** Other statuses the route may answer with, each with its description. */
  readonly statuses?: Readonly<Record<number, string>>
  /** Largest body; 1 MiB unless set. */
  readonly maxBodyBytes?: number
  /** A POST that changes nothing: callers who may only read may use it. */
  readonly reads?: true
  /** Shows personal data such as messages: refused to an operator who views as that person. */
  readonly personal?: true
  /** Recorded as an operator event although it changes nothing, or for whoever makes the change. */
  readonly audited?: true
  /** Answers with the secret of a key, or changes what a key that manages may do. */
  readonly showsSecret?: true
  /** The field of the body that names what is changed, for the operator event; left out: the path or the reply does. */
  readonly targetField?: string
}

/** A route as the core runs it, with inputs that its schemas have checked. */
export interface ControlRoute extends Definition<Shape, Shape, Shape, z.ZodType> {
  run(
    asked: ControlRequest<object, object, object>,
  ): Promise<Answer<unknown> | Response | undefined>
}

/** Checks that the types within a route's definition agree. */
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

// The types of oidc-provider that the tests use, since it ships none.

declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  export interface Context {
    readonly path: string
    readonly req: IncomingMessage
    readonly res: ServerResponse
  }

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  interface Configuration {
    readonly clients: readonly object[]
    readonly jwks: object
    readonly claims: Readonly<Record<string, readonly string[]>>
    readonly cookies: object
    readonly features: object
    readonly ttl: Readonly<Record<string, number>>
    readonly pkce: { required(): boolean }
    findAccount(
      context: Context,
      id: string,
    ): { readonly accountId: string; claims(): Readonly<Record<string, unknown>> }
    readonly interactions: {
      url(context: Context, interaction: { readonly uid: string }): string
    }
  }

  export default class Provider {
    constructor(issuer: string, configuration: Configuration)
    readonly Grant: new (about: {
      accountId: string
      clientId: string
    }) => Grant
    callback(): RequestListener
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
    ): Promise<void>
  }
}

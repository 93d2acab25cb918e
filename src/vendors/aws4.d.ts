// Types for the used part of aws4, which ships none.

declare module 'aws4' {
  export interface Request {
    readonly service: string
    readonly region: string
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: Uint8Array
    /** Headers that are sent but not signed. */
    readonly extraHeadersToIgnore: Readonly<Record<string, true>>
  }
  export interface Credentials {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken?: string
  }
  /** Returns the request with the signing headers added. */
  export function sign(
    request: Request,
    credentials: Credentials,
  ): { readonly headers: Readonly<Record<string, string | number>> }
}

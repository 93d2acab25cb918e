// What is used of aws4, which comes without types.

declare module 'aws4' {
  export interface Request {
    readonly service: string
    readonly region: string
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: Uint8Array
    /** Sent and not signed. */
    readonly extraHeadersToIgnore: Readonly<Record<string, true>>
  }
  export interface Credentials {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken?: string
  }
  /** The request again, its headers with those that sign it. */
  export function sign(
    request: Request,
    credentials: Credentials,
  ): { readonly headers: Readonly<Record<string, string | number>> }
}

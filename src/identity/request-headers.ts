// The header fields of a request as authentication reads them: the runtime's `Headers`, or the gateway's own class.

export interface RequestHeaders {
  /** Size of the whole head, if known. */
  readonly headBytes?: number
  /** By lower-case name; repeated fields are joined by a comma. null if there is none. */
  get(name: string): string | null
  has(name: string): boolean
  values(): Iterable<string>
  [Symbol.iterator](): Iterator<[name: string, value: string]>
}

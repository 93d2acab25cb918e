// The header fields of a request, as those who judge it read them: the runtime's `Headers`, or the gateway's own.

export interface RequestHeaders {
  /** Of the whole head, where that is known. */
  readonly headBytes?: number
  /** By lower-case name; repeated fields are joined by a comma. null: there is none. */
  get(name: string): string | null
  has(name: string): boolean
  values(): Iterable<string>
  [Symbol.iterator](): Iterator<[name: string, value: string]>
}
